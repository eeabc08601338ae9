/**
 * What idle visitors and idle agents cost the server: resident memory each, and processor time while nothing happens. On a
 * server of its own, started fresh, so that no load before has left a larger heap behind.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import { type CulvertServer, culvertBuild, startAgent, startServer } from '../culvert.ts';
import { collectGarbage, INSPECTABLE } from '../heap.ts';
import { startOrigin } from '../peers.ts';
import { treeSeconds, residentKb } from '../proc.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { HOST } from '../subject.ts';

const SERVER = 'server-memory';
const AGENT = 'agent-memory';
/** Until what was sent has arrived, and until freed pages have gone back. */
const SETTLE_MS = 2_000;
/** A shorter look at idle processor time would be made of single ticks of 10 ms. */
const WATCH_MS = 10_000;
/** Two looks at memory are compared only after the server has run hot once. */
const WARM_SECONDS = 2;

const NAME = 'memory';

/** Measures and keeps the figures under `memory`; the text is the table for the report. */
export async function measureMemory(bench: Bench): Promise<string> {
  const { processes, tools, load, options } = bench;
  const env = { NODE_OPTIONS: INSPECTABLE };
  const origin = await startOrigin(processes, tools, { name: 'origin-memory', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: SERVER, env });
  const subject = await startAgent(processes, server, { originPort: origin.port, name: AGENT, env });
  const lines = [`${NAME}: what idle visitors and agents cost the server`];
  const keep = (key: string, value: number, text: string): void => {
    bench.results.addSingle(NAME, key, value);
    say(`memory ${text}`);
    lines.push(`  ${text}`);
  };
  await load.requests(subject, { path: '/small', connections: 64, seconds: WARM_SECONDS });
  const base = await resident(bench);
  const quiet = await busyPercent(bench);
  keep('serverMb', base.server / 1024, `after a warm-up: server ${mb(base.server)}, agent ${mb(base.agent)}`);
  keep('quietPercent', quiet, `processor time of the idle server: ${number(quiet, 2)} %`);

  const visitors = options.idleVisitors;
  const command = [tools.program('idle'), String(server.httpPort), String(visitors), HOST];
  processes.start('idle', command);
  const open = await processes.waitForOutput('idle', /open \d+ ([\d.]+)/, 120_000);
  const visited = await resident(bench);
  const perVisitor = (visited.server - base.server) / visitors;
  keep(
    'visitorKb',
    perVisitor,
    `${number(visitors, 0)} idle visitors (opened in ${open[1]} s): server ${mb(visited.server)}, ` +
      `${number(perVisitor, 2)} KB each; agent ${number((visited.agent - base.agent) / visitors, 2)} KB each`,
  );
  const idle = await busyPercent(bench);
  keep('idlePercent', idle, `processor time of the server with them idle: ${number(idle, 2)} %`);
  await processes.stop('idle');

  await measureAgents(bench, server, keep);
  for (const name of ['agents', AGENT, SERVER, 'origin-memory']) await processes.stop(name);
  return lines.join('\n');
}

async function measureAgents(
  bench: Bench,
  server: CulvertServer,
  keep: (key: string, value: number, text: string) => void,
): Promise<void> {
  const { processes, options } = bench;
  const before = (await resident(bench)).server;
  const program = fileURLToPath(new URL('../agents.ts', import.meta.url));
  const url = `http://127.0.0.1:${server.apiPort}`;
  processes.start('agents', [process.execPath, program, url, String(options.agents)], {
    env: { CULVERT_TOKEN: server.token },
  });
  const online = await processes.waitForOutput('agents', /online \d+ ([\d.]+)/, 120_000);
  const connected = (await resident(bench)).server;
  const each = (connected - before) / options.agents;
  const took = `connected in ${online[1]} s`;
  keep('agentKb', each, `${number(options.agents, 0)} agents (${took}): ${number(each, 1)} KB each`);
  const beating = await busyPercent(bench);
  keep('agentsPercent', beating, `processor time of the server with their heartbeats: ${number(beating, 2)} %`);
  process.kill(processes.pid('agents'), 'SIGUSR2');
  const [, tunnels, seconds] = await processes.waitForOutput('agents', /bound (\d+) ([\d.]+)/, 120_000);
  const perTunnel = ((await resident(bench)).server - connected) / Number(tunnels);
  keep('tunnelKb', perTunnel, `${tunnels} tunnels on them (claimed in ${seconds} s): ${number(perTunnel, 1)} KB each`);
}

/** Memory when all is quiet and the garbage is gone, in KB. */
async function resident(bench: Bench): Promise<{ readonly server: number; readonly agent: number }> {
  const { processes } = bench;
  await pause(SETTLE_MS);
  for (const name of [SERVER, AGENT]) await collectGarbage(processes, name);
  await pause(SETTLE_MS);
  return { server: residentKb(processes.pid(SERVER)), agent: residentKb(processes.pid(AGENT)) };
}

/** Processor time of the server as a share of one processor. */
async function busyPercent(bench: Bench): Promise<number> {
  const pid = bench.processes.pid(SERVER);
  const before = treeSeconds(pid);
  await pause(WATCH_MS);
  return ((treeSeconds(pid) - before) / (WATCH_MS / 1_000)) * 100;
}

function mb(kb: number): string {
  return `${number(kb / 1024, 0)} MB`;
}
