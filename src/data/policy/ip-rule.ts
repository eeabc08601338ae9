/** `ip_allow` and `ip_deny`: by the true address of the visitor. */
import { NetworkSet } from '../../base/addr.ts';
import type { IpAction } from '../../plane/policy.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import type { PolicyRequest, Step } from './step.ts';

const DENIED: EdgeRefusal = { code: 'denied', detail: 'This site can not be reached from your address.' };

export function ipStep({ kind, networks }: IpAction): Step {
  const listed = new NetworkSet(networks);
  const refusedWhen = kind === 'ip_deny';
  // What is no address (a socket that is gone, a proxy that writes nonsense) is in no network: not allowed, and not denied either.
  return { decide: ({ clientIp }: PolicyRequest) => (listed.has(clientIp) === refusedWhen ? DENIED : null) };
}
