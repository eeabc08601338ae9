/** The purchases and their end. A purchase goes on at another address, of the payment provider or of this server. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Failure } from '../../api/failure.ts';
import { useAction } from '../../parts/action.ts';
import { type Cycle, type SoldPlan, webAddress } from './plans.ts';

export interface Purchase {
  readonly plan: SoldPlan;
  readonly billing_cycle: Cycle;
}

export function useCheckout() {
  const { client } = useApi();
  return useAction({
    run: (body: Purchase) => answered(client.POST('/billing/checkout-session', { body })),
    onDone: ({ checkout_url: url }) => goTo(url),
  });
}

export function usePortal() {
  const { client } = useApi();
  return useAction({
    run: () => answered(client.POST('/billing/portal')),
    onDone: ({ portal_url: url }) => goTo(url),
  });
}

/** Back to Free, where no payment provider is involved. */
export function useCancel(onDone: () => void) {
  const { client } = useApi();
  return useAction({
    run: () => answered(client.POST('/billing/cancel')),
    done: 'Plan changed to Free.',
    touches: [['billing'], ['me'], ['orgs']],
    onDone,
    tellsFailure: true,
  });
}

function goTo(url: string): void {
  const address = webAddress(url);
  if (address === undefined)
    throw new Failure({
      status: 200,
      code: 'bad_address',
      message: 'The server returned no checkout URL. Try again, or ask an operator of this server.',
    });
  location.assign(address);
}
