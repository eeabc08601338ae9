/** The current plan of the organization, and its price. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconExternalLink } from '@tabler/icons-react';
import { useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useCancel, usePortal } from './actions.ts';
import { hasSubscription, paidText, PLAN_NAMES, subscriptionText } from './plans.ts';

type Billing = Schemas['Billing'];

export function CurrentPanel({ billing }: { readonly billing: Billing }) {
  const isOwner = useMay('owner');
  return (
    <Panel
      title={`The plan is ${PLAN_NAMES[billing.plan]}`}
      about={paidText(billing)}
      actions={isOwner && <Ways billing={billing} />}
    >
      <Subscription billing={billing} />
      {!isOwner && billing.mode !== 'none' && (
        <Text size="sm" c="dimmed">
          Only an owner of the organization can change the plan.
        </Text>
      )}
    </Panel>
  );
}

function Subscription({ billing }: { readonly billing: Billing }) {
  if (billing.status === null) return null;
  const isGood = billing.status === 'active' || billing.status === 'trialing';
  return (
    <>
      <Group gap="xs">
        <StateBadge tone={isGood ? 'good' : 'warn'}>{billing.status.replaceAll('_', ' ')}</StateBadge>
        <Text size="sm">{subscriptionText(billing)}</Text>
      </Group>
      {billing.status === 'past_due' && (
        <Alert color="yellow" variant="light">
          The last payment failed. Update the payment method under Manage subscription, or the plan ends.
        </Alert>
      )}
    </>
  );
}

function Ways({ billing }: { readonly billing: Billing }) {
  const [asking, { open, close }] = useDisclosure(false);
  const portal = usePortal();
  const cancel = useCancel(close);
  if (billing.mode === 'stripe' && hasSubscription(billing))
    return (
      <Button
        variant="default"
        rightSection={<IconExternalLink size={16} />}
        loading={portal.isPending}
        onClick={() => portal.mutate()}
      >
        Manage subscription
      </Button>
    );
  if (billing.mode !== 'mock' || billing.plan === 'free') return null;
  return (
    <>
      <Button variant="default" onClick={open}>
        Change to Free
      </Button>
      <Confirm
        title="Change the plan to Free?"
        action="Change to Free"
        opened={asking}
        isBusy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate()}
        onClose={() => {
          cancel.reset();
          close();
        }}
      >
        Applies immediately. Tunnels expire after an hour. You can no longer set up master keys and visitor login, or
        reserve names. Recorded requests older than 7 days are deleted.
      </Confirm>
    </>
  );
}
