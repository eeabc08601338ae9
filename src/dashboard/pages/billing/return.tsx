/** The result of a checkout, by the address that the payment provider returns the user to. */
import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Schemas } from '../../api/types.ts';
import { PLAN_NAMES } from './plans.ts';

export type Back = 'done' | 'cancelled';

/** How they came back, if they did. It is taken out of the address, so that it is said once. */
export function useReturn(): Back | undefined {
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

export function ReturnNote({ back, billing: { plan } }: ReturnNoteProps) {
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
