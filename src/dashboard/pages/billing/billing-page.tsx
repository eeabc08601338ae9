/** The plan of the organization, all plans beside one another, and the ways to buy, change and end one. */
import { Alert, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { CurrentPanel } from './current-panel.tsx';
import { PlansPanel } from './plans-panel.tsx';
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
    <Page title="Billing" about="What the organization's plan includes, and how to change it.">
      <Loaded query={billing}>
        {(data) => (
          <>
            <ReturnNote back={back} billing={data} />
            <CurrentPanel billing={data} />
            <PlansPanel billing={data} />
            <Text size="sm" c="dimmed">
              All plans have any number of tunnels, keys, domains and private networks, within the limits of this
              server.
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
        You have left the checkout: nothing was bought, and nothing has changed.
      </Alert>
    );
  return (
    <Alert color="culvert" variant="light" role="status">
      {plan === 'free'
        ? 'The purchase is complete. The plan changes here as soon as the payment provider has told the server, usually within seconds.'
        : `The purchase is complete: the organization is on ${PLAN_NAMES[plan]}.`}
    </Alert>
  );
}
