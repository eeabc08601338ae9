/** The last sessions that ended, and why. */
import { Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/types.ts';
import { When } from '../../parts/time/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { ShowAll } from '../../parts/show-all.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { spanText, timeOf } from '../../parts/format.ts';
import { useEnded } from './connection-queries.ts';
import { Machine } from './machine.tsx';
import { matches, reasonOf } from './reasons.ts';

type Ended = Schemas['EndedConnection'];

/** Rows at first; with more, there is a search. */
const FEW = 20;

export function EndedPanel() {
  const query = useEnded();
  return (
    <Stack gap="sm" component="section" aria-label="Ended">
      <div>
        <Title order={2} size="h5">
          Ended connections
        </Title>
        <Text size="sm" c="dimmed">
          The last 100 connections of the past 30 days, except those that a server crash ended.
        </Text>
      </div>
      <Loaded query={query} lines={3}>
        {(ended) => <Shown ended={ended} />}
      </Loaded>
    </Stack>
  );
}

function Shown({ ended }: { readonly ended: readonly Ended[] }) {
  const [text, setText] = useState('');
  const [isAll, setAll] = useState(false);
  if (ended.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None yet.
      </Text>
    );
  const found = ended.filter((one) => matches(one, text));
  const shown = isAll ? found : found.slice(0, FEW);
  return (
    <Stack gap="sm">
      <SearchBox
        label="Search ended connections"
        placeholder="Machine, IP address or reason"
        among={ended.length}
        few={FEW}
        value={text}
        onChange={setText}
      />
      {found.length === 0 ? (
        <Text size="sm" c="dimmed">
          None of the last {ended.length} matches.
        </Text>
      ) : (
        <Table label="Ended" rows={shown} rowKey={keyOf} columns={COLUMNS} />
      )}
      {shown.length < found.length && <ShowAll count={found.length} shown={shown.length} onShow={() => setAll(true)} />}
    </Stack>
  );
}

function keyOf({ agent_id: id, ended_at: at }: Ended): string {
  return `${id} ${at}`;
}

const COLUMNS: ReadonlyArray<Column<Ended>> = [
  {
    key: 'machine',
    title: 'Machine',
    cell: ({ hostname, remote_ip: ip }) => <Machine hostname={hostname} below={ip} />,
  },
  { key: 'why', title: 'Reason', cell: (ended) => <Why {...ended} /> },
  { key: 'at', title: 'Ended', cell: ({ ended_at: at }) => <When at={at} /> },
  {
    key: 'lasted',
    title: 'Duration',
    align: 'right',
    cell: ({ connected_at: from, ended_at: to }) => spanText(timeOf(to) - timeOf(from)),
  },
];

function Why({ reason, message }: Ended) {
  const { name, tone, advice } = reasonOf(reason);
  return (
    <div className="culvert-why">
      <StateBadge tone={tone}>{name}</StateBadge>
      <Text size="xs" c="dimmed" mt={2}>
        {message}
        {advice !== undefined && ` ${advice}`}
      </Text>
    </div>
  );
}
