/**
 * Keeps an agent's session up and its tunnels bound and networks attached: connect, ask, back off, come back, drain. All decisions are here and
 * in codes.ts; connections are below `OpenChannel`, screens and logs above `onEvent`.
 *
 *   connecting ──welcome──► online ──lost / bye retry / drain──► waiting ──timer, retryNow──► connecting
 *       └────────failed───────────────────────────────────────────┘
 *   any ──bye or refusal that ends the last tunnel, drain(), destroy()──► stopped
 *
 * Length: one state machine; what needs none of its state is beside it (waiting, leaving, path-watch, server-pin, shown-key).
 */
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { TurnEnd } from '../base/process/turn.ts';
import {
  type Attached,
  type Bound,
  DRAIN_MS,
  HELLO_TIMEOUT_MS,
  MAX_TUNNELS_PER_AGENT,
  type RequestLine,
  WIRE_VERSION,
} from '../wire/messages.ts';
import type { Agent, AgentOptions, Wants } from './agent-options.ts';
import type { Channel } from './connect/channel.ts';
import { type AgentExitCode, fateOf } from './codes.ts';
import type { AgentEvent, AgentState, AgentView, ExitReason, RelayPath } from './events.ts';
import { LeavingSessions } from './leaving.ts';
import { UnreachableError } from './connect/reachability.ts';
import { type Lost, lostBy } from './lost.ts';
import { type PathOwner, type PathWatch, watchPaths } from './connect/path-watch.ts';
import { targetText } from './local/route-spec.ts';
import { Relay, type RelayOwner } from './relay/relay.ts';
import type { PeerChanges } from './relay/peers/peer-keeper.ts';
import type { RelaySpec } from './relay/spec.ts';
import { type Cancel, type Schedule, systemSchedule } from './schedule.ts';
import { type Dispute, ServerPin } from './connect/server-pin.ts';
import { type Bye, Session, type SessionOwner, type Welcome } from './session.ts';
import { ShownKey } from './connect/shown-key.ts';
import type { Refusal, Wanted } from './wanted.ts';
import type { AdviceCode } from '../wire/advice-codes.ts';
import { ADVICE } from './inspect/advice.ts';
import type { LocalTarget } from './local/target.ts';
import { Tunnel, type TunnelSpec } from './tunnel.ts';
import { Waiting } from './waiting.ts';

export type { Agent, AgentOptions };

/** A rotation writes the key file after the server has revoked the old key: the agent reads it again after this delay, once. */
const KEY_CHANGE_MS = 1_000;

/** Starts an agent. Throws RangeError when it has neither tunnel nor relay, or too many. */
export function startAgent(options: AgentOptions): Agent {
  checkCount(options.tunnels.length + (options.relays?.length ?? 0));
  const supervisor = new Supervisor(options);
  supervisor.connect();
  return supervisor;
}

function checkCount(count: number): void {
  if (count >= 1 && count <= MAX_TUNNELS_PER_AGENT) return;
  throw new RangeError(`an agent can serve 1 to ${MAX_TUNNELS_PER_AGENT} tunnels and networks`);
}

class Supervisor implements Agent, SessionOwner, RelayOwner, PathOwner {
  readonly done: Promise<ExitReason>;
  readonly #options: AgentOptions;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #schedule: Schedule;
  readonly #waiting: Waiting;
  readonly #turn = new TurnEnd();
  readonly #pin: ServerPin;
  readonly #paths: PathWatch | undefined;
  /** Tells the server that sessions one after the other are those of one agent. */
  readonly #run = randomUUID();
  #tunnels: readonly Tunnel[] = [];
  #relays: readonly Relay[] = [];
  #wanted: readonly Wanted[] = [];
  readonly #random: () => number;
  readonly #resolve: (reason: ExitReason) => void;
  readonly #key: ShownKey;

