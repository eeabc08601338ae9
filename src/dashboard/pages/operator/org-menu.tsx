/** The actions of an operator on an organization. */
import { Button, Group, Menu, Modal, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconCreditCard, IconPlayerPause } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { FEATURES, INCLUDED, type Plan, PLAN_NAMES, PLANS } from '../billing/plans.ts';

type Organization = Schemas['OperatedOrganization'];

export function OrgMenu({ org }: { readonly org: Organization }) {
  const [planning, plan] = useDisclosure(false);
  const [suspending, suspend] = useDisclosure(false);
  const approve = useApproval(org, 'approve');
  const { button, from, back } = useMenuDialog();
  return (
    <>
      <RowMenu button={button} label={`Actions for ${org.name}`}>
        {org.approval_status !== 'approved' && (
          <Menu.Item leftSection={<IconCheck size={16} />} onClick={() => approve.mutate()}>
            Approve
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconCreditCard size={16} />} onClick={from(plan.open)}>
          Change plan
        </Menu.Item>
        {org.approval_status !== 'suspended' && (
          <Menu.Item color="red" leftSection={<IconPlayerPause size={16} />} onClick={from(suspend.open)}>
            Suspend
          </Menu.Item>
        )}
      </RowMenu>
      {planning && <PlanDialog org={org} onClose={back(plan.close)} />}
      <SuspendDialog org={org} opened={suspending} onClose={suspend.close} />
    </>
  );
}

interface SuspendDialogProps {
  readonly org: Organization;
  readonly opened: boolean;
  readonly onClose: () => void;
}

function SuspendDialog({ org, opened, onClose }: SuspendDialogProps) {
  const suspend = useApproval(org, 'suspend', onClose);
  return (
    <Confirm
      title={`Suspend ${org.name}?`}
      action="Suspend"
      opened={opened}
      isBusy={suspend.isPending}
      error={suspend.error}
      onConfirm={() => suspend.mutate()}
      onClose={() => {
        suspend.reset();
        onClose();
      }}
    >
      Its agents are disconnected within a second and can&apos;t reconnect. Its tunnels go offline. Its members see the
      suspension and can&apos;t change anything. Its names stay reserved until you approve it again.
    </Confirm>
  );
}

function useApproval({ id, name }: Organization, action: 'approve' | 'suspend', onDone?: () => void) {
  const { client } = useApi();
  const params = { params: { path: { id } } };
  return useAction({
    run: () =>
      answered(
        action === 'approve'
          ? client.POST('/superadmin/orgs/{id}/approve', params)
          : client.POST('/superadmin/orgs/{id}/suspend', params),
      ),
    done: action === 'approve' ? `${name} approved.` : `${name} suspended.`,
    touches: [['superadmin'], ['me'], ['orgs']],
    ...(onDone === undefined ? {} : { onDone, tellsFailure: true }),
  });
}

interface PlanDialogProps {
  readonly org: Schemas['OperatedOrganization'];
  readonly onClose: () => void;
}

/** Gives an organization another plan. */
function PlanDialog({ org, onClose }: PlanDialogProps) {
  const { client } = useApi();
  const [plan, setPlan] = useState<Plan>(org.plan);
  const change = useAction({
    run: (to: Plan) =>
      answered(client.PATCH('/superadmin/orgs/{id}', { params: { path: { id: org.id } }, body: { plan: to } })),
    done: (changed) => `${changed.name} is now on the ${PLAN_NAMES[changed.plan]} plan.`,
    touches: [['superadmin'], ['me'], ['orgs'], ['billing']],
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Modal opened onClose={onClose} title={`Change the plan for ${org.name}?`}>
      <Stack>
        <Radio.Group
          label="Plan"
          value={plan}
          onChange={(value) => setPlan(PLANS.find((one) => one === value) ?? org.plan)}
        >
          <Stack gap="xs" mt={6}>
            {PLANS.map((one) => (
              <Radio key={one} value={one} label={PLAN_NAMES[one]} description={sumOf(one)} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          Applies immediately, without a charge. If the organization has a subscription, its plan changes to Free when
          the subscription ends.
        </Text>
        {change.error !== null && <FailureAlert error={change.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={change.isPending} disabled={plan === org.plan} onClick={() => change.mutate(plan)}>
            Change plan
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function sumOf(plan: Plan): string {
  return FEATURES.slice(0, 3)
    .map(({ title, say }) => `${title.toLowerCase()} ${say(INCLUDED[plan])}`)
    .join(', ');
}
