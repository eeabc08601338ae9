/**
 * One tunnel that one agent session serves, and the registry of what each session serves now. The registry is the only writer of `entry.served`;
 * agent.ts calls it, and clean-up goes by the identity of the serving, never by name: what a newer session serves is not touched.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { MuxSession } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { MuxStream } from '../../mux/stream.ts';
import type { AgentEvent } from '../../plane/events.ts';
import { type Narrowing, shownNarrowing } from '../../plane/narrowing.ts';
import type { PresenceEvent } from '../../plane/presence.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { Bound, Claim, RefusalCode, RequestLine } from '../../wire/messages.ts';
import { encodePreamble } from '../../wire/preamble.ts';
import type { Holds } from '../edge/exchange/holds.ts';
import { dropKept, IDLE_MS } from '../edge/exchange/upstream.ts';
import { PathRoutes } from '../edge/path-routes/path-routes.ts';
import { Rewrite } from '../edge/rewrite/rewrite.ts';
import type { Outbox } from '../report/outbox.ts';
import type { UsageMeter } from '../report/meter.ts';
import { type Payer, type RouteEntry, type ServedTunnel, TunnelMeter } from '../routing/entry.ts';

/** The agent's session, as far as what it serves needs it. */
export interface ServingAgent {
  readonly agentId: string;
  readonly tunnelCount: number;
  readonly shaper: Pick<Shaper, 'forgive'>;
  /** A line for the agent's screen. */
  note(line: RequestLine): void;
  /** It serves `serving` no more. `cut` ends its streams in flight too. */
  unbind(serving: Serving, code: RefusalCode, message: string, cut: boolean): void;
}

export class Serving implements ServedTunnel {
  readonly agent: ServingAgent;
  readonly entry: RouteEntry;
  readonly session: MuxSession;
  readonly agentId: string;
  readonly tokenId: string;
  readonly payer: Payer;
  readonly meter = new TunnelMeter();
  readonly slot: number;
  readonly preamble: Buffer;
  readonly idle: MuxStream[] = [];
  readonly resting = new Set<MuxStream>();
  inFlight = 0;
  draining = false;
  cut = false;
  watched: boolean;
  readonly inspected: boolean;
  readonly narrowing: Narrowing | null;
  readonly #claimed: ReturnType<typeof withoutSecrets>;
  readonly rewrite: Rewrite | null;
  readonly routes: PathRoutes | null;
  readonly tunnel = this;
  readonly services: readonly ServedTunnel[];
  readonly idleMs: number;
  /** What its service's refusals mean, as its agent says. */
  advice: AdviceCode | null = null;
  /** Changes of it that go to the control plane. A service changes its mind once or twice; only an agent that is not ours goes on. */
  adviceLeft = 4;

  constructor(of: {
    agent: ServingAgent;
    session: MuxSession;
    payer: Payer;
    entry: RouteEntry;
    slot: number;
    watched: boolean;
    claimed: Claim;
    narrowing: Narrowing | null;
  }) {
    this.agent = of.agent;
    this.entry = of.entry;
    this.session = of.session;
    this.agentId = of.agent.agentId;
    this.tokenId = of.payer.tokenId;
    this.payer = of.payer;
    this.slot = of.slot;
    this.preamble = encodePreamble(of.slot);
    this.watched = of.watched;
    this.inspected = of.claimed.inspect ?? true;
    this.narrowing = of.narrowing;
    this.#claimed = withoutSecrets(of.claimed);
    this.rewrite = Rewrite.of(of.claimed.upstream);
    this.routes = of.claimed.routes === undefined ? null : new PathRoutes(of.claimed.routes, this);
    this.services = this.routes?.services ?? [this];
    this.idleMs = of.claimed.upstream?.keepAliveMs ?? IDLE_MS;
  }

  get isAlone(): boolean {
    return this.agent.tunnelCount === 1;
  }

  forgive(bytes: number): void {
    this.agent.shaper.forgive(bytes);
  }

  note(line: RequestLine): void {
    this.agent.note(line);
  }

  /** Whether `claim` is the one that it answers, once more. Without a name each is one for another tunnel. */
  answers(claim: Claim): boolean {
    const { ref: _own, ...own } = this.#claimed;
    const { ref: _other, ...other } = withoutSecrets(claim);
    return (claim.subdomain !== undefined || claim.tunnelId !== undefined) && isDeepStrictEqual(own, other);
  }

  /** The answer to the claim. */
  bound(ref: number): Bound {
    const { tunnelId, subdomain, publicUrl: url, protocol, expiresAt: ownEnd } = this.entry.route;
    const { slot, narrowing } = this;
    const bound = { type: 'bound', ref, slot, tunnelId, subdomain, url: urlAt(url, narrowing), protocol } as const;
    if (narrowing === null) return { ...bound, expiresAt: ownEnd };
    const { names, endsAt } = narrowing;
    const expiresAt = endsAt === null ? ownEnd : Math.min(endsAt, ownEnd ?? Infinity);
    return { ...bound, expiresAt, narrowed: [...names], ...(endsAt === null ? {} : { ttlEndsAt: endsAt }) };
  }

