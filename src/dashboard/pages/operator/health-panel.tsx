/** The health checks of the server, those that need attention first. */
import { Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/types.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type HealthCheck, byUrgency, checkTitle, STATUS } from './health-checks.ts';

const COLUMNS: ReadonlyArray<Column<HealthCheck>> = [
  { key: 'name', title: 'Check', cell: ({ name }) => checkTitle(name) },
  {
    key: 'status',
    title: 'Status',
    cell: ({ status }) => <StateBadge tone={STATUS[status].tone}>{STATUS[status].label}</StateBadge>,
  },
  {
    key: 'detail',
    title: 'Result',
    cell: ({ detail, next }) => (
      <Stack gap={0}>
        <Text size="sm">{detail}</Text>
        {next !== '' && (
          <Text size="sm" fw={600}>
            {next}
          </Text>
        )}
      </Stack>
    ),
  },
];

export function HealthPanel({ health }: { readonly health: Schemas['OperatedHealth'] }) {
  return (
    <Panel
      title="Health"
      about="Checked every few seconds. On the server's machine, “culvert doctor” also checks DNS, ports and certificates."
    >
      <Table label="Health" rows={byUrgency(health.checks)} rowKey={({ name }) => name} columns={COLUMNS} />
    </Panel>
  );
}
