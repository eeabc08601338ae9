/** What the server does by the clock. */
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText, durationText, spanText } from '../../parts/words.ts';
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

export function JobsPanel({ metrics }: { readonly metrics: Metrics }) {
  return (
    <Panel title="Jobs" about="Since the server started. A failure is in its log.">
      <Table label="Jobs" rows={jobsOf(metrics)} rowKey={({ name }) => name} columns={COLUMNS} />
    </Panel>
  );
}
