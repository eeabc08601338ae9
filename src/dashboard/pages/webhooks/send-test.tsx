/** Sends a test event: the sender's usual one, or one of its types. */
import { Button, Menu, Tooltip } from '@mantine/core';
import { IconChevronDown, IconFlask } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { RECEIVERS } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface SendTestProps {
  readonly receiver: Receiver;
  /** Opens the delivery that it became. */
  readonly onSent: (id: string) => void;
}

export function SendTest({ receiver: { id, test_events: types }, onSent }: SendTestProps) {
  const { client } = useApi();
  const test = useAction({
    run: (type: string) =>
      answered(client.POST('/webhook-receivers/{id}/test', { params: { path: { id } }, body: { type } })),
    done: 'Test event sent.',
    touches: [RECEIVERS],
    onDone: (sent) => onSent(sent.id),
  });
  if (types.length === 0)
    return (
      <Tooltip label="Only the sender has the key that signs. Send a test from the sender's page." multiline maw={260}>
        <Button variant="default" leftSection={<IconFlask size={16} />} data-disabled aria-disabled>
          Send test
        </Button>
      </Tooltip>
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconFlask size={16} />}
          rightSection={<IconChevronDown size={14} />}
          loading={test.isPending}
        >
          Send test
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Signed with the receiver&apos;s secret</Menu.Label>
        {types.map((type) => (
          <Menu.Item key={type} className="culvert-mono" onClick={() => test.mutate(type)}>
            {type}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
