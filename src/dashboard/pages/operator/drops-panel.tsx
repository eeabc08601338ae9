/** Visitors that the server has blocked or cut off, by reason, with the setting that changes it. */
import { Code, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { type DropRow, dropRows } from './drops.ts';

const COLUMNS: ReadonlyArray<Column<DropRow>> = [
  { key: 'count', title: 'Count', align: 'right', cell: ({ count }) => countText(count) },
  { key: 'words', title: 'What', cell: ({ words }) => words },
  {
    key: 'setting',
    title: 'Setting to turn',
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

export function DropsPanel({ edge }: { readonly edge: Schemas['EdgeCounts'] }) {
  const [all, setAll] = useState(false);
  const rows = dropRows(edge);
  const shown = all ? rows : rows.filter(({ count }) => count > 0);
  return (
    <Panel
      title="Refused, cut and left out"
      about={
        <>
          Since the server started, <Ago at={edge.since} />. Connections of visitors accepted:{' '}
          {countText(edge.connections.admitted)}.
        </>
      }
      actions={
        <Switch label="Show what never came" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
      }
    >
      {shown.length === 0 ? (
        <Text size="sm">No visitor was blocked or cut off.</Text>
      ) : (
        <Table label="Refused, cut and left out" rows={shown} rowKey={({ key }) => key} columns={COLUMNS} />
      )}
    </Panel>
  );
}
