/** `ip_allow` and `ip_deny`: by the true address of the visitor. */
import { isIP } from 'node:net';
import { NetworkSet } from '../../base/net/addr.ts';
import type { IpAction } from '../../plane/policy.ts';
import type { EdgeRefusal } from '../faults/fault.ts';
import type { PolicyRequest, Step } from './step.ts';

const DENIED: EdgeRefusal = { code: 'denied', detail: 'The policy of this site blocks your address.' };

/** Whether a visitor of this address is kept out. */
export function addressRule({ kind, networks }: IpAction): (ip: string) => boolean {
  const listed = new NetworkSet(networks);
  const refusedWhen = kind === 'ip_deny';
  // A value that is no address (a trusted proxy may write one) may be any of the blocked ones.
  return (ip) => isIP(ip) === 0 || listed.has(ip) === refusedWhen;
}

export function ipStep(action: IpAction): Step {
  const isKeptOut = addressRule(action);
  return { decide: ({ clientIp }: PolicyRequest) => (isKeptOut(clientIp) ? DENIED : null) };
}
