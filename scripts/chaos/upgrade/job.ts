/**
 * `culvert upgrade` on a machine whose systemd is played (systemd.ts): `node job.ts JSON`. In a process of its own, since the command waits for
 * systemctl without an event loop. Started by run.ts.
 */
import { PassThrough } from 'node:stream';
import { upgradeOn } from '../../../src/cli/server/upgrade.ts';

export interface UpgradeJob {
  readonly version: string;
  readonly releaseKey: string;
  readonly program: string;
  readonly config: string;
  /** Folder that plays `/`, and the one with systemctl. */
  readonly root: string;
  readonly tools: string;
  /** Folder of the release; undefined: back. */
  readonly from: string | undefined;
}

const { config, from, tools, ...installed } = JSON.parse(process.argv[2] ?? '') as UpgradeJob;
const machine = { env: { PATH: `${tools}:${process.env['PATH']}` }, settleMs: 1_000 };
const command = upgradeOn({ ...installed, ...machine });
const io = {
  ...{ stdin: new PassThrough().end(), stdout: process.stdout, stderr: process.stderr },
  ...{ env: {}, cwd: '/', onSignal: () => () => {}, onCrash: () => {}, pause: async () => {} },
};
process.exitCode = await command(io, {
  args: [],
  flags: from === undefined ? { config, rollback: true } : { config, from },
});
