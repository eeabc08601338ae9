/** A key that was just made: shown this once, in a `OneTimeSecretModal`, with the command that uses it. */
import { Alert, Stack, Tabs, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useApi } from '../../api/context.tsx';
import type { MintedToken } from '../../api/types.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { OneTimeSecret } from '../../parts/dialogs/one-time-secret.tsx';
import { commandsFor } from './key-commands.ts';

export function MintedKey({ token }: { readonly token: MintedToken }) {
  const { url } = useApi();
  const { environment, store, use } = commandsFor(token, url);
  return (
    <OneTimeSecret label={`The key ${token.name}, shown once`}>
      <Alert color="yellow" variant="light" icon={<IconKey size={18} />} role="status">
        This is the key {token.name}. Copy it now. You won&apos;t see it again.
      </Alert>
      <CopyLine value={token.apiKey} what="the key" />
      <Text size="sm" fw={600}>
        {token.kind === 'master' ? 'Create a key for one run' : 'Publish a local port'}
      </Text>
      <Tabs defaultValue="environment" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="environment">Environment</Tabs.Tab>
          <Tabs.Tab value="file">Key file</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="environment" pt="sm">
          <CopyLine value={environment} what="the command" />
        </Tabs.Panel>
        <Tabs.Panel value="file" pt="sm">
          <Stack gap="xs">
            <Text size="sm">The command waits for the key. Paste it, then press Enter and Ctrl+D.</Text>
            <CopyLine value={store} what="the command that stores the key" />
            <CopyLine value={use} what="the command" />
            <Text size="sm" c="dimmed">
              The agent reads the file at each reconnect, so a new key needs no restart.
            </Text>
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </OneTimeSecret>
  );
}
