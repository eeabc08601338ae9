/** `rate_limit` as a step. Its windows outlive a change of other actions: see compile.ts. */
import type { EdgeRefusal } from '../faults/fault.ts';
import type { RateLimit } from './rate-limit.ts';
import type { PolicyRequest, Step } from './step.ts';

export function rateStep(limit: RateLimit): Step {
  return {
    decide: ({ clientKey, nowMs }: PolicyRequest): EdgeRefusal | null => {
      // A household or a machine has one IPv4 address, or one IPv6 /64 network.
      const waitSeconds = limit.take(clientKey, nowMs);
      return waitSeconds === 0 ? null : { code: 'rate_limited', fields: [`Retry-After: ${waitSeconds}`] };
    },
  };
}
