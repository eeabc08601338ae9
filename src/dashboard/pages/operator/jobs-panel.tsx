/** What the server does by the clock. */
import { Switch } from '@mantine/core';
import { useState } from 'react';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText, durationText, spanText } from '../../parts/format.ts';
import type { Metrics } from './exposition.ts';
import { type Job, jobsOf } from './jobs.ts';

const COLUMNS: ReadonlyArray<Column<Job>> = [
  { key: 'name', title: 'Job', cell: ({ name }) => name },
  { key: 'runs', title: 'Runs', align: 'right', cell: ({ runs }) => countText(runs) },
  {
    key: 'took',
    title: 'Last took',
    align: 'right',
    cell: ({ tookMs }) => (tookMs === undefined ? '–' : durationText(tookMs)),
  },
  {
    key: 'late',
    title: 'Late by',
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

/** Late by so much is worth a look. */
const LATE_MS = 60_000;

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
          ? `All ${jobs.length} have run in time, without a failure.`
          : 'These have failed since the start, or are late. The log of the server says why.'
      }
      actions={<Switch label="Show all jobs" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />}
    >
      {shown.length > 0 && <Table label="Jobs" rows={shown} rowKey={({ name }) => name} columns={COLUMNS} />}
    </Panel>
  );
}
