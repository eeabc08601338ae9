/**
 * The live agent sessions of this node: who is connected, which token each belongs to, and what a change of a route or a token
 * means for them. It answers the control plane (NodeControl) and listens to the routing table. One per data node.
 */
import { HandshakeRate } from '../../base/net/handshake-rate.ts';
import type { Logger } from '../../base/log.ts';
import type { SessionEndEvent } from '../../plane/events.ts';
import type { AdmitAnswer, ConnectionInfo, Link, NodeControl, Refusal } from '../../plane/link.ts';
import { type Narrowing, type ShownNarrowing, shownNarrowing, TTL_OVER } from '../../plane/narrowing.ts';
import type { PresenceEvent, SessionInfo } from '../../plane/presence.ts';
import type { NodeLoad } from '../../plane/node-load.ts';
import type { RemovalCode, TokenGrant, TokenLimits } from '../../plane/routes.ts';
import type { Budget } from '../../plane/spend.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { Payer, RouteEntry } from '../routing/entry.ts';
import type { RouteTable, TableListener } from '../routing/table.ts';
import type { AgentHost, AgentSession } from './agent.ts';
import { BandwidthShares } from './bandwidth.ts';
import type { Budgets } from './budgets.ts';
import { unservable } from './claims/claims.ts';
import { Recheck } from './recheck.ts';
import { GrantChanges } from './grant-changes.ts';
import { Serving } from './serving.ts';
import type { SessionEnd } from './why-ended.ts';

const DISCONNECTED = 'A member of the organization disconnected this agent';
/** Characters of an end's message: two lines of a screen, and all of a given reason. */
const MAX_END_MESSAGE = 300;
/** Contract §9: after a forced disconnect an agent comes back in about 5 s. */
const KICKED_RETRY_MS = 5_000;
/** Agents of a server that restarts come back at once: the listener paces their handshakes (handshake-pace.ts). */
const COME_BACK_MS = 50;
/** One token may hold a quarter of all sessions, and at least these: it must not block all others. */
const MIN_PER_TOKEN = 16;
/**
 * New sessions of one organization: all agents of a server may come back at once, and this many at least; then so many per second. Each is a
 * handshake and a question to the control plane, and one that shows a good key counts for no address.
 */
const SESSIONS_PER_SECOND = 50;
const MIN_SESSIONS_AT_ONCE = 1_000;
/** Expiry is looked at this often. */
const SWEEP_MS = 1_000;
/** What ends within less than this after a sweep waits for it: ends of many tunnels a millisecond apart are no sweep each. */
const APART_MS = 50;
/** Tokens revoked lately: an answer of the control plane that was under way meanwhile must not let one in. */
const MAX_REVOKED = 10_000;

export interface RegistryDeps {
  readonly link: Pick<Link, 'recheck'>;
  readonly table: RouteTable;
  readonly budgets: Budgets;
  readonly log: Logger;
  readonly now: () => number;
  readonly maxSessions: number;
  readonly onPresence: (event: PresenceEvent) => void;
  /** Told of the end of each session that had entered. */
  readonly onEnd: (event: Omit<SessionEndEvent, 'kind'>) => void;
  /** Called when a socket's session is over, or authenticated (`isGood`): the socket is not anonymous any more. */
  readonly onKnown: (agent: AgentSession, isGood: boolean) => void;
}

