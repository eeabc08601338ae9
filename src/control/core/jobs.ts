/**
 * What the control plane does by the clock: one table, one timer. A job that fails is logged and tried again at its next turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Billing } from '../billing/service.ts';
import type { Certificates } from '../certificates/service.ts';
import type { DomainChecks } from '../domains/checks.ts';
import type { RecordSweep } from '../inspector/record-sweep.ts';
import type { Keys } from './secrets/keys.ts';
import type { DeviceExpiry } from '../networks/device-expiry.ts';
import type { JobTimes } from './job-times.ts';
import type { Drains } from './drains.ts';
import type { Retention } from './retention.ts';
import type { TokenEnds } from '../access-keys/ends.ts';
import type { Tunnels } from '../tunnels/service.ts';
import type { Refusals } from '../webhooks/refusals.ts';

interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** A promise: the job is not begun again before it has ended. */
  readonly run: (stopping: AbortSignal) => void | Promise<unknown>;
}

export interface JobDeps {
  readonly drains: Pick<Drains, 'wake'>;
  readonly tunnels: Pick<Tunnels, 'expireDue' | 'removeUnused' | 'removeForgotten'>;
  readonly tokenEnds: Pick<TokenEnds, 'endGraces'>;
  readonly deviceExpiry: Pick<DeviceExpiry, 'expireDue'>;
  readonly billing: Pick<Billing, 'rereadDue'>;
  readonly domainChecks: Pick<DomainChecks, 'checkDue'>;
  readonly certificates: Pick<Certificates, 'tend' | 'askTimes'>;
  readonly retention: Pick<Retention, 'run'>;
  readonly recordSweep: Pick<RecordSweep, 'run'>;
  readonly keys: Pick<Keys, 'sweep'>;
  readonly refusals: Pick<Refusals, 'fold'>;
  /** Told of every run. */
  readonly jobTimes: JobTimes;
  readonly clock: Clock;
  readonly log: Logger;
}

const TICK_MS = 1_000;

/** The schedule. Each run takes bounded batches, and rests in between, so that none holds the loop. */
function schedule(deps: JobDeps): readonly Job[] {
  return [
    // What was left by a fault: what there is to do goes on by itself.
    { name: 'large changes', everyMs: TICK_MS, run: () => deps.drains.wake() },
    // A tunnel may outlive its time by this much.
    { name: 'expire tunnels', everyMs: TICK_MS, run: (signal) => inSlices(() => deps.tunnels.expireDue(), signal) },
    // A rotated token ends in the database here; data nodes know the instant and keep it themselves.
    {
      name: 'end graces of tokens',
      everyMs: TICK_MS,
      run: (signal) => inSlices(() => deps.tokenEnds.endGraces(), signal),
    },
    // So may the peer of a device in its network's server config; its datagrams end at the instant itself.
    {
      name: 'expire devices',
      everyMs: TICK_MS,
      run: (signal) => inSlices(() => deps.deviceExpiry.expireDue(), signal),
    },
    {
      name: 'remove unused tunnels',
      everyMs: 60_000,
      run: (signal) => inSlices(() => deps.tunnels.removeUnused(), signal),
    },
    {
      name: 'remove forgotten tunnels',
      everyMs: 600_000,
      run: (signal) => inSlices(() => deps.tunnels.removeForgotten(), signal),
    },
    {
      name: 'missed events of the payment provider',
      everyMs: 600_000,
      run: (signal) => deps.billing.rereadDue(signal),
    },
    { name: 'custom domains', everyMs: 60_000, run: (signal) => deps.domainChecks.checkDue(signal) },
    // A domain that was just bound waits for its certificate by this much.
    { name: 'certificates', everyMs: 5_000, run: () => deps.certificates.tend() },
    { name: 'times of renewal', everyMs: 600_000, run: (signal) => deps.certificates.askTimes(signal) },
    { name: 'retention', everyMs: 60_000, run: (signal) => deps.retention.run(signal) },
    { name: 'retention of records', everyMs: 60_000, run: (signal) => deps.recordSweep.run(signal) },
    { name: 'signing keys', everyMs: 600_000, run: () => deps.keys.sweep() },
    // A crash loses the counts of this long.
    { name: 'refused webhooks', everyMs: 10_000, run: () => deps.refusals.fold() },
  ];
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
  const due = schedule(deps).map((job) => ({ job, at: deps.clock.monotonic() + job.everyMs, running: false }));
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
