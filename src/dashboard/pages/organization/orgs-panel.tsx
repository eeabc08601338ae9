/** All organizations of the person, and the way from one to the other. */
import { Button, Text } from '@mantine/core';
import { useAccount } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { ApprovalBadge } from './approval-badge.tsx';
import { useSwitch } from './switch.ts';

type Organization = Schemas['Organization'];

export function OrgsPanel({ orgs }: { readonly orgs: readonly Organization[] }) {
  const { active_org: active } = useAccount();
  const move = useSwitch();
  return (
    <Panel title="Your organizations" about="What you see on the other pages is that of the active one.">
      <Table
        label="Your organizations"
        rows={orgs}
        rowKey={({ id }) => id}
        columns={columnsFor({
          activeId: active.id,
          moving: move.isPending ? move.variables : undefined,
          onMove: move.mutate,
        })}
      />
    </Panel>
  );
}

interface ColumnsFor {
  readonly activeId: string;
  /** The one that is being switched to. */
  readonly moving: string | undefined;
  readonly onMove: (id: string) => void;
}

function columnsFor({ activeId, moving, onMove }: ColumnsFor): ReadonlyArray<Column<Organization>> {
  return [
    {
      key: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <>
          <Text span size="sm" fw={500} mr={6}>
            {name}
          </Text>
          {id === activeId && <StateBadge tone="info">active</StateBadge>}
        </>
      ),
    },
    { key: 'slug', title: 'Slug', cell: ({ slug }) => <span className="culvert-mono">{slug}</span> },
    { key: 'role', title: 'Your role', cell: ({ role }) => ROLE_NAMES[roleOf(role)] },
    { key: 'plan', title: 'Plan', cell: ({ plan }) => PLAN_NAMES[plan] },
    { key: 'status', title: 'Status', cell: (row) => <ApprovalBadge status={row.approval_status} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: ({ id, name }) =>
        id !== activeId && (
          <Button
            variant="subtle"
            size="sm"
            loading={moving === id}
            onClick={() => onMove(id)}
            aria-label={`Switch to ${name}`}
          >
            Switch
          </Button>
        ),
    },
  ];
}
