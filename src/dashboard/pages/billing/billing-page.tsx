/** The billing page: the current plan, all plans, and the result of a checkout. */
import { Alert, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { CurrentPanel } from './current-panel.tsx';
import { IncludedPanel, PlansPanel } from './plans-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';
import { PLAN_NAMES } from './plans.ts';

/** After a purchase the payment provider tells the server within seconds. */
const SOON_MS = 3000;

export function BillingPage() {
  const { client } = useApi();
  const back = useReturn();
  const billing = useQuery({
    queryKey: ['billing'],
    queryFn: ({ signal }) => answered(client.GET('/billing', { signal })),
    refetchInterval: back === 'done' ? SOON_MS : false,
  });
  return (
    <Page title="Billing" about="The organization's plan, and what it includes.">
      <Loaded query={billing}>
        {(data) => (
          <>
            <ReturnNote back={back} billing={data} />
            <CurrentPanel billing={data} />
            <UsagePanel />
            {data.mode === 'none' ? <IncludedPanel billing={data} /> : <PlansPanel billing={data} />}
            <Text size="sm" c="dimmed">
              All plans include unlimited tunnels, keys, domains and private networks, within the limits of this server.
            </Text>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The result of a checkout, by the address that the payment provider returns the user to. */
type Back = 'done' | 'cancelled';

/** How they came back, if they did. It is taken out of the address, so that it is said once. */
function useReturn(): Back | undefined {
  const [back] = useState(readReturn);
  useEffect(() => {
    const here = new URL(location.href);
    if (!here.searchParams.has('billing')) return;
    here.searchParams.delete('billing');
    history.replaceState(history.state, '', here);
  }, []);
  return back;
}

function readReturn(): Back | undefined {
  const said = new URL(location.href).searchParams.get('billing');
  return said === 'done' || said === 'cancelled' ? said : undefined;
}

interface ReturnNoteProps {
  readonly back: Back | undefined;
  readonly billing: Schemas['Billing'];
}

function ReturnNote({ back, billing: { plan } }: ReturnNoteProps) {
  const queries = useQueryClient();
  // What the plan includes is shown on other pages too: their answers were given before the purchase.
  useEffect(() => {
    if (back === 'done' && plan !== 'free') void queries.invalidateQueries({ queryKey: ['me'] });
  }, [back, plan, queries]);
  if (back === undefined) return null;
  if (back === 'cancelled')
    return (
      <Alert color="gray" variant="light" role="status">
        Checkout canceled. No changes were made.
      </Alert>
    );
  return (
    <Alert color="culvert" variant="light" role="status">
      {plan === 'free'
        ? 'Purchase complete. The plan changes when the payment provider confirms the payment, usually within seconds.'
        : `Purchase complete. Plan changed to ${PLAN_NAMES[plan]}.`}
    </Alert>
  );
}
