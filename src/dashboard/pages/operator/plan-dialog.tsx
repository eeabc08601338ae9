/** Gives an organization another plan. */
import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { FEATURES, INCLUDED, type Plan, PLAN_NAMES, PLANS } from '../billing/plans.ts';

interface PlanDialogProps {
  readonly org: Schemas['OperatedOrganization'];
  readonly onClose: () => void;
}

export function PlanDialog({ org, onClose }: PlanDialogProps) {
  const { client } = useApi();
  const [plan, setPlan] = useState<Plan>(org.plan);
  const change = useAction({
    run: (to: Plan) =>
      answered(client.PATCH('/superadmin/orgs/{id}', { params: { path: { id: org.id } }, body: { plan: to } })),
    done: (changed) => `${changed.name} is on ${PLAN_NAMES[changed.plan]} now.`,
    touches: [['superadmin'], ['me'], ['orgs'], ['billing']],
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Modal opened onClose={onClose} title={`Change the plan of ${org.name}?`}>
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
          It counts at once, and nothing is charged. When the organization pays for a plan, the end of its subscription
          takes it back to Free.
        </Text>
        {change.error !== null && <FailureAlert error={change.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Keep
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
