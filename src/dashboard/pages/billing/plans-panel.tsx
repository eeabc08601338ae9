/** All plans side by side. Where a subscription runs, another plan is chosen where it is managed. */
import { Button, Card, Group, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useAccount, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useCheckout } from './actions.ts';
import {
  type Cycle,
  FEATURES,
  hasSubscription,
  INCLUDED,
  type Included,
  isSold,
  type Plan,
  PLAN_NAMES,
  PLAN_WORDS,
  PLANS,
} from './plans.ts';

type Billing = Schemas['Billing'];

export function PlansPanel({ billing }: { readonly billing: Billing }) {
  const [cycle, setCycle] = useState<Cycle>('monthly');
  const isOwner = useMay('owner');
  const isBuying = isOwner && sells(billing);
  return (
    <Stack gap="sm" component="section" aria-label="All plans">
      <Group justify="space-between">
        <Title order={2} size="h5">
          All plans
        </Title>
        {isBuying && (
          <SegmentedControl
            aria-label="Billing cycle"
            value={cycle}
            onChange={(value) => setCycle(value === 'yearly' ? 'yearly' : 'monthly')}
            data={[
              { value: 'monthly', label: 'Monthly' },
              { value: 'yearly', label: 'Yearly' },
            ]}
          />
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
        {PLANS.map((plan) => (
          <PlanCard key={plan} plan={plan} cycle={cycle} billing={billing} />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

/** What the plan has, where no other can be chosen. */
export function IncludedPanel({ billing }: { readonly billing: Billing }) {
  return (
    <Panel title="Included">
      <Features included={billing.entitlements} />
    </Panel>
  );
}

function Features({ included }: { readonly included: Included }) {
  return (
    <Stack gap={6} component="dl" m={0} flex={1}>
      {FEATURES.map(({ title, say }) => (
        <Group key={title} justify="space-between" gap="xs" wrap="nowrap">
          <Text component="dt" size="sm" c="dimmed">
            {title}
          </Text>
          <Text component="dd" size="sm" m={0} ta="right">
            {say(included)}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

interface PlanCardProps {
  readonly plan: Plan;
  readonly cycle: Cycle;
  readonly billing: Billing;
}

function PlanCard({ plan, cycle, billing }: PlanCardProps) {
  const isHere = plan === billing.plan;
  return (
    <Card
      withBorder
      component="article"
      aria-label={PLAN_NAMES[plan]}
      className={isHere ? 'culvert-plan-here' : undefined}
    >
      <Stack gap="sm" h="100%">
        <div>
          <Group justify="space-between" gap="xs">
            <Title order={3} size="h5">
              {PLAN_NAMES[plan]}
            </Title>
            {isHere && <StateBadge tone="good">current plan</StateBadge>}
          </Group>
          <Text size="sm" c="dimmed">
            {PLAN_WORDS[plan]}
          </Text>
        </div>
        <Features included={isHere ? billing.entitlements : INCLUDED[plan]} />
        <Choose plan={plan} cycle={cycle} billing={billing} />
      </Stack>
    </Card>
  );
}

function Choose({ plan, cycle, billing }: PlanCardProps) {
  const isOwner = useMay('owner');
  const { active_org: org } = useAccount();
  const checkout = useCheckout();
  if (!isSold(plan) || plan === billing.plan || !isOwner || !sells(billing)) return null;
  const isApproved = org.approval_status === 'approved';
  return (
    <Button
      variant={plan === 'pro' && billing.plan === 'free' ? 'filled' : 'default'}
      loading={checkout.isPending}
      disabled={!isApproved}
      title={isApproved ? undefined : 'An operator must approve the organization first.'}
      onClick={() => checkout.mutate({ plan, billing_cycle: cycle })}
    >
      Choose {PLAN_NAMES[plan]}
    </Button>
  );
}

/** Whether a plan is bought here, and not changed where the subscription is managed. */
function sells(billing: Billing): boolean {
  return billing.mode === 'mock' || (billing.mode === 'stripe' && !hasSubscription(billing));
}
