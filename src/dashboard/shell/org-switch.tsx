/** The active organization; for those who have several, the way to the others. */
import { Button, Menu, Text } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { answered } from '../api/client.ts';
import { useAccount, useApi } from '../api/context.tsx';
import { useAction } from '../parts/action.ts';

export function OrgSwitch() {
  const { active_org: active, orgs } = useAccount();
  const { client, session } = useApi();
  const move = useAction({
    run: (id: string) => answered(client.POST('/auth/switch-org', { body: { org_id: id } })),
    onDone: ({ access_token: token }) => session.enter(token),
  });
  if (orgs.length < 2)
    return (
      <Text size="sm" c="dimmed" truncate maw={180}>
        {active.name}
      </Text>
    );
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button
          variant="default"
          rightSection={<IconSelector size={16} />}
          loading={move.isPending}
          className="culvert-org"
          aria-label={`Organization: ${active.name}`}
        >
          {active.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {orgs.map(({ id, name, role }) => (
          <Menu.Item
            key={id}
            rightSection={id === active.id ? <IconCheck size={16} /> : undefined}
            onClick={() => id !== active.id && move.mutate(id)}
          >
            {name}
            <Text size="xs" c="dimmed">
              {role}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
