/**
 * A restart that no visitor notices: a server whose sockets this process holds, as systemd does, stops and starts again while visitors ask at a
 * steady rate. Failed requests, their times, and when agents are back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { type CulvertServer, culvertBuild, restartServer, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import type { Processes } from '../processes.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';
import { steadyVisitors, type SteadyResult } from '../steady-visitors.ts';

const NAME = 'restart';
const SERVER = 'server-restart';
const PER_SECOND = 500;
const REQUESTS = 10_000;
const QUICK_REQUESTS = 2_000;
/** Visitors ask for so long before the server stops. */
const BEFORE_MS = 1_000;
/** The first one serves the visitors. */
const AGENTS = ['restart', 'restart-2', 'restart-3', 'restart-4'] as const;
/** All visitors come from one address, and wait while no process is there. */
const LIMITS = 'max_requests_per_ip = 0';
const AT_ONCE = 4_000;
const BACK_MS = 30_000;
const POLL_MS = 10;

interface Round extends SteadyResult {
  /** From the signal to stop until the new process runs. */
  readonly awayMs: number;
  /** From then until the last agent serves its tunnel again. */
  readonly backMs: number;
}

/** Measures and keeps the figures under `restart`; the text is the table for the report. */
export async function measureRestart(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin-restart', address: '127.0.0.1' });
  const place = { name: SERVER, limits: LIMITS, isHeld: true };
  const server = await startServer(processes, culvertBuild(options), place);
  for (const name of AGENTS)
    await startAgent(processes, server, { originPort: origin.port, name, subdomain: name, json: true });
  const rounds: Round[] = [];
  for (let i = 1; i <= options.rounds; i++) {
    const round = await measureRound(processes, server, options.quick ? QUICK_REQUESTS : REQUESTS);
    rounds.push(round);
    say(
      `${NAME} ${i}/${options.rounds}: ${failuresOf(round)} of ${round.asked} failed, worst ${number(round.worst, 0)} ms`,
    );
  }
  for (const name of [...AGENTS, SERVER, 'origin-restart']) await processes.stop(name);
  server.holder?.close();
  results.addSingle(
    NAME,
    'failed',
    rounds.reduce((sum, round) => sum + failuresOf(round), 0),
  );
  results.addSingle(NAME, 'backMs', median(rounds.map(({ backMs }) => backMs)) ?? Number.NaN);
  return tableOf(rounds);
}

async function measureRound(processes: Processes, server: CulvertServer, requests: number): Promise<Round> {
  let isOver = false;
  const visitors = steadyVisitors(
    { port: server.httpPort, host: `${AGENTS[0]}.localhost`, perSecond: PER_SECOND, atOnce: AT_ONCE },
    (asked) => isOver && asked >= requests,
  );
  const restarting = (async () => {
    await pause(BEFORE_MS);
    const stopsAt = Date.now();
    const runsAt = await restartServer(processes, server);
    const backAt = await Promise.all(AGENTS.map((agent) => onlineSince(processes, agent, stopsAt)));
    return { awayMs: runsAt - stopsAt, backMs: Math.max(...backAt) - runsAt };
  })().finally(() => {
    isOver = true;
  });
  const [result, times] = await Promise.all([visitors, restarting]);
  return { ...result, ...times };
}

/** When an agent said that its tunnel is live, for the first time after `since`; milliseconds since the epoch. */
async function onlineSince(processes: Processes, agent: string, since: number): Promise<number> {
  for (const until = Date.now() + BACK_MS; Date.now() < until; await pause(POLL_MS)) {
    const events = processes.readLog(agent).matchAll(/"event":"tunnel_online","at":"([^"]+)"/g);
    const at = [...events].map(([, text = '']) => Date.parse(text)).find((ms) => ms > since);
    if (at !== undefined) return at;
  }
  throw new Error(`${agent} did not come back in ${BACK_MS} ms: ${processes.lastWords(agent)}`);
}

function failuresOf({ failed }: Round): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}

function tableOf(rounds: readonly Round[]): string {
  const head = ['', 'requests', 'failed', 'p50 ms', 'p99 ms', 'worst ms', 'away ms', 'agents back ms'];
  const rows = rounds.map((round, i) => [
    `round ${i + 1}`,
    number(round.asked, 0),
    number(failuresOf(round), 0),
    number(round.p50, 1),
    number(round.p99, 0),
    number(round.worst, 0),
    number(round.awayMs, 0),
    number(round.backMs, 0),
  ]);
  const reasons = rounds.flatMap(({ failed }, i) =>
    Object.entries(failed).map(([why, count]) => `! round ${i + 1}: ${count} x ${why}`),
  );
  return [
    `${NAME}: a server behind held sockets restarts; ${PER_SECOND} req/s, half of them on kept connections, ${AGENTS.length} agents. ` +
      'away: from SIGTERM until the new process runs; agents back: from then until the last tunnel is live',
    ...[...align([head, ...rows]), ...reasons].map((line) => `  ${line}`),
  ].join('\n');
}
