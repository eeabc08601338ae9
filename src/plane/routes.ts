/**
 * What the control plane tells the data plane: routes and their numbered changes. Plain cloneable data only, for one day it
 * crosses a thread or a network.
 */
import type { Protocol } from '../wire/messages.ts';
import type { AccessKey } from './access-keys.ts';
import type { PolicySpec } from './policy.ts';
import type { RelayDevice, RelayEndCode, RelayRoute } from './relays.ts';
import type { Budget } from './spend.ts';

/** One live name at the edge. Replaced whole, never changed in place. */
export interface Route {
  readonly tunnelId: string;
  readonly orgId: string;
  readonly protocol: Protocol;
  /** Full label under the edge's domain, project suffix included. Empty for `tcp`. */
  readonly subdomain: string;
  /** Public port of a `tcp` tunnel; null for the others. */
  readonly tcpPort: number | null;
  readonly publicUrl: string;
  /** Custom domains that lead here too: lower case, ASCII. */
  readonly domains: readonly string[];
  /** Stopped by the API: the name is known, agents are refused. */
  readonly stopped: boolean;
  /** Milliseconds since the epoch, or null. */
  readonly expiresAt: number | null;
  /** Message of the maintenance page, or null when the tunnel is not in maintenance. */
  readonly maintenance: string | null;
  /** What its visitors' requests must pass, and what is set on them; null: nothing. */
  readonly policy: PolicySpec | null;
  /** Requires a user name and a password from visitors; null: no password gate. */
  readonly gate: BasicGate | null;
  /** Requires a login with an identity provider, behind `gate`; null: no visitor gate. */
  readonly visitorGate: VisitorGate | null;
  /** Whether frames of its WebSockets are recorded; left out: as the node's settings say. */
  readonly websocketFrames?: boolean;
}

/** HTTP Basic in front of a tunnel (RFC 7617). */
export interface BasicGate {
  readonly username: string;
  /** Argon2id in PHC form, of the password in Unicode form NFKC. */
  readonly passwordHash: string;
  /** New with each change: it ends the passes of older versions. */
  readonly version: string;
}

/** An identity provider in front of a tunnel. Its lists of visitors stay in the control plane. */
export interface VisitorGate {
  /** New with each change: it ends the passes of older versions. */
  readonly version: string;
  /** Of the API, with the tunnel's id in its query: where browsers begin. */
  readonly signInUrl: string;
}

/** The whole table at one version. */
export interface Snapshot {
  readonly version: number;
  readonly routes: readonly Route[];
  /** This server's own, retired ones too while what they signed may be valid. */
  readonly accessKeys: readonly AccessKey[];
  /** Signs what visitors who have signed in carry (visitor-tokens.ts). Base64url of 32 bytes; the same after a restart. */
  readonly visitorKey: string;
  /** Private networks that this edge relays. */
  readonly relays: readonly RelayRoute[];
  /** Organizations that export their requests: each is reported when it is over (access-log.ts). Left out: there are none. */
  readonly exportingOrgs?: readonly string[];
}

/**
 * One step from `version - 1` to `version`. Numbers only grow: those of a later start of the control plane are above all of an earlier one. They may
 * come in another order; a reader that misses one for good asks for a snapshot, and compares.
 */
export type Delta =
  | { readonly version: number; readonly kind: 'put'; readonly route: Route }
  | {
      readonly version: number;
      readonly kind: 'remove';
      readonly tunnelId: string;
      readonly code: RemovalCode;
      readonly message: string;
    }
  | { readonly version: number; readonly kind: 'revoke_token'; readonly tokenId: string; readonly message: string }
  /** A token ends earlier than its sessions know: it was rotated and has some time left. */
  | { readonly version: number; readonly kind: 'token_ends'; readonly tokenId: string; readonly expiresAt: number }
  /** The access keys were rotated, or an old one has gone: these are all. */
  | { readonly version: number; readonly kind: 'access_keys'; readonly keys: readonly AccessKey[] }
  /** A token allows more, or less, than its sessions know. */
  | { readonly version: number; readonly kind: 'token_limits'; readonly limits: TokenLimits }
  /** Organizations that export their requests: these are all. */
  | { readonly version: number; readonly kind: 'exporting_orgs'; readonly orgIds: readonly string[] }
  /** A cap was set, raised or taken off. */
  | { readonly version: number; readonly kind: 'budget'; readonly budget: Budget }
  /** A private network got a relay, or something of it changed; all of it, its devices too. */
  | { readonly version: number; readonly kind: 'relay'; readonly relay: RelayRoute }
  | {
      readonly version: number;
      readonly kind: 'relay_gone';
      readonly networkId: string;
      readonly code: RelayEndCode;
      readonly message: string;
    }
  /** A device was enrolled or changed. */
  | { readonly version: number; readonly kind: 'device'; readonly networkId: string; readonly device: RelayDevice }
  | { readonly version: number; readonly kind: 'device_gone'; readonly networkId: string; readonly deviceId: string }
  /** Ends the sessions that an organization has now. Not remembered: `admit` decides who may come back. */
  | { readonly version: number; readonly kind: 'cut_org'; readonly orgId: string; readonly message: string };

/** What ends sessions, and can be taken before its turn. */
export type EndingDelta = Extract<Delta, { kind: 'revoke_token' | 'token_ends' | 'cut_org' }>;

export function endsSessions(delta: Delta): delta is EndingDelta {
  return delta.kind === 'revoke_token' || delta.kind === 'token_ends' || delta.kind === 'cut_org';
}

/** Why a route ends; the agent that serves it gets the same code. */
export type RemovalCode = 'tunnel_deleted' | 'tunnel_expired';

/** What of a token's grant its owners may change while it is in use. */
export interface TokenLimits {
  readonly tokenId: string;
  readonly tunnelQuota: number;
  /** Megabits per second, both directions and all sessions of the lineage together; null: no limit. */
  readonly bandwidthLimitMbps: number | null;
}

/** What a token lets a live session do; the data plane holds one per session. */
export interface TokenGrant extends TokenLimits {
  readonly orgId: string;
  /** Shown to the agent: whose key this is. */
  readonly account: string;
  /** The token and those that rotation made of it share one bandwidth limit. */
  readonly lineageId: string;
  /** The token's own account first, then that of the master key which minted it. */
  readonly budgets: readonly Budget[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
