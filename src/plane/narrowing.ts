/**
 * What an agent's flags add in front of its tunnel, as the control plane has checked it (control/tunnels/narrowing). It goes with the claim's
 * answer to the session that serves the tunnel, and ends with that session. Plain data.
 */
import type { Actions, IpAction, PolicyAction } from './policy.ts';
import type { BasicGate, Route, VisitorGate } from './routes.ts';

export interface Narrowing {
  /** Keys of `claim.narrow` that this stands for. */
  readonly names: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly gate: BasicGate | null;
  readonly policy: Actions | null;
  readonly visitors: AddedVisitors | null;
  /** Milliseconds since the epoch: the session serves the tunnel no longer. */
  readonly endsAt: number | null;
  /** The custom domain whose tunnel is served: lower case. */
  readonly domain: string | null;
  /** The public port of a tcp tunnel. */
  readonly remotePort: number | null;
  readonly webhook: WebhookGate | null;
}

/** Requests must be signed by this sender (src/signatures). */
export interface WebhookGate {
  readonly kind: string;
  readonly secrets: readonly string[];
}

/** What an agent reports at the end that its flags set. */
export const TTL_OVER = 'The time of --ttl is over. Start the agent again to publish the service again.';

/** Visitors that must log in: their lists, which the control plane compares, and the gate. */
export interface AddedVisitors extends Pick<VisitorGate, 'version'> {
  /** Where browsers begin, without the tunnel in its query. */
  readonly startUrl: string;
  readonly allowedDomains: readonly string[];
  readonly allowedEmails: readonly string[];
}

/** Without secrets: what API and dashboard show. */
export interface ShownNarrowing extends Omit<Narrowing, 'names' | 'gate' | 'webhook'> {
  readonly username: string | null;
  readonly webhookKind: string | null;
}

export function shownNarrowing({ names: _names, gate, webhook, ...shown }: Narrowing): ShownNarrowing {
  return { ...shown, username: gate?.username ?? null, webhookKind: webhook?.kind ?? null };
}

/** Its actions, for the chain of the tunnel. */
export function actionsOf({ allow, deny, policy }: Narrowing): readonly PolicyAction[] {
  return [...addresses('ip_allow', allow), ...addresses('ip_deny', deny), ...(policy?.actions ?? [])];
}

function addresses(kind: IpAction['kind'], networks: readonly string[]): readonly IpAction[] {
  return networks.length === 0 ? [] : [{ kind, networks, enforce: true }];
}

/** The login of visitors who must be on the lists of the tunnel and on those of its agent. Its version changes with either. */
export function bothVisitors(
  { tunnelId, visitorGate: own }: Pick<Route, 'tunnelId' | 'visitorGate'>,
  added: AddedVisitors | null,
): VisitorGate | null {
  if (added === null) return own;
  const { version, startUrl } = added;
  return own === null
    ? { version, signInUrl: `${startUrl}?tunnel_id=${tunnelId}` }
    : { ...own, version: bothVersions(own.version, version) };
}

export function bothVersions(own: string, added: string): string {
  return `${own}+${added}`;
}
