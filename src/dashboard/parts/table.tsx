/**
 * A table of rows that becomes a list of cards on a phone: each cell then says its column's title before its value. The roles are said, for browsers
 * forget that it is a table once its parts are laid out as blocks. Fifty rows are drawn, and more when asked for; the inspector has a table that
 * draws only what is in sight.
 */
import { Button, Card, Center, Stack, Table as MantineTable, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { countText } from './format.ts';

/** A thousand rows with a menu each take seconds. */
const PAGE_ROWS = 50;

export interface Column<T> {
  /** Unique in the table. */
  readonly key: string;
  /** Heading; `hidden` for screen readers alone, as of the column of buttons. */
  readonly title: string;
  readonly hidden?: boolean;
  readonly align?: 'left' | 'right';
  readonly cell: (row: T) => ReactNode;
}

interface TableProps<T> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly columns: ReadonlyArray<Column<T>>;
  /** The caller pages the rows and has its own button for more. */
  readonly isPaged?: boolean;
}

export function Table<T>({ label, rows, rowKey, columns, isPaged = false }: TableProps<T>) {
  const [most, setMost] = useState(PAGE_ROWS);
  const drawn = isPaged ? rows : rows.slice(0, most);
  const table = (
    <Card withBorder padding={0} className="culvert-table-card">
      <MantineTable
        className="culvert-table"
        verticalSpacing="sm"
        horizontalSpacing="sm"
        highlightOnHover
        role="table"
        aria-label={label}
      >
        <MantineTable.Thead role="rowgroup">
          <MantineTable.Tr role="row">
            {columns.map(({ key, title, hidden, align = 'left' }) => (
              <MantineTable.Th key={key} ta={align} scope="col" role="columnheader">
                {hidden === true ? <VisuallyHidden>{title}</VisuallyHidden> : title}
              </MantineTable.Th>
            ))}
          </MantineTable.Tr>
        </MantineTable.Thead>
        <MantineTable.Tbody role="rowgroup">
          {drawn.map((row) => (
            <MantineTable.Tr key={rowKey(row)} role="row">
              {columns.map(({ key, title, hidden, align = 'left', cell }) => (
                <MantineTable.Td
                  key={key}
                  {...(align === 'right' ? { ta: align, className: 'culvert-number' } : {})}
                  role="cell"
                  data-title={hidden === true ? undefined : title}
                >
                  {cell(row)}
                </MantineTable.Td>
              ))}
            </MantineTable.Tr>
          ))}
        </MantineTable.Tbody>
      </MantineTable>
    </Card>
  );
  if (drawn.length === rows.length) return table;
  return (
    <Stack gap="sm">
      {table}
      <Center>
        <Button variant="default" onClick={() => setMost(most + 2 * PAGE_ROWS)}>
          Show more: {countText(rows.length - drawn.length)} are not shown
        </Button>
      </Center>
    </Stack>
  );
}
