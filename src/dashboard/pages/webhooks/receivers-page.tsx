/** Webhook receivers: mailboxes on this server for what GitHub, Slack, Stripe and others send. */
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/time/ago.tsx';
import { CopyIcon } from '../../parts/copy.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { CreateReceiver } from './create-receiver.tsx';
import { answerText } from './delivery-labels.ts';
import { useReceivers } from './receiver-queries.ts';
import { isAlarming, refusedSince } from './refusals.ts';
import { type Receiver, senderOf } from './senders.ts';

export function ReceiversPage() {
  const receivers = useReceivers();
  const mayMake = useMay('member');
  const [isOpen, { open, close }] = useDisclosure(false);
  const button = mayMake && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New receiver
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      about="Receivers verify and store webhooks, and forward them to a tunnel when your service is online."
      actions={receivers.data?.length === 0 ? undefined : button}
    >
      <Loaded query={receivers}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={IconWebhook} title="No receivers yet" action={button}>
              Webhooks from GitHub, Slack, Stripe and others are not lost while your laptop sleeps. A receiver checks
              each signature and stores deliveries until your service is online.
              {!mayMake && " Viewers can't create receivers. Ask an admin for the member role."}
            </Empty>
          ) : (
            <Receivers all={all} />
          )
        }
      </Loaded>
      <CreateReceiver opened={isOpen} onClose={close} />
    </Page>
  );
}

function Receivers({ all }: { readonly all: readonly Receiver[] }) {
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const shown = all.filter(({ name, validator }) =>
    `${name} ${senderOf(validator).label}`.toLowerCase().includes(words),
  );
  return (
    <>
      <SearchBox
        label="Search receivers"
        placeholder="Name or sender"
        among={all.length}
        value={search}
        onChange={setSearch}
      />
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm">
          No receivers match.
        </Text>
      ) : (
        <Table label="Webhook receivers" rows={shown} rowKey={({ id }) => id} columns={COLUMNS} />
      )}
    </>
  );
}

const COLUMNS: ReadonlyArray<Column<Receiver>> = [
  {
    key: 'name',
    title: 'Name',
    cell: ({ id, name }) => (
      <Anchor component={Link} href={`/webhooks/${id}`} fw={500} size="sm">
        {name}
      </Anchor>
    ),
  },
  { key: 'sender', title: 'Sender', cell: ({ validator }) => senderOf(validator).label },
  { key: 'received', title: 'Received', align: 'right', cell: ({ received }) => countText(received) },
  { key: 'last', title: 'Last delivery', cell: (receiver) => <Last receiver={receiver} /> },
  { key: 'forward', title: 'Forwarding', cell: (receiver) => <Forwarding receiver={receiver} /> },
  {
    key: 'url',
    title: 'URL',
    hidden: true,
    align: 'right',
    cell: ({ url, name }) => <CopyIcon value={url} what={`the URL of ${name}`} />,
  },
];

function Last({ receiver }: { readonly receiver: Receiver }) {
  const { last_received_at: at } = receiver;
  return (
    <Group gap="xs">
      <Ago at={at} />
      {isAlarming(receiver) && <StateBadge tone="warn">{`${countText(refusedSince(receiver))} rejected`}</StateBadge>}
    </Group>
  );
}

function Forwarding({ receiver: { forward, waiting, failing, failed } }: { readonly receiver: Receiver }) {
  if (forward === null) return <StateBadge tone="quiet">Stored</StateBadge>;
  if (failing !== null)
    return (
      <div>
        <StateBadge tone="bad">Failing</StateBadge>
        <Text size="xs" c="dimmed" mt={2}>
          {answerText(failing)}, {countText(waiting)} waiting
        </Text>
      </div>
    );
  if (failed > 0) return <StateBadge tone="bad">{`${countText(failed)} failed`}</StateBadge>;
  if (waiting > 0) return <StateBadge tone="warn">{`${countText(waiting)} waiting`}</StateBadge>;
  return <StateBadge tone="good">Up to date</StateBadge>;
}
