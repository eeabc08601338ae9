/**
 * Keeps an agent's session up and its tunnels bound and networks attached: connect, ask, back off, come back, drain. All decisions are here and
 * in codes.ts; connections are below `OpenChannel`, screens and logs above `onEvent`.
 *
 *   connecting ──welcome──► online ──lost / bye retry / drain──► waiting ──timer, retryNow──► connecting
 *       └────────failed───────────────────────────────────────────┘
 *   any ──bye or refusal that ends the last tunnel, drain(), destroy()──► stopped
 */
import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { TurnEnd } from '../base/turn.ts';
import {
  type Attached,
  type Bound,
  DRAIN_MS,
  HELLO_TIMEOUT_MS,
  MAX_TUNNELS_PER_AGENT,
  type RequestLine,
  WIRE_VERSION,
} from '../wire/messages.ts';
import type { Agent, AgentOptions } from './agent-options.ts';
import { Backoff } from './backoff.ts';
import { type AgentExitCode, fateOf } from './codes.ts';
import type { AgentEvent, AgentState, AgentView, ExitReason, RelayPath } from './events.ts';
import { Lookout, UnreachableError } from './lookout.ts';
import { Relay, type RelayOwner } from './relay/relay.ts';
import { type Cancel, type Schedule, systemSchedule } from './schedule.ts';
import { type Bye, Session, type SessionOwner, type Welcome } from './session.ts';
import { ShownKey } from './shown-key.ts';
import type { Refusal, Standing } from './standing.ts';
import type { LocalTarget } from './target.ts';
import { Tunnel } from './tunnel.ts';

export type { Agent, AgentOptions };

/** A session that lasted this long was a good one: the waits start again at 0.5 s. */
const STEADY_MS = 10_000;
/** Whoever rotates a key writes its file after the server has taken the old one back: the agent looks after this, once. */
const KEY_CHANGE_MS = 1_000;

/** Starts an agent. Throws RangeError when it has neither tunnel nor relay, or too many. */
export function startAgent(options: AgentOptions): Agent {
  const count = options.tunnels.length + (options.relays?.length ?? 0);
  if (count < 1 || count > MAX_TUNNELS_PER_AGENT) {
    throw new RangeError(`an agent carries 1 to ${MAX_TUNNELS_PER_AGENT} tunnels and networks`);
  }
  const supervisor = new Supervisor(options);
  supervisor.connect();
  return supervisor;
}

class Supervisor implements Agent, SessionOwner, RelayOwner {
  readonly done: Promise<ExitReason>;
  readonly #options: AgentOptions;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #schedule: Schedule;
  readonly #backoff: Backoff;
  readonly #lookout: Lookout;
  readonly #tunnels: readonly Tunnel[];
  readonly #relays: readonly Relay[];
  /** Both. */
  readonly #wanted: readonly Standing[];
  readonly #resolve: (reason: ExitReason) => void;
  readonly #key: ShownKey;

  #state: AgentState = 'connecting';
  #session: Session | undefined;
  /** Sessions that the server wants gone: they finish what is in flight. Each is bounded by DRAIN_MS. */
  readonly #leaving = new Map<Session, Cancel>();
  #attempt: AbortController | undefined;
  #timer: Cancel | undefined;
  #retryAt: number | undefined;
  #account: string | undefined;
  #welcomedAt: number | undefined;
  /** What was last said about why there is no session; said again only when it changes. */
  #cause: string | undefined;
  /** What it ends with once draining is over. */
  #ending: ExitReason = { code: 0, message: 'stopped' };

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? systemSchedule;
    const random = options.random ?? Math.random;
    this.#key = new ShownKey(options.token);
    this.#backoff = new Backoff(random);
    this.#lookout = new Lookout(this.#schedule, random, options.reach);
    this.#tunnels = options.tunnels.map((spec) => new Tunnel(spec, random));
    const floor = { log: this.#log, clock: this.#clock, schedule: this.#schedule, turn: new TurnEnd() };
    this.#relays = (options.relays ?? []).map((spec) => new Relay(spec, { floor, owner: this, random }));
    this.#wanted = [...this.#tunnels, ...this.#relays];
    const { promise, resolve } = Promise.withResolvers<ExitReason>();
    this.done = promise;
    this.#resolve = resolve;
  }

