/**
 * How a claim is refused: a code that the agent acts on and a line for whoever reads its output. Used by claims.ts and claim-names.ts.
 */
import type { Refusal } from '../../../plane/link.ts';
import { MAX_PER_DAY, MAX_TUNNELS, type RowFault } from './tunnel-rows.ts';

export function refuse(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}

/** Why a new tunnel could not be made, for an agent. */
export function refuseFault(fault: RowFault, label: string): Refusal {
  switch (fault) {
    case 'name_taken':
      return refuse('duplicate_name', `${label} is taken. Choose another subdomain.`);
    case 'other_project':
      return refuse(
        'duplicate_name',
        `${label} ends like the names of another project of this organization. Open it there, or choose another subdomain.`,
      );
    case 'no_port_free':
      return refuse('no_port_free', 'All public TCP ports of this server are taken.');
    case 'too_many':
      return refuse('quota_exceeded', `The organization has ${MAX_TUNNELS} tunnels. Delete some first.`);
    // Not `overloaded`: the agent would come back for up to a day, and a job that opens tunnels in a loop would never hear why.
    case 'too_many_today':
      return refuse(
        'quota_exceeded',
        `The organization made ${MAX_PER_DAY} tunnels in a day. Open those that it has, or wait.`,
      );
    default:
      return fault satisfies never;
  }
}
