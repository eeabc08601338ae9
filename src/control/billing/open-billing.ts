/** Options → billing: which till this server has. Called by index.ts. */
import { StripePayments, type StripeOptions } from '../providers/stripe.ts';
import { Billing } from './service.ts';
import { MockBilling, type MockBillingDeps } from './mock-billing.ts';
import { PaidBilling, type PaidBillingDeps } from './paid-billing.ts';
import type { Prices } from './subscription-sync.ts';
import { ProviderQueue } from './provider-queue.ts';

export type BillingOptions =
  | { readonly mode: 'mock' | 'none' }
  | ({ readonly mode: 'stripe'; readonly prices: Prices } & StripeOptions);

type Deps = MockBillingDeps & Omit<PaidBillingDeps, 'provider' | 'prices' | 'queue'>;

export function openBilling(options: BillingOptions, deps: Deps): Billing {
  const common = { store: deps.store, apiUrl: deps.apiUrl };
  switch (options.mode) {
    case 'mock':
      return new Billing({ ...common, till: { mode: 'mock', mock: new MockBilling(deps) } });
    case 'stripe': {
      const { prices, ...account } = options;
      const provider = new StripePayments(account);
      const paid = new PaidBilling({ ...deps, provider, prices, queue: new ProviderQueue() });
      return new Billing({ ...common, till: { mode: 'stripe', paid } });
    }
    case 'none':
      return new Billing({ ...common, till: { mode: 'none' } });
    default:
      return options satisfies never;
  }
}
