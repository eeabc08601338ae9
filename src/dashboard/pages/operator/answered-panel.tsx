/** What the edge has answered visitors by itself, instead of the service behind a tunnel. */
import { Code, Text } from '@mantine/core';
import { edgeFault } from '../../../base/codes/edge-faults.ts';
import type { Schemas } from '../../api/types.ts';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';

interface Row {
  readonly code: string;
  readonly count: number;
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { key: 'count', title: 'Count', align: 'right', cell: ({ count }) => countText(count) },
  { key: 'why', title: 'Why', cell: ({ code }) => edgeFault(code)?.cause ?? code },
  { key: 'code', title: 'Code', cell: ({ code }) => <Code>{code}</Code> },
];

export function AnsweredPanel({ edge: { answered } }: { readonly edge: Schemas['EdgeCounts'] }) {
  const rows = Object.entries(answered)
    .map(([code, count]) => ({ code, count }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
  return (
    <Panel title="Answered by the server itself" about="Requests that no service has seen, by the code of the answer.">
      {rows.length === 0 ? (
        <Text size="sm">None since the start.</Text>
      ) : (
        <Table label="Answered by the server itself" rows={rows} rowKey={({ code }) => code} columns={COLUMNS} />
      )}
    </Panel>
  );
}
