/**
 * `npm run soak -- upgrade`: a server is upgraded and rolled back while visitors come, and none of them notices.
 *
 *   npm run soak -- upgrade [--rounds 20] [--agents 50] [--per-second 300]
 *
 * The server's sockets are held as systemd holds them. Both programs are built from this checkout; the newer one has one migration more, so that
 * each rollback puts a database back. A request fails that gets no whole answer with 200. Prints a line a round.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Ending } from '../../../test/harness/ends.ts';
import { startOrigin } from '../../../test/harness/origin.ts';
import { type SpawnedCulvert, spawnCulvert } from '../../../test/harness/spawned.ts';
import { steadyVisitors } from '../../bench/steady-visitors.ts';
import { ROOT } from '../../release/source.ts';
import { HerdWatch } from '../herd-watch.ts';
import type { UpgradeJob } from './job.ts';
import { makePrograms, type Programs } from './programs.ts';
import { playSystemd } from './systemd.ts';

const AT_ONCE = 4_000;
/** Visitors come for so long before and after. */
const AROUND_MS = 1_000;
const SLOWEST_ANSWER_MS = 300;
const ANSWER = Buffer.alloc(20_000, 'x');

interface Fixture {
  readonly culvert: SpawnedCulvert;
  readonly hosts: readonly string[];
  readonly perSecond: number;
  readonly run: (what: 'upgrade' | 'rollback') => Promise<number>;
}

export async function upgrades(argv: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string', default: '20' },
      agents: { type: 'string', default: '50' },
      'per-second': { type: 'string', default: '300' },
    },
  });
  const rounds = Number(values.rounds);
  const ending = new Ending();
  let good = 0;
  try {
    const fixture = await open(ending, { agents: Number(values.agents), perSecond: Number(values['per-second']) });
    for (let round = 1; round <= rounds; round++) {
      if (await runRound(fixture, `upgrade ${round}/${rounds}`)) good++;
    }
  } finally {
    await ending.run();
  }
  console.log(`upgrade: ${good} of ${rounds} rounds without a failed request`);
  return good === rounds;
}

async function runRound({ culvert, hosts, perSecond, run }: Fixture, name: string): Promise<boolean> {
  let isOver = false;
  const visitors = steadyVisitors({ port: culvert.ports.http, host: hosts, perSecond, atOnce: AT_ONCE }, () => isOver);
  const work = (async () => {
    await pause(AROUND_MS);
    const times = [await run('upgrade'), await run('rollback')];
    await pause(AROUND_MS);
    return times;
  })().finally(() => (isOver = true));
  const [{ asked, failed, p50, worst }, [up = 0, back = 0]] = await Promise.all([visitors, work]);
  const failures = Object.entries(failed);
  const figures = `p50 ${p50.toFixed(0)} ms, longest ${worst.toFixed(0)} ms`;
  console.log(
    `${name}: ${asked} requests, ${failures.reduce((sum, [, count]) => sum + count, 0)} failed, ${figures}; ` +
      `upgrade ${(up / 1_000).toFixed(1)} s, rollback ${(back / 1_000).toFixed(1)} s`,
  );
  for (const [why, count] of failures) console.log(`  ${count} x ${why}`);
  return failures.length === 0;
}

async function open(ending: Ending, load: { agents: number; perSecond: number }): Promise<Fixture> {
  const place = join(ROOT, 'dist');
  mkdirSync(place, { recursive: true });
  const folder = mkdtempSync(join(place, '.upgrade-'));
  ending.after(() => rmSync(folder, { recursive: true, force: true }));
  const programs = makePrograms(folder);
  const program = join(folder, 'bin/culvert');
  mkdirSync(join(folder, 'bin'));
  copyFileSync(programs.program, program);
  const origin = await startOrigin(ending, (_request, response) => {
    setTimeout(() => response.end(ANSWER), Math.random() * SLOWEST_ANSWER_MS);
  });
  const culvert = await spawnCulvert(ending, { held: true, program });
  const { root, tools } = playSystemd(ending, culvert, program);
  const herd = new HerdWatch(ending, {
    ...{ server: culvert.apiUrl, count: load.agents, token: culvert.token, target: origin.port },
  });
  await herd.until(load.agents);
  const hosts = Array.from({ length: load.agents }, (_, index) => `herd${index + 1}.localhost`);
  const paths = { program, root, tools, config: join(culvert.folder, 'server.toml') };
  return {
    ...{ culvert, hosts, perSecond: load.perSecond },
    run: (what) => runJob(jobOf(what, programs, paths)),
  };
}

function jobOf(
  what: 'upgrade' | 'rollback',
  { version, next }: Programs,
  paths: Pick<UpgradeJob, 'program' | 'root' | 'tools' | 'config'>,
): UpgradeJob {
  const isUp = what === 'upgrade';
  return {
    ...paths,
    version: isUp ? version : next.version,
    releaseKey: next.publicKey,
    from: isUp ? next.release : undefined,
  };
}

/** Resolves with the milliseconds that the command took. */
async function runJob(job: UpgradeJob): Promise<number> {
  const begun = performance.now();
  const words = [join(import.meta.dirname, 'job.ts'), JSON.stringify(job)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`the command ended with ${code}:\n${said}`);
  if (job.from === undefined && !said.includes('back as the database'))
    throw new Error(`no database came back:\n${said}`);
  return performance.now() - begun;
}
