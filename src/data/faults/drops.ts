/**
 * Counters of refused and cut connections, by reason (base/codes/drops.ts). One object per data node, shared by the HTTP edge and the public
 * TCP ports. Once a minute the new counts are logged with the setting to change: one line per reason, however many connections it was.
 */
import { VISITOR_DROPS, type VisitorDrop } from '../../base/codes/drops.ts';
import type { Logger } from '../../base/log.ts';

export type DropReason = keyof typeof VISITOR_DROPS;

/** How often each has happened. */
export type DropCounts = Readonly<Record<DropReason, number>>;

const REASONS = Object.keys(VISITOR_DROPS) as DropReason[];

export class Drops {
  readonly #counts = zeroes();
  /** What `tell` had seen when it was called last. */
  #told = zeroes();

  add(reason: DropReason): void {
    this.#counts[reason]++;
  }

  get(reason: DropReason): number {
    return this.#counts[reason];
  }

  /** All of them since the start. A copy. */
  counts(): DropCounts {
    return { ...this.#counts };
  }

  /** Says what has come since the last time, a line per reason; nothing when nothing has. To be called once a minute. */
  tell(log: Logger): void {
    for (const reason of REASONS) {
      const count = this.#counts[reason] - this.#told[reason];
      if (count === 0) continue;
      const { text, setting, level }: VisitorDrop = VISITOR_DROPS[reason];
      const fields = { reason, count, ...(setting === undefined ? {} : { setting }) };
      log[level](fields, `in the last minute ${count} ${text}${setting === undefined ? '' : ` (${setting})`}`);
    }
    this.#told = { ...this.#counts };
  }
}

function zeroes(): Record<DropReason, number> {
  return Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
}
