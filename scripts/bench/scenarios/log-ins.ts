/**
 * Log-ins: how near their rate comes to what argon2id alone allows, and what a storm of them takes from visitors. On a server of its own,
 * whose limit per source address is lifted.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { type CulvertServer, culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import type { Subject } from '../subject.ts';

const NAME = 'log-ins';
const PROGRAM = fileURLToPath(new URL('../log-ins.ts', import.meta.url));
/** Log-ins under way at once: both threads busy and a queue behind them. */
const CLIENTS = 8;
const WRK_SCRIPT = `
wrk.method = 'POST'
wrk.headers['content-type'] = 'application/json'
wrk.body = '{"email":"admin@localhost","password":"' .. os.getenv('BENCH_PASSWORD') .. '"}'
`;
const CONNECTIONS = 64;

interface Round {
  readonly argon2: number;
  readonly logIns: number;
  readonly quietRps: number;
  readonly stormRps: number;
  readonly stormLogIns: number;
  readonly quietP99: number;
  readonly stormP99: number;
}

/** Measures and keeps the figures under `log-ins`; the text is the table for the report. */
export async function measureLogIns(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin-log-ins', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: 'server-log-ins' });
  const subject = await startAgent(processes, server, { originPort: origin.port, name: 'agent-log-ins' });
  await measureRound(bench, server, subject); // warm-up
  const rounds: Round[] = [];
  for (let i = 1; i <= options.rounds; i++) {
    const round = await measureRound(bench, server, subject);
    rounds.push(round);
    say(
      `log-ins ${i}/${options.rounds}: ${number(round.logIns, 0)}/s of ${number(round.argon2, 0)}/s; ` +
        `visitors ${number(round.stormRps, 0)} of ${number(round.quietRps, 0)} req/s`,
    );
  }
  for (const name of ['agent-log-ins', 'server-log-ins', 'origin-log-ins']) await processes.stop(name);
  const of = (value: (round: Round) => number): number => median(rounds.map(value));
  const share = of((round) => round.logIns / round.argon2);
  const kept = of((round) => round.stormRps / round.quietRps);
  results.addSingle(NAME, 'share', share);
  results.addSingle(NAME, 'kept', kept);
  return [
    `${NAME}: ${CLIENTS} at once; visitors with ${CONNECTIONS} connections, small GET`,
    `  argon2id alone on two threads ${number(
      of((round) => round.argon2),
      1,
    )}/s, log-ins ${number(
      of((round) => round.logIns),
      1,
    )}/s: ${number(share, 2)}`,
    `  visitors alone ${number(
      of((round) => round.quietRps),
      0,
    )} req/s, in the storm ${number(
      of((round) => round.stormRps),
      0,
    )} req/s: ${number(kept, 2)}` +
      `; p99 ${number(of((round) => round.quietP99) / 1e3, 1)} and ${number(of((round) => round.stormP99) / 1e3, 1)} ms` +
      `; log-ins meanwhile ${number(
        of((round) => round.stormLogIns),
        1,
      )}/s`,
  ].join('\n');
}

async function measureRound(bench: Bench, server: CulvertServer, subject: Subject): Promise<Round> {
  const { load, options } = bench;
  const small = { path: '/small', connections: CONNECTIONS, seconds: options.seconds };
  const argon2 = await argon2Rate(bench);
  const logIns = await storm(bench, server, options.seconds);
  const quiet = await load.requests(subject, small);
  // The storm begins before the visitors and ends after them.
  const storming = storm(bench, server, options.seconds + 1);
  const stormy = await load.requests(subject, small);
  return {
    argon2,
    logIns,
    quietRps: quiet.values['rps'] ?? 0,
    stormRps: stormy.values['rps'] ?? 0,
    stormLogIns: await storming,
    quietP99: quiet.values['p99'] ?? 0,
    stormP99: stormy.values['p99'] ?? 0,
  };
}

/** Log-ins as fast as they are answered, by wrk: a client in JavaScript would take a fifth of a core for itself. */
async function storm(bench: Bench, server: CulvertServer, seconds: number): Promise<number> {
  const { processes } = bench;
  const script = join(processes.folder, 'log-in.lua');
  writeFileSync(script, WRK_SCRIPT);
  const url = `http://127.0.0.1:${server.apiPort}/auth/login`;
  const { stdout, stderr } = await processes.run(
    ['wrk', '-c', String(CLIENTS), '-t', '1', '-d', `${seconds}s`, '--timeout', '30s', '-s', script, url],
    { env: { BENCH_PASSWORD: server.password } },
  );
  const [, requests, took] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const rate = (Number(requests) - refused) / Number(took);
  if (!(rate > 0)) throw new Error(`the storm of log-ins: ${stderr.trim() || stdout}`);
  return rate;
}

async function argon2Rate(bench: Bench): Promise<number> {
  const { stdout, stderr } = await bench.processes.run([process.execPath, PROGRAM, String(bench.options.seconds)]);
  const rate = Number(/^rate ([\d.]+)$/m.exec(stdout)?.[1]);
  if (!(rate > 0)) throw new Error(`argon2id alone: ${stderr.trim().slice(-500) || stdout}`);
  return rate;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
