/** What traffic costs the budgets of keys, for those who set them. Nothing where no money is meant. */
import type { Prices } from '../../../plane/spend.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import type { BillingMode } from '../../core/rules/plan-gate.ts';

export interface ShownPrices {
  readonly usdCentsPerGb: number | null;
  readonly usdCentsPerMillionRequests: number | null;
}

export class Pricing {
  readonly #shown: ShownPrices;

  constructor({ prices, mode }: { prices: Prices; mode: BillingMode }) {
    const shown = (cents: number): number | null => (mode === 'none' || cents === 0 ? null : cents);
    this.#shown = {
      usdCentsPerGb: shown(prices.centsPerGb),
      usdCentsPerMillionRequests: shown(prices.centsPerMillionRequests),
    };
  }

  /** Throws `forbidden`. */
  get(actor: Actor): ShownPrices {
    allow(actor, 'read', 'token');
    return this.#shown;
  }
}
