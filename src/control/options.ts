/**
 * Settings of the control plane, as options. Made by server/control-plane.ts and by tests; read by control/parts/.
 */
import type { PortRange } from '../base/net/addr.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Prices } from '../plane/spend.ts';
import type { MinFree } from './db/disk/floor.ts';
import type { GithubOptions } from './providers/github.ts';
import type { OidcOptions } from './providers/oidc.ts';
import type { BillingOptions } from './billing/open-billing.ts';
import type { AcmeSetup } from './certificates/setup.ts';
import type { ReplayRules } from './inspector/replay/service.ts';
import type { PublicNames } from './core/link/route-events.ts';
import type { NewOrgRules } from './organizations/rows.ts';
import type { PasswordHasher } from './core/secrets/passwords.ts';

export interface ControlOptions {
  readonly dataDir: string;
  readonly tcpPorts: PortRange | null;
  /** Relay ports of private networks (`edge.udp_ports`). */
  readonly udpPorts: PortRange | null;
  readonly names: PublicNames;
  /** `edge.domain`. */
  readonly edgeDomain: string;
  /** `agents.public_address`, without its port. */
  readonly agentsHost: string;
  /** Where certificates of the edge come from; null unless `edge.tls.mode` is "acme". */
  readonly acme: AcmeSetup | null;
  /** DNS servers that are asked about custom domains (`dns.resolvers`); empty: the system's. */
  readonly dnsResolvers: readonly string[];
  /** May keys of JWTs be fetched from private addresses (`edge.allow_private_jwks`)? */
  readonly allowPrivateJwks: boolean;
  /** What traffic costs (`pricing`). */
  readonly prices: Prices;
  /** Are requests recorded at all (`inspector.enabled`)? */
  readonly recordsRequests: boolean;
  /** What recorded requests may take on the disk (`inspector.max_stored_mb`). */
  readonly maxRecordedBytes: number;
  /** So much of the disk stays free of them, bytes (`inspector.min_free_mb`). */
  readonly minFree: MinFree;
  /** Whose recorded requests may be sent again (`inspector.replay`, `inspector.replay_allow`). */
  readonly replay: ReplayRules;
  /** How plans change hands (`billing`). */
  readonly billing: BillingOptions;
  /** What a new organization starts with (`plans.default`, `accounts.require_approval`). */
  readonly newOrg: NewOrgRules;
  /** May strangers make accounts (`accounts.signup`)? */
  readonly signup: 'open' | 'closed';
  /** Identity providers that are set up. */
  readonly oauth: { readonly google: OidcOptions | null; readonly github: GithubOptions | null };
  /** Which of them says who visitors of tunnels are (`edge_auth.provider`). */
  readonly visitorProvider: 'google' | 'github';
  /** Public URL of the API; asked at each use, for a listener on port 0 learns its own late. */
  readonly apiUrl: () => string;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Computes argon2id; threads of its own unless it is given. Called once, and closed with all else. */
  readonly makeHasher?: (() => PasswordHasher) | undefined;
}
