/**
 * What the control plane does by the clock: one table, one timer. A job that fails is logged and tried again at its next turn.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Billing } from './services/billing/billing.ts';
import type { Certificates } from './services/certificates/certificates.ts';
import type { DomainChecks } from './services/domains/domain-checks.ts';
import type { RecordSweep } from './services/inspector/record-sweep.ts';
import type { Keys } from './services/keys/keys.ts';
import type { DeviceExpiry } from './services/networks/device-expiry.ts';
import type { JobTimes } from './services/operator/job-times.ts';
import type { Retention } from './services/retention.ts';
import type { TokenEnds } from './services/tokens/token-ends.ts';
import type { Tunnels } from './services/tunnels/tunnels.ts';
import type { Refusals } from './services/webhooks/refusals.ts';

interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** A promise: the job is not begun again before it has ended. */
  readonly run: (stopping: AbortSignal) => void | Promise<unknown>;
}

export interface JobDeps {
  readonly tunnels: Pick<Tunnels, 'expireDue' | 'removeUnused' | 'removeForgotten'>;
  readonly tokenEnds: Pick<TokenEnds, 'endGraces'>;
  readonly deviceExpiry: Pick<DeviceExpiry, 'expireDue'>;
  readonly billing: Pick<Billing, 'rereadDue'>;
  readonly domainChecks: Pick<DomainChecks, 'checkDue'>;
  readonly certificates: Pick<Certificates, 'tend' | 'askTimes'>;
  readonly retention: Pick<Retention, 'sweep'>;
  readonly recordSweep: Pick<RecordSweep, 'run'>;
  readonly keys: Pick<Keys, 'sweep'>;
  readonly refusals: Pick<Refusals, 'fold'>;
  /** Told of every run. */
  readonly jobTimes: JobTimes;
  readonly clock: Clock;
  readonly log: Logger;
}

const TICK_MS = 1_000;

/** The schedule. Each run takes a bounded batch, so that none holds the loop. */
function schedule(deps: JobDeps): readonly Job[] {
  return [
    // A tunnel may outlive its time by this much.
    { name: 'expire tunnels', everyMs: TICK_MS, run: () => void deps.tunnels.expireDue() },
    // So may a token that was rotated, for whoever asks the database; data nodes know the instant and keep it themselves.
    { name: 'end graces of tokens', everyMs: TICK_MS, run: () => void deps.tokenEnds.endGraces() },
    // So may the peer of a device in its network's server config; its datagrams end at the instant itself.
    { name: 'expire devices', everyMs: TICK_MS, run: () => void deps.deviceExpiry.expireDue() },
    { name: 'remove unused tunnels', everyMs: 60_000, run: () => void deps.tunnels.removeUnused() },
    { name: 'remove forgotten tunnels', everyMs: 600_000, run: () => void deps.tunnels.removeForgotten() },
    {
      name: 'missed events of the payment provider',
      everyMs: 600_000,
      run: (signal) => deps.billing.rereadDue(signal),
    },
    { name: 'custom domains', everyMs: 60_000, run: (signal) => deps.domainChecks.checkDue(signal) },
    // A domain that was just bound waits for its certificate by this much.
    { name: 'certificates', everyMs: 5_000, run: () => deps.certificates.tend() },
    { name: 'times of renewal', everyMs: 600_000, run: (signal) => deps.certificates.askTimes(signal) },
    { name: 'retention', everyMs: 60_000, run: () => deps.retention.sweep() },
    { name: 'retention of records', everyMs: 60_000, run: (signal) => deps.recordSweep.run(signal) },
    { name: 'signing keys', everyMs: 600_000, run: () => deps.keys.sweep() },
    // A crash loses the counts of this long.
    { name: 'refused webhooks', everyMs: 10_000, run: () => deps.refusals.fold() },
  ];
}

/** Starts the schedule; returns its stop. A job that waits for somebody outside is told to stop and not waited for. */
export function startJobs(deps: JobDeps): () => void {
  const stopping = new AbortController();
  const due = schedule(deps).map((job) => ({ job, at: deps.clock.monotonic() + job.everyMs, running: false }));
  const { jobTimes } = deps;
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
