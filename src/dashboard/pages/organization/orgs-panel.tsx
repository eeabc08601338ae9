/** All organizations of the user: to switch, and to create another one. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { PLAN_NAMES } from '../billing/plans.ts';
import { ROLE_NAMES, roleOf } from '../members/roles.ts';
import { ApprovalBadge } from './approval-badge.tsx';

type Organization = Schemas['Organization'];

export function OrgsPanel({ orgs }: { readonly orgs: readonly Organization[] }) {
  const { active_org: active } = useAccount();
  const move = useSwitch();
  return (
    <Panel title="Your organizations" about="The other pages show the active organization.">
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

interface NewDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Makes another organization and goes over to it. */
export function NewDialog({ opened, onClose }: NewDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New organization">
      <NewForm onClose={onClose} />
    </Modal>
  );
}

function NewForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const [rest, setRest] = useState<string>();
  const form = useForm({ initialValues: { name: '' } });
  const move = useSwitch();
  const make = useAction({
    run: (body: { name: string }) => answered(client.POST('/orgs', { body })),
    touches: [['orgs'], ['me']],
    onDone: ({ id }) => {
      onClose();
      move.mutate(id);
    },
    tellsFailure: true,
  });
  const save = (values: { name: string }): void => {
    setRest(undefined);
    make.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack>
        <Text size="sm">
          It has its own tunnels, keys, members and plan. You become its owner, and it becomes active. To switch back,
          use the menu at the top right.
        </Text>
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <FormEnd action="Create organization" refused={rest} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

/** Makes another organization the active one of this session: everything is then drawn anew. */
function useSwitch() {
  const { client, session } = useApi();
  return useAction({
    run: (id: string) => answered(client.POST('/auth/switch-org', { body: { org_id: id } })),
    done: ({ active_org: org }) => `Switched to ${org.name}.`,
    onDone: ({ access_token: token }) => session.enter(token),
  });
}
