/** Stored deliveries, newest first, live; each opens beside the list. */
import { Anchor, Button, Group, Select, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconInbox, IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import { When } from '../../parts/time/ago.tsx';
import { Countdown } from '../../parts/time/countdown.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { visibleText } from '../inspector/visible-text.ts';
import type { Opened } from '../../parts/dialogs/opened.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { type Delivery, lastTry, progressState, type StateFilter, STATES } from './delivery-labels.ts';
import { RedeliverDialog } from './redeliver-dialog.tsx';
import { useDeliveries } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface DeliveriesPanelProps {
  readonly receiver: Receiver;
  readonly opened: Opened;
}

export function DeliveriesPanel({ receiver, opened }: DeliveriesPanelProps) {
  const [state, setState] = useState<StateFilter>('all');
  const deliveries = useDeliveries(receiver, state);
  const mayChange = useMay('member');
  const [isRange, range] = useDisclosure(false);
  const all = deliveries.data ?? [];
  return (
    <Stack gap="sm" component="section" aria-label="Deliveries">
      {receiver.stored > 0 && (
        <Group justify="space-between" gap="sm">
          <Title order={2} size="h5">
            Deliveries
          </Title>
          <Group gap="xs">
            <Select
              aria-label="State"
              data={[...STATES]}
              allowDeselect={false}
              w={150}
              value={state}
              onChange={(value) => setState(value ?? 'all')}
            />
            {mayChange && receiver.forward !== null && (
              <Button variant="default" leftSection={<IconSend size={16} />} onClick={range.open}>
                Redeliver range
              </Button>
            )}
          </Group>
        </Group>
      )}
      {deliveries.isError && <FailureAlert error={deliveries.error} again={deliveries.refetch} />}
      {all.length === 0 && receiver.stored === 0 && !deliveries.isError && <NoDeliveries receiver={receiver} />}
      {all.length === 0 && receiver.stored > 0 && deliveries.isSuccess && (
        <Text size="sm" c="dimmed" role="status">
          No deliveries match.
        </Text>
      )}
      {all.length > 0 && (
        <Table isPaged label="Deliveries" rows={all} rowKey={({ id }) => id} columns={columnsFor(opened.open)} />
      )}
      {deliveries.hasOlder && (
        <Group>
          {deliveries.showOlder !== undefined && (
            <Button variant="default" loading={deliveries.isPlaceholderData} onClick={deliveries.showOlder}>
              Show older
            </Button>
          )}
          <Text size="sm" c="dimmed">
            {countText(all.length)}
            {state === 'all' && ` of ${countText(receiver.stored)}`}
            {deliveries.showOlder === undefined && '; older ones are available via API'}
          </Text>
        </Group>
      )}
      <RedeliverDialog receiver={receiver} opened={isRange} onClose={range.close} />
      <DeliveryDrawer receiver={receiver} listed={all.find(({ id }) => id === opened.id)} opened={opened} />
    </Stack>
  );
}

function NoDeliveries({ receiver: { received, refused } }: { readonly receiver: Receiver }) {
  if (received > 0)
    return (
      <Empty icon={IconInbox} title="No deliveries kept">
        Your plan no longer keeps deliveries this old.
      </Empty>
    );
  if (refused.total > 0)
    return (
      <Empty icon={IconInbox} title="No deliveries accepted yet">
        All deliveries were rejected, for the reason above. Fix it, and new deliveries appear here.
      </Empty>
    );
  return (
    <Empty icon={IconInbox} title="No deliveries yet">
      Enter the URL at the sender and send a test. Deliveries with a wrong signature are rejected and counted here.
    </Empty>
  );
}

function columnsFor(onOpen: (id: string) => void): ReadonlyArray<Column<Delivery>> {
  return [
    {
      key: 'type',
      title: 'Type',
      cell: ({ id, event_type: type, test }) => (
        <Group gap={6} wrap="nowrap">
          <Anchor component="button" type="button" ta="start" fw={500} size="sm" onClick={() => onOpen(id)}>
            <bdi>{visibleText(type ?? 'delivery')}</bdi>
          </Anchor>
          {test && <StateBadge tone="quiet">Test</StateBadge>}
        </Group>
      ),
    },
    { key: 'received', title: 'Received', cell: ({ received_at: at }) => <When at={at} /> },
    {
      key: 'id',
      title: "Sender's ID",
      cell: ({ delivery_id: id }) => (
        <span className="culvert-mono">
          {id === null ? '-' : visibleText(id.length > 20 ? `${id.slice(0, 18)}…` : id)}
        </span>
      ),
    },
    { key: 'size', title: 'Size', align: 'right', cell: ({ size }) => bytesText(size) },
    { key: 'state', title: 'Forwarding', cell: ({ forward }) => <SentOn forward={forward} /> },
  ];
}

function SentOn({ forward }: Pick<Delivery, 'forward'>) {
  const { tone, words } = progressState(forward);
  const last = lastTry(forward);
  return (
    <div>
      <StateBadge tone={tone}>{words}</StateBadge>
      {last !== undefined && (
        <Text size="xs" c="dimmed" mt={2}>
          {last}
          {forward.state === 'waiting' && forward.next_attempt_at !== null && (
            <>
              , next <Countdown at={forward.next_attempt_at} />
            </>
          )}
        </Text>
      )}
    </div>
  );
}
