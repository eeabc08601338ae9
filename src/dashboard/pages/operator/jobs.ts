/** The jobs of the server's clock, out of its metrics: those that failed or are late first. Pure. */
import { byLabel, type Metrics } from './exposition.ts';

export interface Job {
  readonly name: string;
  readonly runs: number;
  readonly failures: number;
  readonly lateMs: number;
  /** Undefined before its first run has ended. */
  readonly tookMs: number | undefined;
}

export function jobsOf(metrics: Metrics): readonly Job[] {
  const of = (name: string): ReadonlyMap<string, number> => byLabel(metrics, `culvert_job_${name}`, 'job');
  const [failures, late, took] = [of('failures_total'), of('late_seconds'), of('duration_seconds')];
  const jobs = [...of('runs_total')].map(([name, runs]) => {
    const seconds = took.get(name);
    return {
      name,
      runs,
      failures: failures.get(name) ?? 0,
      lateMs: (late.get(name) ?? 0) * 1000,
      tookMs: seconds === undefined ? undefined : seconds * 1000,
    };
  });
  return jobs.sort((one, other) => other.failures - one.failures || other.lateMs - one.lateMs);
}
