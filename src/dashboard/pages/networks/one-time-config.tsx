/**
 * A WireGuard config with the private key that was made in this browser: as text, as a file and, for devices, as a QR code. It is in the memory of
 * this dialog alone and can't be shown again.
 */
import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconFileText, IconQrcode, IconShieldLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CopyLine } from '../../parts/copy.tsx';
import { DownloadButton } from '../../parts/download.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { withoutRemarks } from './wireguard-config.ts';

export interface OneTimeConfigProps {
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

export function OneTimeConfig({ config, fileName, qr = false, command, children, onClose }: OneTimeConfigProps) {
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
              For a phone
            </Tabs.Tab>
            <Tabs.Tab value="file" leftSection={<IconFileText size={16} aria-hidden />}>
              For a computer
            </Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="qr" pt="md">
            <Stack align="center" gap="sm">
              <QrCode text={withoutRemarks(config)} label="QR code of the config, with its private key" size={320} />
              <Text size="sm" ta="center">
                In the WireGuard app: add a tunnel, &quot;Create from QR code&quot;.
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
      <Text size="sm">Then, in the folder where it is:</Text>
      <CopyLine value={command} what="the command" />
    </Stack>
  );
}
