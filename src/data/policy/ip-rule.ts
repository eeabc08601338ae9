/** `ip_allow` and `ip_deny`: by the true address of the visitor. */
import { NetworkSet } from '../../base/addr.ts';
import type { IpAction } from '../../plane/policy.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import type { PolicyRequest, Step } from './step.ts';

const DENIED: EdgeRefusal = { code: 'denied', detail: 'This site can not be reached from your address.' };

/** Whether a visitor of this address is kept out. */
export function addressRule({ kind, networks }: IpAction): (ip: string) => boolean {
  const listed = new NetworkSet(networks);
  const refusedWhen = kind === 'ip_deny';
  // What is no address (a socket that is gone, a proxy that writes nonsense) is in no network: not allowed, and not denied either.
  return (ip) => listed.has(ip) === refusedWhen;
}

export function ipStep(action: IpAction): Step {
  const isKeptOut = addressRule(action);
  return { decide: ({ clientIp }: PolicyRequest) => (isKeptOut(clientIp) ? DENIED : null) };
}
