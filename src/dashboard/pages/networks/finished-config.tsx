/**
 * The config of a device or a server once the private key was made in this browser. Where the config can't be read, the key alone is shown: it is
 * nowhere else, and the config can be read later.
 */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CopyLine } from '../../parts/copy.tsx';
import { FailureAlert, Loaded } from '../../parts/loaded.tsx';
import { OneTimeConfig, type OneTimeConfigProps } from './one-time-config.tsx';
import { withKey } from './wireguard-config.ts';

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
        The config can be read later, on the page of the network: the key belongs in the place of{' '}
        <span className="culvert-mono">REPLACE_WITH_PRIVATE_KEY</span>.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
