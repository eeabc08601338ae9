/**
 * Whether shown credentials fit a tunnel's gate, for all gates of a node. Argon2id runs on threads of its own at the lowest priority; what
 * it said is remembered, so that the next request with the same credentials is decided at once. Made by data/node-parts.ts.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import type { BasicGate } from '../../../plane/routes.ts';
import type { Credentials } from './credentials.ts';
import { BasicGuesses, GUESSES, NODE_GUESSES } from './guesses.ts';
import { BasicQueue, type Run } from './queue.ts';

/** Credentials that fitted are asked of argon2id again when so many others came since, and after an hour. */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 3_600_000;
/** What did not fit is remembered in a place of its own: guesses must not push out what is right. */
const MAX_WRONG = 10_000;
const WRONG_MS = 60_000;

/** `wait`: this address has shown too many wrong ones, seconds. `busy`: too many checks are in line. */
export type CheckResult = 'fits' | 'wrong' | 'busy' | { readonly wait: number };

export interface Shown {
  /** Whose tunnel it is. */
  readonly orgId: string;
  readonly tunnelId: string;
  readonly gate: BasicGate;
  readonly credentials: Credentials;
  /** What the visitor's address counts as. */
  readonly address: string;
  /** Monotonic milliseconds. */
  readonly nowMs: number;
}

export class BasicChecks {
  readonly #queue: BasicQueue;
  readonly #onBusy: () => void;
  /** New with each process: what is remembered is of no use outside of it. */
  readonly #key = randomBytes(32);
  readonly #known = new RecentMap<string, true>({ max: MAX_KNOWN, ttlMs: KNOWN_MS });
  readonly #wrong = new RecentMap<string, true>({ max: MAX_WRONG, ttlMs: WRONG_MS });
  readonly #guesses = new BasicGuesses(GUESSES);
  /** At all tunnels: who has many to guess at, also of their own, is worth no more of the threads. */
  readonly #guessesOfAll = new BasicGuesses(NODE_GUESSES);
  /** Checks in line or under way: a page that asks for thirty files at once is one check. No more than the line holds. */
  readonly #checks = new Map<string, Promise<CheckResult>>();

  /** `onBusy`: a check was refused its place, or had to give it up. */
  constructor(run: Run, onBusy: () => void) {
    this.#queue = new BasicQueue(run);
    this.#onBusy = onBusy;
  }

  /**
   * Seconds for which this address may show the tunnel nothing; 0: it may. Asked first, also of those who show the right password now: or
   * their answer would tell it from the wrong ones.
   */
  waitOf(tunnelId: string, address: string, nowMs: number): number {
    // Nearly always: no one guesses, and there is nothing to look up.
    if (this.#guessesOfAll.size === 0) return 0;
    return Math.max(this.#guesses.waitOf(whoOf(tunnelId, address), nowMs), this.#guessesOfAll.waitOf(address, nowMs));
  }

  /** At once when the same was shown before. Rejects when the stored hash is none, or the threads are gone. */
  check(shown: Shown): CheckResult | Promise<CheckResult> {
    const { orgId, tunnelId, gate, address, nowMs } = shown;
    // What is compared, and therefore what is counted: else each spelling of one password would be a check of its own.
    const username = shown.credentials.username.normalize('NFC');
    const password = shown.credentials.password.normalize('NFKC');
    const wait = this.waitOf(tunnelId, address, nowMs);
    if (wait > 0) return { wait };
    const key = this.#digest(JSON.stringify([tunnelId, gate.version, username, password]));
    if (this.#known.has(key)) return 'fits';
    // A repeated guess gains nothing: a page that repeats an old password by itself locks no visitor out.
    if (this.#wrong.has(key)) return 'wrong';
    const underWay = this.#checks.get(key);
    if (underWay !== undefined) return underWay;
    const job = { kind: 'verify', stored: gate.passwordHash, password } as const;
    const result = this.#queue.take({ job, orgId, tunnelId, address });
    if (result === null) {
      this.#onBusy();
      return 'busy';
    }
    this.#guesses.add(whoOf(tunnelId, address), nowMs);
    this.#guessesOfAll.add(address, nowMs);
    const check = this.#settle(result, { key, shown, isUser: this.#isSame(gate.username, username) });
    this.#checks.set(key, check);
    return check;
  }

  async #settle(
    result: Promise<string | boolean | null>,
    { key, shown, isUser }: { key: string; shown: Shown; isUser: boolean },
  ): Promise<CheckResult> {
    try {
      // Also for a wrong name: an answer that came sooner would say that there is no such user.
      const verdict = await result;
      if (verdict === null) {
        this.#giveBack(shown);
        this.#onBusy();
        return 'busy';
      }
      const fits = verdict === true && isUser;
      if (fits) this.#giveBack(shown);
      (fits ? this.#known : this.#wrong).set(key, true);
      return fits ? 'fits' : 'wrong';
    } finally {
      this.#checks.delete(key);
    }
  }

  /** It was right, or was not checked. */
  #giveBack({ tunnelId, address }: Shown): void {
    this.#guesses.giveBack(whoOf(tunnelId, address));
    this.#guessesOfAll.giveBack(address);
  }

  /** In constant time, whatever the lengths. */
  #isSame(one: string, other: string): boolean {
    const [a, b] = [one, other].map((name) => Buffer.from(this.#digest(name.normalize('NFC'))));
    return timingSafeEqual(a as Buffer, b as Buffer);
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64');
  }
}

function whoOf(tunnelId: string, address: string): string {
  return `${tunnelId} ${address}`;
}
