/** What is paid, in a sentence. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { clockText, timeOf } from '../../parts/format.ts';

type Billing = Schemas['Billing'];

/** How plans change hands on this server. */
export function paidText({ mode }: Pick<Billing, 'mode'>): string {
  switch (mode) {
    case 'none':
      return 'No plans are sold on this server. Its operator gives another one.';
    case 'mock':
      return 'This server has no payment provider: plans cost nothing.';
    case 'stripe':
      return 'Paid by the payment provider of this server.';
    default:
      return mode satisfies never;
  }
}

/** "Paid monthly; renews on 2026-12-21." Empty without a subscription. */
export function subscriptionText(
  billing: Pick<Billing, 'billing_cycle' | 'current_period_end' | 'cancel_at_period_end'>,
): string {
  const { billing_cycle: cycle, current_period_end: end, cancel_at_period_end: cancels } = billing;
  const paid = cycle === null ? [] : [`Paid ${cycle}`];
  if (end === null) return paid.length === 0 ? '' : `${paid[0]}.`;
  const day = clockText(timeOf(end)).slice(0, 10);
  const next = cancels ? `ends on ${day} and does not renew` : `renews on ${day}`;
  return `${[...paid, next].join('; ')}.`.replace(/^./, (first) => first.toUpperCase());
}
