/**
 * For events of the payment provider that never came: a server that was down for longer than the provider tries, an endpoint that is not set
 * up, a secret that does not fit. What they would have told is asked for. Called by paid-billing.ts, for control/core/jobs.ts.
 */
import type { Logger } from '../../base/log.ts';
import type { Store } from '../db/tx.ts';
import { CustomerGone } from '../providers/payments.ts';
import { dueSubscriptions, type SubscriptionRow, updateSubscription } from './subscription-rows.ts';
import type { SubscriptionSync } from './subscription-sync.ts';

/** Questions of one run, one after the other: each takes the provider a quarter of a second. */
const BATCH = 100;

export interface MissedEventsDeps {
  readonly store: Store;
  readonly sync: SubscriptionSync;
  readonly log: Logger;
}

/**
 * Reads a bounded batch of subscriptions again, those that are due first. The first question that fails ends the run: the rest comes in the
 * next one, and the one that failed behind all others. Returns how many were asked for. Throws nothing that the provider does.
 */
export async function rereadDue({ store, sync, log }: MissedEventsDeps, signal: AbortSignal): Promise<number> {
  const due = dueSubscriptions(store.db, store.clock.now(), BATCH);
  let asked = 0;
  for (const row of due) {
    if (signal.aborted) return asked;
    asked += 1;
    try {
      const after = await sync.reread(row.orgId);
      if (after !== undefined && differs(row, after)) {
        const { orgId, status: from } = row;
        log.warn(
          { orgId, from, to: after.status },
          'a subscription changed without an event. Check that the payment provider sends events to /billing/webhook',
        );
      }
    } catch (error) {
      // The database is closed by then.
      if (signal.aborted) return asked;
      store.inTx((tx) => updateSubscription(tx, row, {}));
      if (!(error instanceof CustomerGone)) {
        log.warn({ err: error, orgId: row.orgId }, 'could not reload a subscription: retrying later');
        return asked;
      }
      // Not taken for an end of payments: with the keys of another account every customer is lost, and every plan would be.
      log.warn(
        { orgId: row.orgId, customer: row.customerId },
        'the payment provider no longer knows this customer, so the plan stays. Check whether the keys belong to another account',
      );
    }
  }
  return asked;
}

function differs(a: SubscriptionRow, b: SubscriptionRow): boolean {
  const said = ({ subscriptionId, status, plan, cycle, currentPeriodEndsAt, cancels }: SubscriptionRow) =>
    JSON.stringify([subscriptionId, status, plan, cycle, currentPeriodEndsAt, cancels]);
  return said(a) !== said(b);
}