  #state: AgentState = 'connecting';
  #session: Session | undefined;
  readonly #leaving: LeavingSessions;
  #attempt: AbortController | undefined;
  /** Of the hello, and of a drain. */
  #timer: Cancel | undefined;
  #account: string | undefined;
  #welcomedAt: number | undefined;
  /** What it ends with once draining is over. */
  #ending: ExitReason = { code: 0, message: 'stopped' };

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? systemSchedule;
    const random = options.random ?? Math.random;
    this.#random = random;
    this.#key = new ShownKey(options.token);
    this.#leaving = new LeavingSessions(this.#schedule, this.#log);
    this.#paths = watchPaths({ clock: this.#clock, schedule: this.#schedule }, this, options);
    this.#pin = new ServerPin(options.pins);
    this.#waiting = new Waiting({
      ...{ clock: this.#clock, schedule: this.#schedule, random, reach: options.reach, log: this.#log },
      emit: (event) => this.#emit(event),
      connect: () => this.connect(),
    });
    this.#want(options.tunnels, options.relays ?? []);
    ({ promise: this.done, resolve: this.#resolve } = Promise.withResolvers<ExitReason>());
  }

  view(): AgentView {
    return {
      state: this.#state,
      server: this.#options.server,
      account: this.#account,
      rttMs: this.#session?.channel?.rttMs,
      inFlight: this.#leaving.inFlight + (this.#session?.inFlight ?? 0),
      cause: this.#waiting.cause,
      retryAt: this.#waiting.retryAt,
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
      this.onLost(session, `the server did not respond to hello within ${HELLO_TIMEOUT_MS / 1000} s`);
    });
    const { identity } = this.#options;
    session.greet(channel, {
      type: 'hello',
      version: WIRE_VERSION,
      token,
      agent: identity,
      clear: true,
      step: true,
      run: this.#run,
    });
  }

  #failed(error: unknown): void {
    this.#attempt = undefined;
    this.#wait(this.#waiting.backoff.next(), lostBy(error));
    if (error instanceof UnreachableError) this.#waiting.watch(error.place);
  }

  #wait(ms: number, lost: Lost): void {
    const { code, message: reason } = lost;
    this.#pause(ms, lost, this.#pin.known ? [{ kind: 'server_lost', code, reason, retryInMs: ms }] : []);
  }

  #pause(ms: number, lost: Lost, events: readonly AgentEvent[]): void {
    this.#cancelTimer();
    this.#state = 'waiting';
    this.#waiting.pause(ms, lost, events);
  }

  /** What was said ends nothing: it is another server's word, or one of two clocks is wrong. */
  #waitDisputed({ lost, ...dispute }: Dispute): void {
    const ms = this.#waiting.backoff.next();
    if (dispute.kind === 'clock') return this.#wait(ms, lost);
    const ids = { serverId: dispute.serverId, ownServerId: this.#pin.id };
    this.#pause(ms, lost, [{ kind: 'server_changed', ...ids, reason: lost.message, retryInMs: ms }]);
  }

  retryNow(): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    this.#waiting.backoff.reset();
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

  reload({ tunnels, relays }: Wants): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    checkCount(tunnels.length + relays.length);
    const before = this.#wanted;
    this.#want(tunnels, relays);
    const now = new Set(this.#wanted);
    for (const wanted of before) if (!now.has(wanted)) this.#drop(wanted);
    const known = new Set(before);
    if (this.#state === 'online') for (const wanted of now) if (!known.has(wanted)) this.#session?.ask(wanted);
    // Those that were refused for good are no reason to go on.
    this.#finishWhenEmpty(4, this.#wanted[0]?.reason ?? 'no tunnel is left');
  }

  /** Keeps what it has by these very specs. */
  #want(tunnels: readonly TunnelSpec[], relays: readonly RelaySpec[]): void {
    const random = this.#random;
    const [oldTunnels, oldRelays] = [this.#tunnels, this.#relays];
    const floor = { log: this.#log, clock: this.#clock, schedule: this.#schedule, turn: this.#turn };
    this.#tunnels = tunnels.map((spec) => {
      const before = oldTunnels.find(({ spec: { name } }) => name === spec.name);
      return before?.spec === spec ? before : new Tunnel(spec, random, before);
    });
    this.#relays = relays.map((spec) => {
      const before = oldRelays.find((relay) => relay.spec === spec);
      return before ?? new Relay(spec, { floor, owner: this, random });
    });
    this.#wanted = [...this.#tunnels, ...this.#relays];
  }

  /** The user wants it no more. One that another replaces serves until that is bound. */
  #drop(wanted: Wanted): void {
    wanted.cancelRetry();
    wanted.dropped = true;
    const wasOnline = wanted.state === 'online';
    wanted.setAway('ended', 'removed from the settings');
    if (this.#tunnels.some(({ replaces }) => replaces === wanted)) return;
    if (wasOnline) this.#emit(wanted.offlineEvent('removed from the settings'));
    this.#session?.release(wanted);
  }

  // --- what the session tells

  onWelcome(session: Session, welcome: Welcome): void {
    if (session !== this.#session) return;
    this.#cancelTimer();
    this.#waiting.over();
    this.#state = 'online';
    this.#account = welcome.account;
    this.#welcomedAt = this.#clock.monotonic();
    const { agentId, account, serverVersion, serverId } = welcome;
    this.#pin.welcomed(serverId);
    session.channel?.proven();
    this.#emit({ kind: 'online', agentId, account, serverVersion });
    this.#log.info({ agentId, account, serverVersion, serverId, address: session.channel?.address }, 'connected');
    if (session.channel !== undefined) this.#paths?.follow(session.channel);
    if (this.#options.watch === true) session.watch(true);
    for (const wanted of this.#wanted) {
      if (wanted.state === 'ended') continue;
      wanted.cancelRetry();
      session.ask(wanted);
    }
  }

  onBound(session: Session, tunnel: Tunnel, bound: Bound): void {
    if (session !== this.#session) return;
    // The server has unbound it for this one, unless that is another tunnel now.
    if (tunnel.replaces !== undefined) session.release(tunnel.replaces);
    tunnel.setBound(bound);
    this.#emit({ kind: 'tunnel_online', tunnel: tunnel.view() });
    this.#log.info({ tunnel: tunnel.spec.name, url: bound.url, target: targetText(tunnel.spec) }, 'tunnel is live');
  }

  onAttached(session: Session, relay: Relay, attached: Attached): void {
    if (session !== this.#session) return;
    relay.setAttached(attached);
    this.#emit({ kind: 'relay_online', relay: relay.view() });
    relay.logLive();
    relay.carry(session.channel?.remote);
  }

  onPath(relay: Relay, path: RelayPath, why: string): void {
    this.#emit({ kind: 'relay_path', relay: relay.view(), path, why });
  }

  onPeers(relay: Relay, { added, changed, removed, foreign }: PeerChanges): void {
    this.#emit({ kind: 'relay_peers', relay: relay.view(), added, changed, removed, foreign });
  }

  onPeersFault(relay: Relay): void {
    this.#emit({ kind: 'relay_peers_fault', relay: relay.view() });
  }

  onRefused(session: Session, wanted: Wanted, refusal: Refusal): void {
    if (session !== this.#session || wanted.dropped) return;
    if (wanted instanceof Tunnel && wanted.replaces !== undefined) session.release(wanted.replaces);
    const { code, message } = refusal;
    const fate = fateOf(code, wanted.noun);
    const final = fate.kind !== 'retry';
    const isNews = wanted.state === 'online' || wanted.reason !== message;
    wanted.setAway(final ? 'ended' : 'waiting', message);
    if (isNews) {
      this.#emit(wanted.refusedEvent(refusal, final));
      // The last one's reason is that of the end, which the caller shows.
      const isEnd = this.#state !== 'draining' && this.#wanted.every(({ state }) => state === 'ended');
      if (!isEnd)
        this.#log.warn({ [wanted.noun]: wanted.spec.name, code, reason: message, final }, `${wanted.noun} refused`);
    }
    if (fate.kind === 'stop') return this.#finish({ code: fate.exit, message });
    if (fate.kind === 'end') return this.#finishWhenEmpty(fate.exit, message);
    const ms = fate.afterMs === undefined ? wanted.backoff.next() : this.#waiting.backoff.about(fate.afterMs);
    wanted.cancelRetry();
    wanted.retry = this.#schedule.after(ms, () => this.#askAgain(wanted));
  }

  onRequest(tunnel: Tunnel, { at, method, path, status, ms, dryRun }: RequestLine): void {
    this.#emit({ kind: 'request', request: { tunnel: tunnel.spec.name, at, method, path, status, ms, dryRun } });
  }

  /** The server leaves: its streams finish, and a new session is opened when it asks for it. */
  onDrain(session: Session, retryAfterMs: number, message: string): void {
    if (session !== this.#session || this.#state === 'draining') return;
    this.#session = undefined;
    this.#leaving.add(session);
    this.#away(message);
    this.#steady();
    this.#wait(this.#waiting.backoff.after(retryAfterMs, true), { code: 'server_shutdown', message });
  }

  onBye(session: Session, bye: Bye): void {
    if (this.#leaving.forget(session) || session !== this.#session) return;
    const fate = fateOf(bye.code, 'agent');
    this.#session = undefined;
    const { retryAfterMs } = bye;
    const disputed = this.#pin.disputes(bye, this.#options.server, this.#clock.now());
    // A session that the server took is its own: only the clock can be at odds with what it says there.
    if (fate.kind !== 'retry' && disputed !== undefined && (disputed.kind === 'clock' || !session.welcomed)) {
      this.#away(disputed.lost.message);
      if (this.#state === 'draining') return this.#finish(this.#ending);
      this.#steady();
      return this.#waitDisputed(disputed);
    }
    if (bye.code === 'unauthorized' && this.#state === 'online') return this.#lookForKey(bye.message);
    if (fate.kind !== 'retry') return this.#endAll({ code: fate.exit, message: bye.message });
    this.#away(bye.message);
    if (this.#state === 'draining') return this.#finish(this.#ending);
    this.#steady();
    const { backoff } = this.#waiting;
    if (retryAfterMs !== undefined) return this.#wait(backoff.after(retryAfterMs, bye.code === 'server_shutdown'), bye);
    this.#wait(fate.afterMs === undefined ? backoff.next() : backoff.about(fate.afterMs), bye);
  }

  onLost(session: Session, cause: string): void {
    if (this.#leaving.forget(session) || session !== this.#session) return;
    this.#session = undefined;
    this.#away(cause);
    if (this.#state === 'draining') return this.#finish(this.#ending);
    this.#steady();
    this.#wait(this.#waiting.backoff.next(), { code: 'connection_lost', message: cause });
  }

  onNetwork(): void {
    // What is under way may wait for an answer on a path that is gone.
    if (this.#state === 'waiting' || this.#state === 'connecting') this.retryNow();
  }

  onDead(channel: Channel, cause: string): void {
    const session = this.#session;
    if (session?.channel !== channel) return;
    session.destroy();
    this.onLost(session, cause);
  }

  onIdle(session: Session): void {
    this.#leaving.idle(session);
    if (this.#state === 'draining' && this.view().inFlight === 0) this.#finish(this.#ending);
  }

  onTarget(target: LocalTarget, fault: string | undefined): void {
    for (const tunnel of this.#tunnels) if (tunnel.has(target)) this.onFault(tunnel, tunnel.faultWith(target, fault));
  }

  onAdvice(target: LocalTarget, code: AdviceCode): void {
    for (const tunnel of this.#tunnels) {
      if (!tunnel.has(target)) continue;
      const message = ADVICE[code];
      tunnel.advice = code;
      this.#session?.advise(tunnel, code);
      this.#emit({ kind: 'tunnel_advice', tunnel: tunnel.view(), code, message });
      this.#log.warn({ tunnel: tunnel.spec.name, code }, message);
    }
  }

  onFault(wanted: Wanted, fault: string | undefined): void {
    wanted.fault = fault;
    const which = { [wanted.noun]: wanted.spec.name };
    this.#emit(wanted.targetEvent());
    if (fault === undefined) this.#log.info(which, 'the service is reachable again');
    else this.#log.warn({ ...which, cause: fault }, 'the service is not reachable');
  }

  // --- ending

  drain(graceMs: number = DRAIN_MS): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    this.#endAttempt();
    this.#cancelTimer();
    this.#state = 'draining';
    this.#session?.drain();
    const { inFlight } = this.view();
    if (inFlight === 0) return this.#finish(this.#ending);
    this.#log.info({ inFlight, graceMs }, 'draining');
    this.#emit({ kind: 'draining', inFlight });
    const cut = { ...this.#ending, message: `${this.#ending.message}; some streams were interrupted` };
    this.#timer = this.#schedule.after(graceMs, () => this.#finish(cut));
  }

  destroy(): void {
    this.#finish({ code: 0, message: 'stopped immediately' }, { cut: true });
  }

  /** The key was good until now: what revoked it may be a rotation that puts another into its place. */
  #lookForKey(refusal: string): void {
    this.#key.takenBack(refusal);
    this.#away(refusal);
    this.#steady();
    this.#wait(KEY_CHANGE_MS, { code: 'unauthorized', message: refusal });
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
    this.#endAttempt();
    this.#cancelTimer();
    this.#waiting.stop(reason.message);
    this.#paths?.close();
    for (const wanted of this.#wanted) wanted.cancelRetry();
    for (const relay of this.#relays) relay.close();
    this.#leaving.destroy();
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
    this.#paths?.leave();
    if (this.#welcomedAt !== undefined) this.#emit({ kind: 'offline', cause: reason });
    for (const wanted of this.#wanted) {
      wanted.cancelRetry();
      if (wanted.state !== 'online') continue;
      wanted.setAway('waiting', reason);
      this.#emit(wanted.offlineEvent(reason));
    }
  }

  #askAgain(wanted: Wanted): void {
    wanted.cancelRetry();
    if (this.#state === 'online') this.#session?.ask(wanted);
  }

  #steady(): void {
    const welcomedAt = this.#welcomedAt;
    this.#welcomedAt = undefined;
    if (welcomedAt !== undefined) this.#waiting.after(this.#clock.monotonic() - welcomedAt);
  }

  /** Its failure is no reason to try again. */
  #endAttempt(): void {
    this.#attempt?.abort();
    this.#attempt = undefined;
  }

  #cancelTimer(): void {
    this.#waiting.cancel();
    this.#timer?.();
    this.#timer = undefined;
  }

  #emit(event: AgentEvent): void {
    this.#options.onEvent(event);
  }
}
