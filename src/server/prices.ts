/** Settings → what traffic costs. Both planes count in it. */
import type { Settings } from '../config/schema.ts';
import type { Prices } from '../plane/spend.ts';

export function pricesOf({ pricing }: Settings): Prices {
  return {
    centsPerGb: pricing.usd_cents_per_gb,
    centsPerMillionRequests: pricing.usd_cents_per_million_requests,
  };
}
