/** Organizations of this server. */
import { Group, Select, Stack, Text } from '@mantine/core';
import { IconBuilding } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ApprovalBadge } from '../organization/approval-badge.tsx';
import { OrgMenu } from './org-menu.tsx';
import { PAGE_ROWS, Paged, useSearch } from './paged.tsx';

type Organization = Schemas['OperatedOrganization'];

const WHICH = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'Pending approval' },
  { value: 'approved', label: 'Approved' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'deleted', label: 'Deleted' },
] as const;
type Which = (typeof WHICH)[number]['value'];

const COLUMNS: ReadonlyArray<Column<Organization>> = [
  { key: 'name', title: 'Name', cell: (row) => <Name org={row} /> },
  { key: 'owners', title: 'Owners', cell: ({ owners }) => owners.join(', ') || 'none' },
  { key: 'members', title: 'Members', align: 'right', cell: ({ members }) => countText(members) },
  { key: 'plan', title: 'Plan', cell: ({ plan }) => PLAN_NAMES[plan] },
  { key: 'status', title: 'Status', cell: (row) => <OrgStatus org={row} /> },
  { key: 'made', title: 'Created', cell: (row) => <Ago at={row.created_at} /> },
  {
    key: 'actions',
    title: 'Actions',
    hidden: true,
    align: 'right',
    cell: (row) => row.deleted_at === null && <OrgMenu org={row} />,
  },
];

export function OrgsPart() {
  const { client } = useApi();
  const { asked, field } = useSearch('Search by name or slug');
  const [which, setWhich] = useState<Which>('all');
  return (
    <Stack>
      <Group gap="sm">
        {field}
        <Select
          aria-label="Status"
          data={WHICH}
          value={which}
          onChange={(value) => setWhich(WHICH.find((one) => one.value === value)?.value ?? 'all')}
          allowDeselect={false}
          flex="0 1 210px"
        />
      </Group>
      <Paged
        queryKey={['superadmin', 'orgs', which, asked]}
        ask={(after, signal) => {
          const query = {
            limit: PAGE_ROWS,
            ...narrowedTo(which),
            ...(asked === '' ? {} : { query: asked }),
            ...(after === undefined ? {} : { after }),
          };
          return answered(client.GET('/superadmin/orgs', { params: { query }, signal }));
        }}
        cursorOf={({ id }: Organization) => id}
      >
        {(orgs) =>
          orgs.length === 0 ? (
            <Empty icon={IconBuilding} title="No organizations found">
              No organizations match.
            </Empty>
          ) : (
            <Table isPaged label="Organizations" rows={orgs} rowKey={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Paged>
    </Stack>
  );
}

function narrowedTo(which: Which) {
  if (which === 'all') return {};
  return which === 'deleted' ? { deleted: 'true' as const } : { status: which };
}

function Name({ org: { name, slug } }: { readonly org: Organization }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" className="culvert-mono">
        {slug}
      </Text>
    </div>
  );
}

function OrgStatus({ org }: { readonly org: Organization }) {
  return org.deleted_at === null ? (
    <ApprovalBadge status={org.approval_status} />
  ) : (
    <StateBadge tone="quiet">deleted</StateBadge>
  );
}