  /** Tells its agent that another has the tunnel now. */
  supersede(whence: string, nowMs: number): void {
    const at = new Date(nowMs).toISOString();
    const message = `Another agent, on ${whence}, took over ${this.entry.route.publicUrl} at ${at}.`;
    this.agent.unbind(this, 'superseded', message, false);
  }
}

/** New with each process: what is kept of a claim is of no use outside of it. */
const CLAIMS_KEY = randomBytes(32);

/** For comparison: what the flags ask for may hold a password, which is not kept. */
function withoutSecrets({ narrow, ...claim }: Claim): Omit<Claim, 'narrow'> & { narrow?: string } {
  if (narrow === undefined) return claim;
  return { ...claim, narrow: createHmac('sha256', CLAIMS_KEY).update(JSON.stringify(narrow)).digest('base64') };
}

/** The URL with the custom domain that the agent named. */
function urlAt(publicUrl: string, narrowing: Narrowing | null): string {
  const domain = narrowing?.domain ?? null;
  if (domain === null) return publicUrl;
  const { protocol, port } = new URL(publicUrl);
  return `${protocol}//${domain}${port === '' ? '' : `:${port}`}`;
}

export interface ReleaseOptions {
  readonly cut: boolean;
  readonly lost?: boolean;
  readonly restarting?: boolean;
}

/** The servings of all agent sessions of a node. */
export class ServingRegistry {
  readonly #meter: UsageMeter;
  readonly #outbox: Outbox;
  readonly #holds: Holds;
  readonly #onPresence: (event: PresenceEvent) => void;
  readonly #onServed: (entry: RouteEntry) => void;
  readonly #now: () => number;
  readonly #byToken = new Map<string, Set<Serving>>();

  constructor(deps: {
    meter: UsageMeter;
    outbox: Outbox;
    holds: Holds;
    onPresence: (event: PresenceEvent) => void;
    /** Another session serves the entry, or none: what is asked of its visitors follows in the same turn. */
    onServed: (entry: RouteEntry) => void;
    now: () => number;
  }) {
    this.#meter = deps.meter;
    this.#outbox = deps.outbox;
    this.#holds = deps.holds;
    this.#onPresence = deps.onPresence;
    this.#onServed = deps.onServed;
    this.#now = deps.now;
  }

  /** From now on `serving` serves its entry. Returns the one that did so far: its agent must be notified. */
  take(serving: Serving): Serving | null {
    const before = serving.entry.served as Serving | null;
    if (before !== null) this.release(before, { cut: false });
    serving.entry.served = serving;
    serving.entry.inspected = serving.inspected;
    this.#onServed(serving.entry);
    this.#meter.add(serving);
    let ofToken = this.#byToken.get(serving.tokenId);
    if (ofToken === undefined) this.#byToken.set(serving.tokenId, (ofToken = new Set()));
    ofToken.add(serving);
    this.#tell(serving, { online: true });
    this.#holds.came(serving.entry);
    return before;
  }

  /**
   * The end of a serving, once. `cut` ends its streams in flight too; else they go on, and are counted. `lost`: its agent is expected to come back.
   * `restarting`: it leaves because this server does. False when it was over already.
   */
  release(serving: Serving, { cut, lost = false, restarting = false }: ReleaseOptions): boolean {
    const ofToken = this.#byToken.get(serving.tokenId);
    if (!ofToken?.delete(serving)) return false;
    if (ofToken.size === 0) this.#byToken.delete(serving.tokenId);
    serving.cut = cut;
    serving.draining = true;
    if (serving.entry.served === serving) {
      serving.entry.served = null;
      this.#onServed(serving.entry);
      if (lost) this.#holds.lost(serving.entry, serving.tokenId);
      else this.#holds.left(serving.entry);
    }
    dropKept(serving);
    this.#meter.release(serving);
    this.#tell(serving, { online: false, ...(restarting ? { restarting } : {}), ...(lost ? { lost } : {}) });
    return true;
  }

  /** Ids of the tunnels that sessions of this token serve now. */
  tunnelsOf(tokenId: string): string[] {
    return [...(this.#byToken.get(tokenId) ?? [])].map((serving) => serving.entry.route.tunnelId);
  }

  #tell(
    { agentId, entry, inspected, narrowing }: Serving,
    how: Pick<AgentEvent, 'online' | 'restarting' | 'lost'>,
  ): void {
    const { tunnelId } = entry.route;
    const shown = narrowing === null ? {} : { narrowing: shownNarrowing(narrowing) };
    this.#onPresence(
      how.online
        ? { kind: 'serves', agentId, tunnelId, inspected, ...shown }
        : { kind: 'serves_no_more', agentId, tunnelId },
    );
    this.#outbox.addAgent({ kind: 'agent', agentId, tunnelId, at: this.#now(), ...how });
  }
}
