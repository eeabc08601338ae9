/**
 * What an agent's flags add in front of its tunnel, as the control plane has checked it (control/tunnels/narrowing). It goes with the claim's
 * answer to the session that serves the tunnel, and ends with that session. Plain data.
 */
import type { IpAction, PolicyAction } from './policy.ts';

export interface Narrowing {
  /** Keys of `claim.narrow` that this stands for. */
  readonly names: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Without secrets: what API and dashboard show. */
export interface ShownNarrowing {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export function shownNarrowing({ allow, deny }: Narrowing): ShownNarrowing {
  return { allow, deny };
}

/** Its actions, for the chain of the tunnel. */
export function actionsOf({ allow, deny }: Narrowing): readonly PolicyAction[] {
  return [...addresses('ip_allow', allow), ...addresses('ip_deny', deny)];
}

function addresses(kind: IpAction['kind'], networks: readonly string[]): readonly IpAction[] {
  return networks.length === 0 ? [] : [{ kind, networks, enforce: true }];
}