  view(): AgentView {
    let inFlight = this.#session?.inFlight ?? 0;
    for (const session of this.#leaving.keys()) inFlight += session.inFlight;
    return {
      state: this.#state,
      server: this.#options.server,
      account: this.#account,
      rttMs: this.#session?.channel?.rttMs,
      inFlight,
      cause: this.#cause,
      retryAt: this.#retryAt,
      tunnels: this.#tunnels.map((tunnel) => tunnel.view()),
      relays: this.#relays.map((relay) => relay.view()),
    };
  }

  connect(): void {
    this.#cancelTimer();
    this.#state = 'connecting';
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#tryConnect(attempt).catch((error: unknown) => {
      if (this.#attempt === attempt) this.#failed(error);
    });
  }

  async #tryConnect(attempt: AbortController): Promise<void> {
    const token = await this.#key.next();
    if (attempt.signal.aborted) return;
    if (token === undefined) return this.#endAll({ code: 3, message: this.#key.refusal });
    const session = new Session(this);
    const channel = await this.#options.open(session, attempt.signal);
    if (attempt.signal.aborted) return channel.destroy();
    this.#attempt = undefined;
    this.#session = session;
    this.#timer = this.#schedule.after(HELLO_TIMEOUT_MS, () => {
      session.destroy();
      this.onLost(session, `the server did not answer hello within ${HELLO_TIMEOUT_MS / 1000} s`);
    });
    session.greet(channel, { type: 'hello', version: WIRE_VERSION, token, agent: this.#options.identity, clear: true });
  }

  #failed(error: unknown): void {
    this.#attempt = undefined;
    this.#wait(this.#backoff.next(), messageOf(error));
    if (error instanceof UnreachableError) this.#lookout.watch(error.place, () => this.connect());
  }

  #wait(ms: number, cause: string): void {
    this.#cancelTimer();
    this.#state = 'waiting';
    this.#retryAt = this.#clock.now() + ms;
    this.#timer = this.#schedule.after(ms, () => this.connect());
    if (cause === this.#cause) return this.#log.debug({ cause, inMs: ms }, 'still no session');
    this.#cause = cause;
    this.#log.warn({ cause, inMs: ms }, 'no session; trying again');
    this.#emit({ kind: 'retrying', cause, inMs: ms });
  }

  retryNow(): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    this.#backoff.reset();
    if (this.#state === 'online') {
      for (const wanted of this.#wanted) if (wanted.state === 'waiting') this.#askAgain(wanted);
      for (const relay of this.#relays) relay.tryNow();
      return;
    }
    this.#attempt?.abort();
    this.#session?.destroy();
    this.#session = undefined;
    this.connect();
  }

  // --- what the session tells

  onWelcome(session: Session, welcome: Welcome): void {
    if (session !== this.#session) return;
    this.#cancelTimer();
    this.#state = 'online';
    this.#cause = undefined;
    this.#account = welcome.account;
    this.#welcomedAt = this.#clock.monotonic();
    const { agentId, account, serverVersion } = welcome;
    this.#log.info({ agentId, account, serverVersion, address: session.channel?.address }, 'connected');
    this.#emit({ kind: 'online', agentId, account, serverVersion });
    if (this.#options.watch === true) session.watch(true);
    for (const wanted of this.#wanted) {
      if (wanted.state === 'ended') continue;
      wanted.cancelRetry();
      session.ask(wanted);
    }
  }

  onBound(session: Session, tunnel: Tunnel, bound: Bound): void {
    if (session !== this.#session) return;
    tunnel.setBound(bound);
    this.#log.info({ tunnel: tunnel.spec.name, url: bound.url, target: tunnel.spec.target.text }, 'tunnel is live');
    this.#emit({ kind: 'tunnel_online', tunnel: tunnel.view() });
  }

  onAttached(session: Session, relay: Relay, attached: Attached): void {
    if (session !== this.#session) return;
    relay.setAttached(attached);
    this.#emit({ kind: 'relay_online', relay: relay.view() });
    relay.carry(session.channel?.remote);
  }

  onPath(relay: Relay, path: RelayPath, why: string): void {
    this.#emit({ kind: 'relay_path', relay: relay.view(), path, why });
  }

  onRefused(session: Session, wanted: Standing, refusal: Refusal): void {
    if (session !== this.#session) return;
    const { code, message } = refusal;
    const fate = fateOf(code, wanted.noun);
    const final = fate.kind !== 'retry';
    const isNews = wanted.state === 'online' || wanted.reason !== message;
    wanted.setAway(final ? 'ended' : 'waiting', message);
    if (isNews) {
      this.#log.warn({ [wanted.noun]: wanted.spec.name, code, reason: message, final }, `${wanted.noun} refused`);
      this.#emit(wanted.refusedEvent(refusal, final));
    }
    if (fate.kind === 'stop') return this.#finish({ code: fate.exit, message });
    if (fate.kind === 'end') return this.#finishWhenEmpty(fate.exit, message);
    const ms = fate.afterMs === undefined ? wanted.backoff.next() : this.#backoff.about(fate.afterMs);
    wanted.cancelRetry();
    wanted.retry = this.#schedule.after(ms, () => this.#askAgain(wanted));
  }

  onRequest(tunnel: Tunnel, { at, method, path, status, ms, dryRun }: RequestLine): void {
    this.#emit({ kind: 'request', request: { tunnel: tunnel.spec.name, at, method, path, status, ms, dryRun } });
  }

  /** The server leaves: its streams finish, and a new session is opened when it asks for it. */
  onDrain(session: Session, retryAfterMs: number, message: string): void {
    if (session !== this.#session || this.#state === 'draining') return;
    const cut = (): void => {
      this.#leaving.delete(session);
      session.destroy();
    };
    this.#session = undefined;
    session.channel?.refuseStreams();
    if (session.inFlight > 0) this.#leaving.set(session, this.#schedule.after(DRAIN_MS, cut));
    else this.#closeQuietly(session);
    this.#away(message);
    this.#steady();
    this.#wait(this.#backoff.after(retryAfterMs), message);
  }

  onBye(session: Session, bye: Bye): void {
    if (this.#forgetLeaving(session) || session !== this.#session) return;
    const fate = fateOf(bye.code, 'agent');
    this.#session = undefined;
    if (bye.code === 'unauthorized' && this.#state === 'online') return this.#lookForKey(bye.message);
    if (fate.kind !== 'retry') return this.#endAll({ code: fate.exit, message: bye.message });
    this.#away(bye.message);
    if (this.#state === 'draining') return this.#finish(this.#ending);
    this.#steady();
    if (bye.retryAfterMs !== undefined) return this.#wait(this.#backoff.after(bye.retryAfterMs), bye.message);
    this.#wait(fate.afterMs === undefined ? this.#backoff.next() : this.#backoff.about(fate.afterMs), bye.message);
  }

  onLost(session: Session, cause: string): void {
    if (this.#forgetLeaving(session) || session !== this.#session) return;
    this.#session = undefined;
    this.#away(cause);
    if (this.#state === 'draining') return this.#finish(this.#ending);
    this.#steady();
    this.#wait(this.#backoff.next(), cause);
  }

  onIdle(session: Session): void {
    if (this.#forgetLeaving(session)) this.#closeQuietly(session);
    if (this.#state === 'draining' && this.view().inFlight === 0) this.#finish(this.#ending);
  }

  onTarget(target: LocalTarget, fault: string | undefined): void {
    for (const tunnel of this.#tunnels) if (tunnel.spec.target === target) this.onFault(tunnel, fault);
  }

  onFault(wanted: Standing, fault: string | undefined): void {
    wanted.fault = fault;
    const which = { [wanted.noun]: wanted.spec.name };
    if (fault === undefined) this.#log.info(which, 'the local service is reachable again');
    else this.#log.warn({ ...which, cause: fault }, 'the local service is not reachable');
    this.#emit(wanted.targetEvent());
  }

  // --- ending

  drain(graceMs: number = DRAIN_MS): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    this.#attempt?.abort();
    this.#cancelTimer();
    this.#state = 'draining';
    this.#session?.drain();
    const { inFlight } = this.view();
    if (inFlight === 0) return this.#finish(this.#ending);
    this.#log.info({ inFlight, graceMs }, 'draining');
    this.#emit({ kind: 'draining', inFlight });
    const cut = { ...this.#ending, message: `${this.#ending.message}; some streams were cut` };
    this.#timer = this.#schedule.after(graceMs, () => this.#finish(cut));
  }

  destroy(): void {
    this.#finish({ code: 0, message: 'stopped at once' }, { cut: true });
  }

  /** The key was good until now: what revoked it may be a rotation that puts another into its place. */
  #lookForKey(refusal: string): void {
    this.#key.takenBack(refusal);
    this.#away(refusal);
    this.#steady();
    this.#wait(KEY_CHANGE_MS, refusal);
  }

  #endAll(reason: ExitReason): void {
    for (const wanted of this.#wanted) if (wanted.state !== 'ended') wanted.setAway('ended', reason.message);
    this.#finish(reason);
  }

  #finishWhenEmpty(code: AgentExitCode, message: string): void {
    if (this.#state === 'draining' || this.#wanted.some(({ state }) => state !== 'ended')) return;
    // A name that was taken over may still carry answers under way, and the newer agent can't finish them.
    this.#ending = { code, message };
    this.drain();
  }

  #finish(reason: ExitReason, options: { cut?: boolean } = {}): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#cause = reason.message;
    this.#attempt?.abort();
    this.#cancelTimer();
    for (const wanted of this.#wanted) wanted.cancelRetry();
    for (const relay of this.#relays) relay.close();
    for (const [session, cancel] of this.#leaving) {
      cancel();
      session.destroy();
    }
    this.#leaving.clear();
    const session = this.#session;
    this.#session = undefined;
    if (options.cut === true) session?.destroy();
    const closed = options.cut === true || session === undefined ? Promise.resolve() : session.close();
    void closed.finally(() => {
      this.#emit({ kind: 'stopped', reason });
      this.#resolve(reason);
    });
  }

  /** Everything that was live is not: said once for each. */
  #away(reason: string): void {
    if (this.#welcomedAt !== undefined) this.#emit({ kind: 'offline', cause: reason });
    for (const wanted of this.#wanted) {
      wanted.cancelRetry();
      if (wanted.state !== 'online') continue;
      wanted.setAway('waiting', reason);
      this.#emit(wanted.offlineEvent(reason));
    }
  }

  #askAgain(wanted: Standing): void {
    wanted.cancelRetry();
    if (this.#state === 'online') this.#session?.ask(wanted);
  }

  /** A session that lasted makes the next wait short; one that did not makes it no longer than 2 s. */
  #steady(): void {
    const welcomedAt = this.#welcomedAt;
    this.#welcomedAt = undefined;
    if (welcomedAt === undefined) return;
    if (this.#clock.monotonic() - welcomedAt >= STEADY_MS) this.#backoff.reset();
    else this.#backoff.settle();
  }

  #forgetLeaving(session: Session): boolean {
    const cancel = this.#leaving.get(session);
    cancel?.();
    return this.#leaving.delete(session);
  }

  #closeQuietly(session: Session): void {
    session.close().catch((error: unknown) => this.#log.debug({ cause: messageOf(error) }, 'closing a session failed'));
  }

  #cancelTimer(): void {
    this.#lookout.stop();
    this.#timer?.();
    this.#timer = undefined;
    this.#retryAt = undefined;
  }

  #emit(event: AgentEvent): void {
    this.#options.onEvent(event);
  }
}
