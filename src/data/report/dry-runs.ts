/**
 * Gathers what tried actions would have refused, and puts it into the outbox every two seconds while there is some: a storm of visitors
 * costs the control plane one row per action and interval. Fed by data/policy/dry-run.ts.
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { DryRun, type DryRunPlace } from '../policy/dry-run.ts';
import type { Outbox } from './outbox.ts';

const PERIOD_MS = 2_000;

export class DryRuns {
  readonly #outbox: Pick<Outbox, 'addDryRun'>;
  readonly #clock: Clock;
  /** Those with something to tell: at most the actions of all policies. */
  readonly #news = new Set<DryRun>();
  #timer: NodeJS.Timeout | undefined;

  constructor(outbox: Pick<Outbox, 'addDryRun'>, clock: Clock = systemClock) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** The counter of one action of one policy. */
  counterOf(place: DryRunPlace): DryRun {
    return new DryRun(place, {
      now: () => this.#clock.now(),
      onNews: (counter) => {
        this.#news.add(counter);
        this.#timer ??= setTimeout(() => this.collect(), PERIOD_MS).unref();
      },
    });
  }

  /** Reads and zeroes all counters. */
  collect(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const counter of this.#news) this.#outbox.addDryRun(counter.take());
    this.#news.clear();
  }

  close(): void {
    this.collect();
  }
}
