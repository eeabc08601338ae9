/** What the plan does not have, with the way to one that does. */
import { Alert, Anchor } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

export function PlanLink({ children }: { readonly children: ReactNode }) {
  return (
    <Alert color="culvert" variant="light" icon={<IconSparkles size={18} />}>
      {children}{' '}
      <Anchor component={Link} href="/billing" inherit underline="always">
        See the plans
      </Anchor>
    </Alert>
  );
}
