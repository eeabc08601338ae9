/** Plans and what is paid for them. */
import { lt } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import { forgetRows } from '../core/retention.ts';
import type { Slice } from '../core/slice.ts';
import { billingEvents } from '../db/schema.ts';
import { organizations } from '../organizations/index.ts';
import { type BillingOptions, openBilling } from './open-billing.ts';
import { mountBilling } from './routes.ts';
import type { Billing } from './service.ts';

/** A payment provider sends an event again for some days. */
const EVENT_DAYS = 30;

export interface BillingSliceOptions {
  /** How plans change hands (`billing`). */
  readonly billing: BillingOptions;
}

export interface BillingServices {
  readonly billing: Billing;
}

export const billing: Slice<BillingServices, BillingSliceOptions> = {
  name: 'billing',
  service: (core, use, options) => {
    const { store, keys, clock, apiUrl, drains, log } = core;
    const of = openBilling(options.billing, { store, keys, clock, issuer: apiUrl, apiUrl, drains, log });
    use(organizations).organizations.guardDeletions((orgId, work) => of.deleting(orgId, work));
    return { billing: of };
  },
  routes: mountBilling,
  jobs: ({ billing: of }) => [
    { name: 'missed events of the payment provider', everyMs: 600_000, run: (stopping) => of.rereadDue(stopping) },
  ],
  forget: [
    forgetRows(billingEvents, billingEvents.id, (now) => lt(billingEvents.receivedAt, now - EVENT_DAYS * DAY_MS)),
  ],
};
