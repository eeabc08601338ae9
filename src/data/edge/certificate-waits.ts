/**
 * Handshakes that wait for a certificate: the first visitors of a new name see no warning. A name that leads to no tunnel which an agent serves
 * now is nobody's, and waits for nothing.
 */
import { LRUCache } from 'lru-cache';
import type { RouteTable } from '../routing/table.ts';
import { isOver } from './refusal.ts';

export interface WaitLimits {
  /** Of one handshake. A browser gives up after some 30 s. */
  readonly waitMs: number;
  /** Handshakes at once, of all names and of one: beyond it they get the default certificate. */
  readonly max: number;
  readonly maxPerName: number;
}

export const WAIT_LIMITS: WaitLimits = { waitMs: 20_000, max: 256, maxPerName: 16 };
/** Names that are asked for now: an order takes seconds, and minutes when many stand in line. */
const MAX_NAMES = 1_000;
/** A name for which none came is not asked for again before; the control plane has longer waits of its own. */
const NO_MS = 5_000;

/** Asks the control plane, as Link.wantCertificate. */
export type WantCertificate = (host: string) => Promise<boolean>;

export class CertificateWaits {
  readonly #table: Pick<RouteTable, 'findByHost'>;
  readonly #want: WantCertificate;
  readonly #limits: WaitLimits;
  /** Name → how the handshakes that wait for it go on. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #refused = new LRUCache<string, true>({ max: MAX_NAMES, ttl: NO_MS });
  #count = 0;

  constructor(deps: { table: Pick<RouteTable, 'findByHost'>; want: WantCertificate; limits?: WaitLimits }) {
    this.#table = deps.table;
    this.#want = deps.want;
    this.#limits = deps.limits ?? WAIT_LIMITS;
  }

  /** How long one handshake waits at most. */
  get waitMs(): number {
    return this.#limits.waitMs;
  }

  /**
   * Calls `goOn` once, later: when a certificate for this name (lower case) has come, when none will, or when it took too long. Returns what
   * ends the wait without calling; null, with nothing to come, where there is nothing to wait for or no room.
   */
  wait(name: string, goOn: () => void): (() => void) | null {
    if (!this.#isServed(name) || this.#refused.has(name) || this.#count >= this.#limits.max) return null;
    const those = this.#waiting.get(name) ?? this.#ask(name);
    if (those === undefined || those.size >= this.#limits.maxPerName) return null;
    const leave = (): boolean => {
      clearTimeout(timer);
      if (!those.delete(end)) return false;
      this.#count--;
      return true;
    };
    const end = (): void => {
      if (leave()) goOn();
    };
    const timer = setTimeout(end, this.#limits.waitMs);
    timer.unref();
    those.add(end);
    this.#count++;
    return () => void leave();
  }

  #isServed(name: string): boolean {
    const entry = this.#table.findByHost(name);
    return entry !== undefined && entry.served !== null && !entry.served.draining && !isOver(entry);
  }

  /** Undefined: too many names are asked for already. */
  #ask(name: string): Set<() => void> | undefined {
    if (this.#waiting.size >= MAX_NAMES) return undefined;
    const those = new Set<() => void>();
    this.#waiting.set(name, those);
    void this.#want(name)
      .catch(() => false)
      .then((hasCome) => {
        this.#waiting.delete(name);
        if (!hasCome) this.#refused.set(name, true);
        for (const end of [...those]) end();
      });
    return those;
  }
}
