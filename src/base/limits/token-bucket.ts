/**
 * A rate that several payers share: each says how many bytes it moves, and one that is ahead of the rate waits in line until they are paid.
 * The line is paid in rounds, a step to each, so that all get the same in bytes, however large the pieces are that they come in
 * (deficit round robin). Over any time the rate passes at most, and once the capacity, and for each payer one step and the piece that it
 * could not help taking at once. One timer, set only while a payer waits. The line is as long as there are payers.
 */
import { type Clock, systemClock } from '../clock.ts';

/** One direction of one connection. The bucket writes the two numbers; both begin at 0. */
export interface Payer {
  /** Bytes that are not paid for yet. More than 0 exactly while the payer is in line. */
  debt: number;
  /** Bytes that may pass by the line: what is left of its last step. */
  allowance: number;
  /** All is paid for: go on. May spend again at once. Never called before the `spend` that made the debt has returned. */
  paid(): void;
}

/** What may be saved up, and so what may pass at once. Longer than the event loop is ever busy with one thing. */
const CAPACITY_MS = 100;
const MIN_CAPACITY_BYTES = 16_384;
/** What is paid at once to one payer. Small, for a place in line is worth as many steps as there are others. */
const STEP_MS = 10;
const MIN_STEP_BYTES = 4_096;
const MAX_STEP_BYTES = 262_144;
/** Who has stood in line has this left at least: heartbeats and credit pass by it, for a peer that hears nothing for a round would give up. */
const MIN_ALLOWANCE_BYTES = 1_024;
/** The line is looked after no more often: a timer per piece would cost more than it smooths. */
const MIN_WAIT_MS = 5;
const BYTES_PER_MS_OF_A_MEGABIT = 125;

/** What a limit of so many megabits (10^6 bits) per second lets pass in a millisecond. */
export function bytesPerMsOf(megabitsPerSecond: number): number {
  return megabitsPerSecond * BYTES_PER_MS_OF_A_MEGABIT;
}

/** The piece, in bytes, in which who can choose should move what is limited to `bytesPerMs`. */
export function stepOf(bytesPerMs: number): number {
  return Math.min(MAX_STEP_BYTES, Math.max(MIN_STEP_BYTES, Math.round(bytesPerMs * STEP_MS)));
}

export class TokenBucket {
  readonly #clock: Clock;
  readonly #line = new Set<Payer>();
  #timer: NodeJS.Timeout | undefined;
  #settling = false;
  #bytesPerMs: number;
  #level: number;
  #atMs: number;

  /** Megabits (10^6 bits) per second; more than 0. */
  constructor(megabitsPerSecond: number, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#bytesPerMs = bytesPerMsOf(megabitsPerSecond);
    this.#level = this.#capacity;
    this.#atMs = clock.monotonic();
  }

  get bytesPerMs(): number {
    return this.#bytesPerMs;
  }

  /** The piece, in bytes, in which a payer that can choose should spend. */
  get step(): number {
    return stepOf(this.#bytesPerMs);
  }

  /** Payers in line. */
  get waiting(): number {
    return this.#line.size;
  }

  /** From now on another rate. */
  setRate(megabitsPerSecond: number): void {
    this.#refill();
    this.#bytesPerMs = bytesPerMsOf(megabitsPerSecond);
    this.#level = Math.min(this.#level, this.#capacity);
  }

  /**
   * `payer` moves `bytes`. True: go on. False: it waits from now on, until `paid` is called; what it spends meanwhile is added to its debt.
   */
  spend(payer: Payer, bytes: number): boolean {
    if (payer.debt > 0) {
      payer.debt += bytes;
      return false;
    }
    this.#refill();
    const inTurn = this.#line.size === 0 && this.#level >= bytes;
    if (inTurn || payer.allowance >= bytes) {
      if (!inTurn) payer.allowance -= bytes;
      this.#level -= bytes;
      return true;
    }
    payer.debt = bytes - payer.allowance;
    this.#level -= payer.allowance;
    payer.allowance = 0;
    this.#line.add(payer);
    // By the level of just now: with a later look at the clock the debt might be paid, and `payer` told so before it hears of it.
    if (!this.#settling && this.#timer === undefined) this.#settle();
    return false;
  }

  /**
   * `payer` would move `bytes` now or never, as with datagrams. True: it may, they are paid. False: not now, and it stands in line for its next step
   * like those who wait, so that payers who fill the rate don't block it; `paid` says nothing to it. What is longer than a step passes
   * while the queue is empty.
   */
  trySpend(payer: Payer, bytes: number): boolean {
    if (payer.debt > 0) return false;
    this.#refill();
    const inTurn = this.#line.size === 0 && this.#level >= Math.min(bytes, this.#capacity);
    if (!inTurn) {
      if (payer.allowance < bytes) {
        payer.debt = 1;
        this.#line.add(payer);
        if (!this.#settling && this.#timer === undefined) this.#settle();
        if (payer.debt > 0 || payer.allowance < bytes) return false;
      }
      payer.allowance -= bytes;
    }
    this.#level -= bytes;
    return true;
  }

  /**
   * Moves `bytes` without a claim on the rate, now or never. True: it may, and they are paid: the queue is empty, and half of what may be saved
   * up is left for who has a claim. So what is longer than that half never passes.
   */
  trySpare(bytes: number): boolean {
    this.#refill();
    if (this.#line.size > 0 || this.#level - bytes < this.#capacity / 2) return false;
    this.#level -= bytes;
    return true;
  }

  /** No payer waits, and nothing is owed or has been used lately: as good as new. */
  get full(): boolean {
    this.#refill();
    return this.#line.size === 0 && this.#level === this.#capacity;
  }

  /** The payer is gone, or need not wait any more: `paid` is not called. What it owes it has moved, and the others wait for it. */
  forget(payer: Payer): void {
    this.#level -= payer.debt;
    payer.debt = 0;
    this.#line.delete(payer);
    if (this.#line.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  get #capacity(): number {
    return Math.max(MIN_CAPACITY_BYTES, this.#bytesPerMs * CAPACITY_MS);
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#level = Math.min(this.#capacity, this.#level + (now - this.#atMs) * this.#bytesPerMs);
    this.#atMs = now;
  }

  #settle(): void {
    this.#settling = true;
    for (;;) {
      const [first] = this.#line;
      if (first === undefined) break;
      const part = Math.min(first.debt, this.step);
      if (this.#level < part) {
        const waitMs = Math.max(MIN_WAIT_MS, Math.ceil((part - this.#level) / this.#bytesPerMs));
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          this.#refill();
          this.#settle();
        }, waitMs);
        break;
      }
      this.#level -= part;
      first.debt -= part;
      this.#line.delete(first);
      if (first.debt > 0) {
        this.#line.add(first);
        continue;
      }
      // The rest of its step is kept: who comes in small pieces gets as much per round as who comes in large ones.
      first.allowance = Math.max(MIN_ALLOWANCE_BYTES, this.step - part);
      first.paid();
    }
    this.#settling = false;
  }
}
