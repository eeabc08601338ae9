/**
 * Where the processor time of server and agent goes under small requests: `perf record` on both, the shares by kernel, Node,
 * compiled JavaScript and libc, and the hottest symbols. Run by `--perf` instead of the comparison.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { findInPath } from '../tools.ts';

const PROFILED = ['server', 'agent'] as const;
/** A prime: no step with the timers of the machine. */
const SAMPLES_PER_SECOND = 997;
const SYMBOLS = 15;
const WARM_SECONDS = 3;

/** Loads by the names that they have in the comparison. */
const LOADS = [
  { name: 'small', path: '/small', connections: 64, close: false },
  { name: '64k', path: '/64k', connections: 64, close: false },
  { name: 'close', path: '/small', connections: 64, close: true },
] as const;

/** Profiles both processes under each load and gives the tables. */
export async function profile(bench: Bench): Promise<string> {
  const { processes, tools, load, options } = bench;
  const perf = findInPath('perf');
  if (perf === undefined) return '--perf is SKIPPED: perf is not on this machine (Debian package linux-perf)';
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  // Node writes the names of compiled functions where perf looks for them.
  const env = { NODE_OPTIONS: '--perf-basic-prof --interpreted-frames-native-stack' };
  const server = await startServer(processes, culvertBuild(options), { name: 'server', env });
  const subject = await startAgent(processes, server, { originPort: origin.port, name: 'agent', env });
  for (const name of PROFILED) {
    const map = `/tmp/perf-${processes.pid(name)}.map`;
    processes.atEnd(() => rmSync(map, { force: true }));
  }
  const parts: string[] = [];
  const wanted = LOADS.filter(({ name }) => options.only.includes(name));
  for (const { name: title, ...request } of wanted) {
    say(`profiling ${title}`);
    await load.requests(subject, { ...request, seconds: WARM_SECONDS });
    const records = PROFILED.map((name) =>
      processes.run([
        ...[perf, 'record', '-q', '-e', 'cpu-clock', '-F', String(SAMPLES_PER_SECOND)],
        ...['-p', String(processes.pid(name)), '-o', join(processes.folder, `${name}.perf`)],
        ...['--', 'sleep', String(options.seconds)],
      ]),
    );
    const sample = await load.requests(subject, { ...request, seconds: options.seconds });
    const failed = (await Promise.all(records)).find((outcome) => outcome.code !== 0);
    if (failed !== undefined) return `--perf stopped: perf record failed: ${failed.stderr.trim()}`;
    parts.push(`\n${title}: ${number(sample.values['rps'], 0)} req/s (slower than without perf)`);
    for (const name of PROFILED) {
      const us = ((sample.cpuSeconds[name] ?? 0) / sample.units) * 1e6;
      parts.push(`${name}, ${number(us, 1)} us/request`, await readProfile(bench, perf, name));
    }
  }
  return parts.join('\n');
}

/** The shares and the hottest symbols of one recording. */
async function readProfile(bench: Bench, perf: string, name: string): Promise<string> {
  const { processes } = bench;
  const file = join(processes.folder, `${name}.perf`);
  const command = [perf, 'report', '-i', file, '--stdio', '-q', '--percent-limit', '0', '-F', 'overhead,dso,symbol'];
  const outcome = await processes.run([...command, '-t', '|'], { timeoutMs: 300_000 });
  const rows = outcome.stdout.split('\n').flatMap((line) => {
    const [share, dso, ...symbol] = line.split('|').map((part) => part.trim());
    const percent = Number.parseFloat(share ?? '');
    return Number.isNaN(percent) || dso === undefined ? [] : [{ percent, dso, symbol: symbol.join('|') }];
  });
  const shares = new Map<string, number>();
  for (const row of rows) shares.set(kindOf(row.dso), (shares.get(kindOf(row.dso)) ?? 0) + row.percent);
  const summary = [...shares].sort((a, b) => b[1] - a[1]).map(([kind, share]) => `${kind} ${number(share, 1)} %`);
  const hottest = rows.slice(0, SYMBOLS).map((row) => [`${number(row.percent, 1)} %`, kindOf(row.dso), row.symbol]);
  return [`  ${summary.join(' · ')}`, ...align(hottest).map((line) => `    ${line}`)].join('\n');
}

function kindOf(dso: string): string {
  if (dso.startsWith('[kernel') || dso === '[guest.kernel]' || dso === '[vdso]') return 'kernel';
  if (/^\[?JIT|perf-\d+\.map|^\/\/anon|^anon$/.test(dso)) return 'JavaScript';
  if (/libc[.-]/.test(dso)) return 'libc';
  if (/^(node|culvert)$/.test(dso)) return 'Node';
  return dso;
}
