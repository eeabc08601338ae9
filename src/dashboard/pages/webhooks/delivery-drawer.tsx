/** One delivery: what became of it, its headers and its body, as the inspector shows them. */
import { Button, Drawer, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { Ago, When } from '../../parts/time/ago.tsx';
import { Countdown } from '../../parts/time/countdown.tsx';
import type { Opened } from '../../parts/dialogs/opened.ts';
import { Fact } from '../../parts/fact.tsx';
import { bytesText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { BodyView } from '../inspector/body/body-view.tsx';
import { HeaderTable } from '../inspector/header-table.tsx';
import { visibleText } from '../inspector/visible-text.ts';
import { Attempts } from './attempts-list.tsx';
import { type Delivery, lastTry, progressState } from './delivery-labels.ts';
import { RECEIVERS, useDelivery } from './receiver-queries.ts';
import type { Receiver } from './senders.ts';

interface DeliveryDrawerProps {
  readonly receiver: Receiver;
  /** As the list has it now; undefined: it is older than what is listed, or has gone. */
  readonly listed: Delivery | undefined;
  readonly opened: Opened;
}

/** Drawn closed from the start: a drawer that appears open can't return the focus. */
export function DeliveryDrawer({ receiver, listed, opened: { id, isOpen, close } }: DeliveryDrawerProps) {
  const mayChange = useMay('member');
  const whole = useDelivery(receiver.id, id);
  const delivery = listed ?? whole.data;
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      position="right"
      size="xl"
      title={visibleText(delivery?.event_type ?? 'Delivery')}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {delivery !== undefined && <Facts delivery={delivery} />}
        {mayChange && delivery !== undefined && <Redeliver receiver={receiver} id={delivery.id} />}
        {delivery !== undefined && <Attempts receiverId={receiver.id} delivery={delivery} />}
        <Loaded query={whole}>{(it) => <Content delivery={it} />}</Loaded>
      </Stack>
    </Drawer>
  );
}

function Content({ delivery: { id, body, size, headers, content_type: type } }: { readonly delivery: Delivery }) {
  const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
  return (
    <>
      <BodyView
        title="Body"
        fileName={`delivery-${id}`}
        body={{ base64: body, size, isTruncated: false, type: type ?? '', coding: headers['content-encoding'] ?? '' }}
      />
      <HeaderTable title="Headers" fields={fields} none="No headers." />
    </>
  );
}

function Facts({ delivery }: { readonly delivery: Delivery }) {
  const { received_at: at, delivery_id: senders, id, size, forward, test } = delivery;
  const { tone, words } = progressState(forward);
  const last = lastTry(forward);
  return (
    <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="md" verticalSpacing="sm">
      <Fact title="Received">
        <When at={at} />
      </Fact>
      <Fact title="Size">{bytesText(size)}</Fact>
      <Fact title="Forwarding">
        <StateBadge tone={tone}>{words}</StateBadge>
      </Fact>
      {test && (
        <Fact title="Kind">
          <StateBadge tone="quiet">Test</StateBadge>
        </Fact>
      )}
      {forward.delivered_at !== null && (
        <Fact title="Delivered">
          <Ago at={forward.delivered_at} />
          {forward.attempts > 1 && `, after ${forward.attempts} attempts`}
          {forward.last_status !== null && `, with ${forward.last_status}`}
        </Fact>
      )}
      {last !== undefined && <Fact title="Attempts">{last}</Fact>}
      {forward.next_attempt_at !== null && (
        <Fact title="Next attempt">
          <Countdown at={forward.next_attempt_at} />
        </Fact>
      )}
      {senders !== null && (
        <Fact title="Sender's ID">
          <span className="culvert-mono">{visibleText(senders)}</span>
        </Fact>
      )}
      <Fact title="ID">
        <span className="culvert-mono">{id}</span>
      </Fact>
    </SimpleGrid>
  );
}

function Redeliver({ receiver, id }: { readonly receiver: Receiver; readonly id: string }) {
  const { client } = useApi();
  const redeliver = useAction({
    run: () => {
      const path = { id: receiver.id, event_id: id };
      return answered(client.POST('/webhook-receivers/{id}/events/{event_id}/redeliver', { params: { path } }));
    },
    done: 'Redelivery queued, ahead of waiting deliveries.',
    touches: [RECEIVERS],
  });
  const isNowhere = receiver.forward === null;
  return (
    <Group gap="sm">
      <Button
        variant="default"
        leftSection={<IconSend size={16} />}
        loading={redeliver.isPending}
        disabled={isNowhere}
        onClick={() => redeliver.mutate()}
      >
        Redeliver
      </Button>
      {isNowhere && (
        <Text size="sm" c="dimmed">
          To redeliver, set up forwarding first.
        </Text>
      )}
    </Group>
  );
}
