/**
 * The config of a device or a server once the private key was made in this browser. Where the config can't be read, the key alone is shown: it is
 * nowhere else, and the config can be read later.
 */
import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconFileText, IconQrcode, IconShieldLock } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyLine } from '../../parts/copy.tsx';
import { DownloadButton } from '../../parts/download.tsx';
import { FailureAlert, Loaded } from '../../parts/loaded.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { withKey, withoutRemarks } from './wireguard.ts';

interface FinishedConfigProps extends Omit<OneTimeConfigProps, 'config'> {
  /** The config as the server renders it. */
  readonly query: UseQueryResult<string>;
  readonly privateKey: string;
}

export function FinishedConfig({ query, privateKey, ...shown }: FinishedConfigProps) {
  if (query.data === undefined && hasFailed(query))
    return (
      <KeyAlone privateKey={privateKey} onClose={shown.onClose}>
        {query.isError && <FailureAlert error={query.error} again={query.refetch} />}
      </KeyAlone>
    );
  return (
    <Loaded query={query}>
      {(rendered) => {
        const config = withKey(rendered, privateKey);
        return config === undefined ? (
          <KeyAlone privateKey={privateKey} onClose={shown.onClose} />
        ) : (
          <OneTimeConfig {...shown} config={config} />
        );
      }}
    </Loaded>
  );
}

/** Once: the key stays in sight while it is tried again. */
function hasFailed({ errorUpdateCount, failureCount }: UseQueryResult): boolean {
  return errorUpdateCount > 0 || failureCount > 0;
}

interface KeyAloneProps {
  readonly privateKey: string;
  readonly onClose: () => void;
  /** Why there is no more. */
  readonly children?: ReactNode;
}

function KeyAlone({ privateKey, onClose, children }: KeyAloneProps) {
  return (
    <Stack>
      {children}
      <Alert color="yellow" variant="light" icon={<IconShieldLock size={18} />}>
        This is the private key, created in this browser. Copy it now. You won&apos;t see it again.
      </Alert>
      <CopyLine value={privateKey} what="the private key" />
      <Text size="sm">
        You can read the config later, on the page of the network. The key replaces{' '}
        <span className="culvert-mono">REPLACE_WITH_PRIVATE_KEY</span>.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

/**
 * A WireGuard config with the private key that was made in this browser: as text, as a file and, for devices, as a QR code. It is in the memory of
 * this dialog alone and can't be shown again.
 */
interface OneTimeConfigProps {
  /** With the private key in its place. */
  readonly config: string;
  readonly fileName: string;
  /** For a camera too: an app of a phone reads it. */
  readonly qr?: boolean;
  /** What to do with it on the machine. */
  readonly command: string;
  /** What else is to be done. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

function OneTimeConfig({ config, fileName, qr = false, command, children, onClose }: OneTimeConfigProps) {
  const asFile = <AsFile config={config} fileName={fileName} command={command} />;
  return (
    <Stack>
      <Alert color="yellow" variant="light" icon={<IconShieldLock size={18} />}>
        The private key in it was created in this browser and has never left it. Copy it now. You won&apos;t see it
        again.
      </Alert>
      {qr ? (
        <Tabs defaultValue="qr">
          <Tabs.List>
            <Tabs.Tab value="qr" leftSection={<IconQrcode size={16} aria-hidden />}>
              Phone
            </Tabs.Tab>
            <Tabs.Tab value="file" leftSection={<IconFileText size={16} aria-hidden />}>
              Computer
            </Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="qr" pt="md">
            <Stack align="center" gap="sm">
              <QrCode text={withoutRemarks(config)} label="QR code of the config, with its private key" size={320} />
              <Text size="sm" ta="center">
                In the WireGuard app, add a tunnel with &quot;Create from QR code&quot;.
              </Text>
            </Stack>
          </Tabs.Panel>
          <Tabs.Panel value="file" pt="md">
            {asFile}
          </Tabs.Panel>
        </Tabs>
      ) : (
        asFile
      )}
      {children}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

function AsFile({ config, fileName, command }: Pick<OneTimeConfigProps, 'config' | 'fileName' | 'command'>) {
  return (
    <Stack gap="sm">
      <CopyLine value={config} what="the config" />
      <Group>
        <DownloadButton text={config} name={fileName}>
          {`Download ${fileName}`}
        </DownloadButton>
      </Group>
      <Text size="sm">Then, in the download folder:</Text>
      <CopyLine value={command} what="the command" />
    </Stack>
  );
}
