/** Settings of the server by clicking: name, accounts, mail, identity providers. The settings file wins, and each field says so. */
import { Alert, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../../api/client.ts';
import { useApi } from '../../../api/context.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { byKey, GROUPS } from './fields.ts';
import { GroupPanel } from './group-panel.tsx';

export const INSTANCE_KEY = ['superadmin', 'instance'];

/** The server's settings; for superadmins. */
export function useInstance(enabled = true) {
  const { client } = useApi();
  return useQuery({
    queryKey: INSTANCE_KEY,
    queryFn: ({ signal }) => answered(client.GET('/superadmin/instance', { signal })),
    enabled,
  });
}

export function InstancePart() {
  return (
    <Loaded query={useInstance()}>
      {(instance) => (
        <Stack>
          {instance.restart_needed && (
            <Alert color="yellow" variant="light" role="status">
              Login of visitors uses the new identity provider after a restart of the server.
            </Alert>
          )}
          {GROUPS.map((group) => (
            <GroupPanel key={group.name} group={group} instance={instance} settings={byKey(instance)} />
          ))}
          <Text size="sm" c="dimmed">
            Changes apply immediately. Login of visitors takes over another identity provider at the next start. All
            other settings are in the settings file of the server.
          </Text>
        </Stack>
      )}
    </Loaded>
  );
}