export class AgentRegistry
  implements AgentHost, Pick<NodeControl, 'connections' | 'disconnect' | 'isOnline' | 'narrowingOf'>, TableListener
{
  readonly bandwidth = new BandwidthShares();
  readonly changes = new GrantChanges();
  readonly #deps: RegistryDeps;
  readonly #agents = new Map<string, AgentSession>();
  readonly #byToken = new Map<string, Set<AgentSession>>();
  /** By process and organization: an agent that comes again takes the place of its earlier session. */
  readonly #byRun = new Map<string, AgentSession>();
  readonly #revoked = new Set<string>();
  readonly #newSessions: HandshakeRate;
  readonly #recheck: Recheck;
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Goes off at the end that comes first, when that is before the next sweep. */
  #soon: NodeJS.Timeout | undefined;
  #soonAt = Infinity;
  #sweptAt = -Infinity;
  #draining = false;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
    const burst = Math.max(MIN_SESSIONS_AT_ONCE, deps.maxSessions);
    this.#newSessions = new HandshakeRate({ perSecond: SESSIONS_PER_SECOND, burst }, (orgId) => orgId);
    this.#recheck = new Recheck({
      link: deps.link,
      tokens: () => [...this.#byToken.keys()],
      apply: (tokenId, answer) => this.#compare(tokenId, answer),
      log: deps.log,
    });
    this.#unsubscribe = deps.table.subscribe(this);
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  get size(): number {
    return this.#agents.size;
  }

  /** What the sessions carry now. */
  load(): Pick<NodeLoad['agents'], 'sessions' | 'streams' | 'tunnels'> {
    let streams = 0;
    let tunnels = 0;
    for (const agent of this.#agents.values()) {
      streams += agent.streamCount;
      tunnels += agent.tunnelCount;
    }
    return { sessions: this.#agents.size, streams, tunnels };
  }

  // ------------------------------------------------------------------ from sessions

  enter(agent: AgentSession, grant: TokenGrant): Refusal | undefined {
    if (this.#draining) return refusal('server_shutdown', 'The server is shutting down. The agent will reconnect.');
    if (this.#revoked.has(grant.tokenId))
      return refusal('unauthorized', 'The access key was revoked. Create another one.');
    if (grant.expiresAt <= this.#deps.now())
      return {
        ...refusal('unauthorized', 'The access key has expired. Create another one.'),
        expiredAt: grant.expiresAt,
      };
    if (!this.#newSessions.take(grant.orgId, performance.now()))
      return refusal('overloaded', 'The agents of this organization connect too often. Try again in a few seconds.');
    // Before the limits are counted: what it had is given up.
    const run = runOf(agent, grant);
    const before = run === undefined ? undefined : this.#byRun.get(run);
    if (before?.takesMore === true) before.replace();
    if (this.#agents.size >= this.#deps.maxSessions)
      return refusal('overloaded', 'The server has reached its limit of agents. Tell its operator.');
    const { size = 0 } = this.#byToken.get(grant.tokenId) ?? {};
    if (size >= Math.max(MIN_PER_TOKEN, this.#deps.maxSessions / 4))
      return refusal(
        'overloaded',
        'This access key has reached its limit of agents. Use another key, or stop an agent.',
      );
    this.#agents.set(agent.agentId, agent);
    if (run !== undefined) this.#byRun.set(run, agent);
    let ofToken = this.#byToken.get(grant.tokenId);
    if (ofToken === undefined) this.#byToken.set(grant.tokenId, (ofToken = new Set()));
    ofToken.add(agent);
    this.#deps.budgets.enter(grant.tokenId, grant.budgets);
    this.bandwidth.join(agent.shaper, grant);
    this.#endsSoon(grant.expiresAt);
    this.#deps.onKnown(agent, true);
    this.#deps.onPresence({ kind: 'entered', session: sessionOf(agent, grant) });
    return undefined;
  }

  payerOf(tokenId: string): Payer {
    return this.#deps.budgets.payerOf(tokenId);
  }

  left(agent: AgentSession): void {
    this.#deps.onKnown(agent, false);
    if (!this.#agents.delete(agent.agentId)) return;
    this.#deps.onPresence({ kind: 'left', agentId: agent.agentId });
    if (agent.grant === undefined) return;
    const run = runOf(agent, agent.grant);
    if (run !== undefined && this.#byRun.get(run) === agent) this.#byRun.delete(run);
    this.#deps.budgets.leave(agent.grant.tokenId);
    this.bandwidth.leave(agent.shaper);
    const ofToken = this.#byToken.get(agent.grant.tokenId);
    ofToken?.delete(agent);
    if (ofToken?.size === 0) this.#byToken.delete(agent.grant.tokenId);
  }

  ended(agent: AgentSession, { reason, message }: SessionEnd): void {
    if (agent.grant === undefined) return;
    this.#deps.onEnd({
      agentId: agent.agentId,
      orgId: agent.grant.orgId,
      tokenId: agent.grant.tokenId,
      remoteIp: agent.remoteIp,
      hostname: agent.hostname,
      startedAt: agent.connectedAt,
      endedAt: this.#deps.now(),
      reason,
      message: message.slice(0, MAX_END_MESSAGE),
    });
  }

  // ------------------------------------------------------------------ from the control plane

  connections(): ConnectionInfo[] {
    const infos: ConnectionInfo[] = [];
    for (const agent of this.#agents.values()) {
      const grant = agent.grant;
      if (grant === undefined) continue;
      infos.push({
        ...sessionOf(agent, grant),
        tunnelIds: agent.servings.map((serving) => serving.entry.route.tunnelId),
        uninspectedIds: agent.servings.flatMap(({ inspected, entry }) => (inspected ? [] : [entry.route.tunnelId])),
        networkIds: agent.relays.networkIds,
      });
    }
    return infos;
  }

  disconnect(agentId: string, reason?: string): boolean {
    const agent = this.#agents.get(agentId);
    const message = reason === undefined ? `${DISCONNECTED}.` : `${DISCONNECTED}: ${reason}`;
    agent?.end('disconnected', message, { retryAfterMs: KICKED_RETRY_MS });
    return agent !== undefined;
  }

  isOnline(tunnelId: string): boolean {
    return (this.#deps.table.findById(tunnelId)?.served ?? null) !== null;
  }

  narrowingOf(tunnelId: string): ShownNarrowing | undefined {
    const narrowing = this.#deps.table.findById(tunnelId)?.served?.narrowing ?? null;
    return narrowing === null ? undefined : shownNarrowing(narrowing);
  }

  adviceOf(tunnelId: string): AdviceCode | null {
    const serving = this.#deps.table.findById(tunnelId)?.served ?? null;
    return serving instanceof Serving ? serving.advice : null;
  }

  // ------------------------------------------------------------------ from the routing table

  onPut(entry: RouteEntry): void {
    if (entry.served === null) return;
    const refused = unservable(entry, this.#deps.now()) ?? ended(entry.served.narrowing, this.#deps.now());
    if (refused !== undefined) return unbind(entry, refused.code, refused.message);
    if (entry.route.expiresAt !== null) this.#endsSoon(entry.route.expiresAt);
    const endsAt = entry.served.narrowing?.endsAt ?? null;
    if (endsAt !== null) this.#endsSoon(endsAt);
  }

  onRemove(entry: RouteEntry, code: RemovalCode, message: string): void {
    unbind(entry, code, message);
  }

  onRevoke(tokenId: string, message: string): void {
    if (this.#revoked.size >= MAX_REVOKED)
      for (const oldest of this.#revoked.keys()) {
        this.#revoked.delete(oldest);
        break;
      }
    this.#revoked.add(tokenId);
    for (const agent of [...(this.#byToken.get(tokenId) ?? [])]) agent.end('unauthorized', message);
  }

  /** A grant that is on its way may hold the old cap: it is asked for again. */
  onBudget(budget: Budget): void {
    this.changes.add(budget.accountId);
    this.#deps.budgets.change(budget);
  }

  /** Applies at once; a grant that is on its way is asked for again. */
  onTokenLimits(limits: TokenLimits): void {
    this.changes.add(limits.tokenId);
    for (const agent of this.#byToken.get(limits.tokenId) ?? []) {
      const grant = agent.limit(limits);
      if (grant !== undefined) this.bandwidth.change(agent.shaper, grant);
    }
  }

  /** A grant that is on its way may hold the later end: it is asked for again. */
  onTokenEnds(tokenId: string, expiresAt: number): void {
    this.changes.add(tokenId);
    for (const agent of this.#byToken.get(tokenId) ?? [])
      agent.endsAt(expiresAt, 'The access key was rotated. Use the new one.');
    this.#endsSoon(expiresAt);
  }

  onCutOrg(orgId: string, message: string): void {
    this.changes.add(orgId);
    for (const agent of [...this.#agents.values()]) {
      if (agent.grant?.orgId === orgId) agent.end('forbidden', message);
    }
  }

  /** Revocations may have been missed: the control plane is asked about the keys of all sessions, which go on meanwhile. */
  onReload(): void {
    this.changes.addAll();
    this.#deps.log.info(
      { keys: this.#byToken.size },
      'missed some route changes: checking the access keys of live sessions',
    );
    this.#recheck.begin();
  }

  #compare(tokenId: string, answer: AdmitAnswer): void {
    if (answer.ok) {
      const { budgets, expiresAt } = answer.grant;
      for (const budget of budgets) this.#deps.budgets.change(budget);
      this.onTokenLimits(answer.grant);
      this.onTokenEnds(tokenId, expiresAt);
    } else if (answer.code === 'unauthorized') this.onRevoke(tokenId, answer.message);
    else for (const agent of [...(this.#byToken.get(tokenId) ?? [])]) agent.end(answer.code, answer.message);
  }

  // ------------------------------------------------------------------

  /** Ends what is over by the clock: sessions of expired tokens, servings of expired tunnels. */
  sweep(): void {
    this.#deps.budgets.sweep();
    this.bandwidth.sweep();
    const now = this.#deps.now();
    this.#sweptAt = now;
    for (const agent of [...this.#agents.values()]) {
      if (agent.grant !== undefined) {
        if (agent.grant.expiresAt <= now) {
          agent.end('unauthorized', agent.endMessage);
          continue;
        }
        this.#endsSoon(agent.grant.expiresAt);
      }
      for (const serving of agent.servings) this.onPut(serving.entry);
    }
  }

  /** Something is over at `endMs`. The regular sweep sees what is further away; a clock that jumps only makes it come later. */
  #endsSoon(endMs: number): void {
    const atMs = Math.max(endMs, this.#sweptAt + APART_MS);
    const inMs = atMs - this.#deps.now();
    if (inMs > SWEEP_MS || atMs >= this.#soonAt) return;
    clearTimeout(this.#soon);
    this.#soonAt = atMs;
    this.#soon = setTimeout(
      () => {
        this.#soonAt = Infinity;
        this.sweep();
      },
      Math.max(1, inMs),
    );
    this.#soon.unref();
  }

  /** Lets no session in any more and asks the live ones to finish and come back. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (const agent of [...this.#agents.values()])
      agent.drain(spread(0, COME_BACK_MS), 'The server is shutting down. The agent will reconnect.');
  }

  /** Ends all sessions. Resolves when each has been notified, or can't be. */
  async close(): Promise<void> {
    this.#draining = true;
    clearInterval(this.#timer);
    this.#recheck.close();
    clearTimeout(this.#soon);
    this.#unsubscribe();
    const agents = [...this.#agents.values()];
    for (const agent of agents) {
      agent.end('server_shutdown', 'The server is shutting down. The agent will reconnect.', {
        retryAfterMs: spread(0, COME_BACK_MS),
      });
    }
    await Promise.all(agents.map((agent) => agent.closed));
  }
}

function sessionOf(agent: AgentSession, { orgId, tokenId }: TokenGrant): SessionInfo {
  const { agentId, remoteIp, hostname, version, connectedAt } = agent;
  return { agentId, orgId, tokenId, remoteIp, hostname, version, connectedAt };
}

/** Within an organization, for a process may say whatever it likes; a rotated key is the same agent's. */
function runOf({ run }: AgentSession, { orgId }: TokenGrant): string | undefined {
  return run === undefined ? undefined : `${orgId} ${run}`;
}

function unbind(entry: RouteEntry, code: Refusal['code'], message: string): void {
  const serving = entry.served as Serving | null;
  serving?.agent.unbind(serving, code, message, true);
}

/** Why a session whose flags set an end serves the tunnel no longer. */
function ended(narrowing: Narrowing | null, nowMs: number): Refusal | undefined {
  const endsAt = narrowing?.endsAt ?? null;
  return endsAt === null || endsAt > nowMs ? undefined : refusal('tunnel_expired', TTL_OVER);
}

function spread(leastMs: number, spreadMs: number): number {
  return Math.round(leastMs + Math.random() * spreadMs);
}

function refusal(code: Refusal['code'], message: string): Refusal {
  return { ok: false, code, message };
}
