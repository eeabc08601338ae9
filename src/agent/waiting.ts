/**
 * The pauses of an agent between two sessions: how long, why, and what ends one early. A pause is reported when its reason is another one than
 * that of the pause before. Owned by agent.ts.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { Backoff } from './backoff.ts';
import type { AgentEvent } from './events.ts';
import type { Lost } from './lost.ts';
import { ReachabilityProbe, type Place, type Reach } from './connect/reachability.ts';
import type { Cancel, Schedule } from './schedule.ts';

/** A session that lasted this long was a good one: the waits start again at 0.5 s. */
const STEADY_MS = 10_000;

export interface WaitingDeps {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly random: () => number;
  readonly reach: Reach | undefined;
  readonly log: Logger;
  readonly emit: (event: AgentEvent) => void;
  /** A pause is over. */
  readonly connect: () => void;
}

export class Waiting {
  readonly backoff: Backoff;
  readonly #deps: WaitingDeps;
  readonly #probe: ReachabilityProbe;
  #timer: Cancel | undefined;
  #retryAt: number | undefined;
  #cause: string | undefined;
  /** The last reported reason; its text may have a time in it. */
  #told: string | undefined;

  constructor(deps: WaitingDeps) {
    this.#deps = deps;
    this.backoff = new Backoff(deps.random);
    this.#probe = new ReachabilityProbe(deps.schedule, deps.random, deps.reach);
  }

  /** Why there is no session; undefined while there is one. */
  get cause(): string | undefined {
    return this.#cause;
  }

  /** Milliseconds since the epoch. */
  get retryAt(): number | undefined {
    return this.#retryAt;
  }

  /** Pauses for `ms`. Emits `retrying` when this is another reason than the last. */
  pause(ms: number, lost: Lost, events: readonly AgentEvent[] = []): void {
    this.cancel();
    const { clock, schedule, log, emit, connect } = this.#deps;
    this.#retryAt = clock.now() + ms;
    this.#timer = schedule.after(ms, connect);
    const cause = lost.message;
    this.#cause = cause;
    const told = hasClock(lost) ? lost.code : cause;
    if (told === this.#told) return log.debug({ cause, inMs: ms }, 'still not connected');
    this.#told = told;
    log.warn({ cause, code: lost.code, inMs: ms }, 'not connected; retrying');
    emit({ kind: 'retrying', cause, inMs: ms });
    for (const event of events) emit(event);
  }

  /** The pause ends early when `place` can be reached. */
  watch(place: Place): void {
    this.#probe.watch(place, this.#deps.connect);
  }

  cancel(): void {
    this.#probe.stop();
    this.#timer?.();
    this.#timer = undefined;
    this.#retryAt = undefined;
  }

  /** There is a session. */
  over(): void {
    this.cancel();
    this.backoff.found();
    this.#cause = this.#told = undefined;
  }

  /** The agent is over, and why. */
  stop(cause: string): void {
    this.cancel();
    this.#cause = cause;
  }

  /** A session ended: one that lasted makes the next pause short, one that did not makes it no longer than 2 s. */
  after(lastedMs: number): void {
    if (lastedMs >= STEADY_MS) this.backoff.reset();
    else this.backoff.settle();
  }
}

/** Its text has the time of day in it. */
function hasClock({ code }: Lost): boolean {
  return code === 'clock_differs' || code === 'certificate_expired' || code === 'certificate_not_yet_valid';
}
