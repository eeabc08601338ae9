/** The counters of the server as panels: dropped, answered by the edge, queues, jobs. */
import { Code, SimpleGrid, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { edgeFault } from '../../../base/codes/edge-faults.ts';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { countText, durationText, spanText } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type DropRow, dropRows, type Job, jobsOf, queuesOf } from './server-metrics.ts';
import type { Metrics } from './exposition.ts';

const DROP_COLUMNS: ReadonlyArray<Column<DropRow>> = [
  { key: 'words', title: 'Event', cell: ({ words }) => words },
  { key: 'count', title: 'Count', align: 'right', cell: ({ count }) => countText(count) },
  {
    key: 'setting',
    title: 'Setting',
    cell: ({ setting }) =>
      setting === undefined ? (
        <Text span inherit c="dimmed">
          none
        </Text>
      ) : (
        <Code>{setting}</Code>
      ),
  },
];

/** Visitors that the server has blocked or cut off, by reason, with the setting that changes it. */
export function DropsPanel({ edge }: { readonly edge: Schemas['EdgeCounts'] }) {
  const [all, setAll] = useState(false);
  const rows = dropRows(edge);
  const shown = all ? rows : rows.filter(({ count }) => count > 0);
  return (
    <Panel
      title="Dropped"
      about={
        <>
          Since the server started, <Ago at={edge.since} />. Accepted visitor connections:{' '}
          {countText(edge.connections.admitted)}.
        </>
      }
      actions={
        <Switch label="Show zero counts" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
      }
    >
      {shown.length === 0 ? (
        <Text size="sm">Nothing dropped.</Text>
      ) : (
        <Table label="Dropped" rows={shown} rowKey={({ key }) => key} columns={DROP_COLUMNS} />
      )}
    </Panel>
  );
}

interface Row {
  readonly code: string;
  readonly count: number;
}

const FAULT_COLUMNS: ReadonlyArray<Column<Row>> = [
  { key: 'why', title: 'Cause', cell: ({ code }) => edgeFault(code)?.cause ?? code },
  { key: 'count', title: 'Count', align: 'right', cell: ({ count }) => countText(count) },
  { key: 'code', title: 'Code', cell: ({ code }) => <Code>{code}</Code> },
];

/** What the edge has answered visitors by itself, instead of the service behind a tunnel. */
export function AnsweredPanel({ edge: { answered } }: { readonly edge: Schemas['EdgeCounts'] }) {
  const rows = Object.entries(answered)
    .map(([code, count]) => ({ code, count }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
  return (
    <Panel title="Edge errors" about="Error responses from the edge, by code.">
      {rows.length === 0 ? (
        <Text size="sm">None since the server started.</Text>
      ) : (
        <Table label="Edge errors" rows={rows} rowKey={({ code }) => code} columns={FAULT_COLUMNS} />
      )}
    </Panel>
  );
}

/** What waits, and how long each line is. */
export function QueuesPanel({ metrics }: { readonly metrics: Metrics }) {
  return (
    <Panel title="Queues" about="Near 0 on a healthy server.">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
        {queuesOf(metrics).map(({ title, now, about, isLong }) => (
          <div key={title}>
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Text size="lg" fw={600} className="culvert-number">
              {now}
            </Text>
            <Text size="xs" c="dimmed" className="culvert-wrap">
              {about}
            </Text>
            {isLong && <StateBadge tone="warn">long</StateBadge>}
          </div>
        ))}
      </SimpleGrid>
    </Panel>
  );
}

const JOB_COLUMNS: ReadonlyArray<Column<Job>> = [
  { key: 'name', title: 'Job', cell: ({ name }) => name },
  { key: 'runs', title: 'Runs', align: 'right', cell: ({ runs }) => countText(runs) },
  {
    key: 'took',
    title: 'Last duration',
    align: 'right',
    cell: ({ tookMs }) => (tookMs === undefined ? '–' : durationText(tookMs)),
  },
  {
    key: 'late',
    title: 'Delay',
    align: 'right',
    cell: ({ lateMs }) => (lateMs < 1000 ? '–' : spanText(lateMs)),
  },
  {
    key: 'failures',
    title: 'Failures',
    align: 'right',
    cell: ({ failures }) => (failures === 0 ? '0' : <StateBadge tone="bad">{countText(failures)}</StateBadge>),
  },
];

/** Delay so much is worth a look. */
const LATE_MS = 60_000;

/** What the server does by the clock. */
export function JobsPanel({ metrics }: { readonly metrics: Metrics }) {
  const [all, setAll] = useState(false);
  const jobs = jobsOf(metrics);
  const ill = jobs.filter(({ failures, lateMs }) => failures > 0 || lateMs > LATE_MS);
  const shown = all ? jobs : ill;
  return (
    <Panel
      title="Jobs"
      about={
        ill.length === 0
          ? `All ${jobs.length} jobs ran on time without failures.`
          : "These jobs failed since the server started, or are late. See the server's log."
      }
      actions={<Switch label="Show all jobs" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />}
    >
      {shown.length > 0 && <Table label="Jobs" rows={shown} rowKey={({ name }) => name} columns={JOB_COLUMNS} />}
    </Panel>
  );
}
