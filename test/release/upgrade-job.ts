/** Runs an upgrade that is killed before a step. Argument: a KillJob as JSON. Started by upgrade-kill.test.ts. */
import { type Home, runUpgrade } from './installed.ts';

export interface KillJob {
  readonly home: Home;
  readonly flags: object;
  readonly releaseKey: string;
  readonly version: string;
  /** Number of the line of progress at which it dies; it lives on when there are fewer. */
  readonly killAt: number;
}

const job: KillJob = JSON.parse(process.argv[2] ?? '');
const { home, flags, releaseKey, version, killAt } = job;
const { code, stderr } = await runUpgrade({
  ...{ home, flags, installed: { releaseKey, version } },
  onLine: (count) => {
    if (count === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
process.stderr.write(stderr);
process.exitCode = code;
