/**
 * What the control plane does by the clock: the jobs of all features, one timer. A job that fails is logged and tried again at its next turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Drains } from './drains.ts';
import type { JobTimes } from './job-times.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** A promise: the job is not begun again before it has ended. */
  readonly run: (stopping: AbortSignal) => void | Promise<unknown>;
}

export interface JobDeps {
  readonly jobs: readonly Job[];
  readonly drains: Pick<Drains, 'wake'>;
  /** Told of every run. */
  readonly jobTimes: JobTimes;
  readonly clock: Clock;
  readonly log: Logger;
}

const TICK_MS = 1_000;

/** A job in batches, which rests in between, so that none holds the loop. `batch` returns how much it found to do. */
export function inBatches(name: string, everyMs: number, batch: () => number): Job {
  return { name, everyMs, run: (stopping) => inSlices(batch, stopping) };
}

/** Batch after batch until one finds nothing, each followed by a rest as long as it took: half of the thread at most. Nothing to do ends at once. */
function inSlices(batch: () => number, stopping: AbortSignal): void | Promise<void> {
  const start = performance.now();
  if (batch() > 0) return goOn(batch, performance.now() - start, stopping);
}

async function goOn(batch: () => number, tookMs: number, stopping: AbortSignal): Promise<void> {
  let isMore = true;
  for (let restMs = tookMs; isMore; ) {
    await sleep(Math.ceil(restMs));
    if (stopping.aborted) return;
    const start = performance.now();
    isMore = batch() > 0;
    restMs = performance.now() - start;
  }
}

/** Starts the schedule, and goes on with what the last run left undone; returns its stop. A job that waits for an outside service gets the stop signal and is not awaited. */
export function startJobs(deps: JobDeps): () => void {
  const stopping = new AbortController();
  // What was left by a fault: what there is to do goes on by itself.
  const large: Job = { name: 'large changes', everyMs: TICK_MS, run: () => deps.drains.wake() };
  const due = [large, ...deps.jobs].map((job) => ({ job, at: deps.clock.monotonic() + job.everyMs, running: false }));
  const { jobTimes } = deps;
  deps.drains.wake();
  for (const { job, at } of due) jobTimes.plan(job.name, at);
  const failed = (job: Job, error: unknown): void => {
    jobTimes.ended(job.name, { failed: true });
    deps.log.error({ err: error, job: job.name }, 'a scheduled job failed');
  };
  const timer = setInterval(() => {
    const now = deps.clock.monotonic();
    for (const entry of due) {
      const { job } = entry;
      if (entry.at > now || entry.running) continue;
      entry.at = now + job.everyMs;
      jobTimes.began(job.name, entry.at);
      const done = (): void => jobTimes.ended(job.name, { failed: false });
      try {
        const work = job.run(stopping.signal);
        if (work === undefined) {
          done();
          continue;
        }
        entry.running = true;
        void work.then(done, (error: unknown) => failed(job, error)).finally(() => (entry.running = false));
      } catch (error) {
        failed(job, error);
      }
    }
  }, TICK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopping.abort();
  };
}
