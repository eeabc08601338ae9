/**
 * A table of rows that becomes a list of cards on a phone: each cell then says its column's title before its value. The roles are said, for browsers
 * forget that it is a table once its parts are laid out as blocks. For lists of up to some
 * hundred rows; the inspector has one that draws only what is in sight.
 */
import { Card, Table as MantineTable, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

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
}

export function Table<T>({ label, rows, rowKey, columns }: TableProps<T>) {
  return (
    <Card withBorder padding={0} className="culvert-table-card">
      <MantineTable
        className="culvert-table"
        verticalSpacing="sm"
        horizontalSpacing="md"
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
          {rows.map((row) => (
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
}
