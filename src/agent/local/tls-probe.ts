/** Finds out whether a service that was spoken to in plain speaks TLS: one handshake, at most one of them for a target at a time and every few seconds. */
import type { Sweeper } from '../../base/clock.ts';
import { LocalDial } from './local.ts';
import type { LocalTarget } from './target.ts';

/** What a handshake has shown is taken for true so long. */
const KNOWN_MS = 5_000;
const HANDSHAKE_MS = 1_000;
/**
 * A visitor's response waits no longer for it: a plain service may take a handshake for the beginning of a request and say nothing. What is found out
 * later is for the next visitor.
 */
export const WAIT_MS = 100;

interface Probe {
  readonly waiting: Array<(isTls: boolean) => void>;
  isTls: boolean;
  /** Monotonic; 0 while it runs. */
  doneMs: number;
}

export class TlsProbes {
  readonly #probes = new Map<LocalTarget, Probe>();
  readonly #nowMs: () => number;
  readonly #waitMs: number;

  constructor(nowMs: () => number, waitMs: number) {
    this.#nowMs = nowMs;
    this.#waitMs = waitMs;
  }

  /** Calls `settle` once, perhaps at once. */
  ask(target: LocalTarget, sweeper: Sweeper<LocalDial>, settle: (isTls: boolean) => void): void {
    const known = this.#probes.get(target);
    const nowMs = this.#nowMs();
    if (known?.doneMs === 0) return void known.waiting.push(this.#bounded(settle));
    if (known !== undefined && nowMs - known.doneMs < KNOWN_MS) return settle(known.isTls);
    const probe: Probe = { waiting: [this.#bounded(settle)], isTls: false, doneMs: 0 };
    this.#probes.set(target, probe);
    const done = (isTls: boolean): void => {
      probe.isTls = isTls;
      probe.doneMs = this.#nowMs();
      for (const waiting of probe.waiting.splice(0)) waiting(isTls);
    };
    const result = {
      onConnected: (socket: { destroy(): void }) => {
        socket.destroy();
        done(true);
      },
      onFault: () => done(false),
    };
    const overTls = { ...target, way: undefined, tls: true, verifyTls: false, connectTimeoutMs: HANDSHAKE_MS };
    new LocalDial(overTls, { result, sweeper, nowMs });
  }

  /** `settle`, called once: with false when its time is over. */
  #bounded(settle: (isTls: boolean) => void): (isTls: boolean) => void {
    let isSettled = false;
    const once = (isTls: boolean): void => {
      clearTimeout(timer);
      if (isSettled) return;
      isSettled = true;
      settle(isTls);
    };
    const timer = setTimeout(once, this.#waitMs, false);
    return once;
  }

  /** What was found out last; false: nothing, or that it does not. */
  isTls(target: LocalTarget): boolean {
    return this.#probes.get(target)?.isTls === true;
  }

  /** The target has spoken. */
  forget(target: LocalTarget): void {
    this.#probes.delete(target);
  }
}
