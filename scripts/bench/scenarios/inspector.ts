/**
 * What recording costs: small GETs through a server that records (the default), against one that does not, turn by turn in
 * each round. Of one tunnel, whose own allowance bounds what is recorded, and of twenty, where that of the node does. Told beside it is how many
 * of the requests were recorded.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownerOf } from '../api.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';
import type { Sample, Subject } from '../subject.ts';

const NAME = 'inspector';
const CONNECTIONS = 64;
const TUNNELS = 20;
/** What is saved up for a burst is gone after these: the rates are what is measured. */
const WARM_UP_SECONDS = 5;

const SERVERS = ['off', 'on'] as const;
type Server = (typeof SERVERS)[number];
const LOADS = ['one', 'many'] as const;
type LoadName = (typeof LOADS)[number];
const TITLES: Readonly<Record<LoadName, string>> = { one: 'one tunnel', many: `${TUNNELS} tunnels` };

interface Way {
  readonly subject: Subject;
  /** Requests that were recorded, and that were not, since the start. */
  counts(): Promise<{ recorded: number; dropped: number }>;
}

type Key = `${LoadName} ${Server}`;

/** Measures and keeps the ratios under `inspector`; the text is the table for the report. */
export async function measureInspector(bench: Bench): Promise<string> {
  const { load, options, results, processes, tools } = bench;
  const { port } = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const ways = { off: await startWay(bench, 'off', port), on: await startWay(bench, 'on', port) };
  const script = writeScript(processes.makeFolder('wrk-inspector'));
  const measure = (name: LoadName, server: Server, seconds: number): Promise<Sample> =>
    load.requests(ways[server].subject, {
      ...{ path: '/small', connections: CONNECTIONS, seconds, host: hostOf(0) },
      ...(name === 'many' ? { script } : {}),
    });
  for (const name of LOADS) for (const server of SERVERS) await measure(name, server, WARM_UP_SECONDS);
  const rounds: Map<Key, Sample>[] = [];
  const before = await ways.on.counts();
  const started = performance.now();
  for (let round = 0; round < options.rounds; round++) {
    const samples = new Map<Key, Sample>();
    for (const name of LOADS)
      for (let turn = 0; turn < SERVERS.length; turn++) {
        const server = SERVERS[(turn + round) % SERVERS.length] as Server;
        const sample = await measure(name, server, options.seconds);
        if (sample.trouble !== undefined) throw new Error(`${TITLES[name]}, inspector ${server}: ${sample.trouble}`);
        samples.set(`${name} ${server}`, sample);
        say(
          `inspector ${round + 1}/${options.rounds} ${name} ${server}: ${number(sample.values['rps'] ?? 0, 0)} req/s`,
        );
      }
    rounds.push(samples);
  }
  const after = await ways.on.counts();
  const seconds = (performance.now() - started) / 1_000;
  await processes.stopAll();
  const rps = (key: Key): number[] => rounds.map((samples) => samples.get(key)?.values['rps'] ?? Number.NaN);
  const ratio = (name: LoadName): number => {
    const off = rps(`${name} off`);
    return median(rps(`${name} on`).map((value, round) => value / (off[round] as number))) ?? Number.NaN;
  };
  for (const name of LOADS) results.addSingle(NAME, name, ratio(name));
  const rows = LOADS.map((name) => [
    TITLES[name],
    number(median(rps(`${name} off`)), 0),
    number(median(rps(`${name} on`)), 0),
    number(ratio(name), 3),
  ]);
  const recorded = after.recorded - before.recorded;
  return [
    `${NAME}: small GET, ${CONNECTIONS} kept connections`,
    ...align([['', 'off, req/s', 'on, req/s', 'on / off'], ...rows]).map((line) => `  ${line}`),
    `  ${recorded} requests recorded in ${number(seconds, 0)} s, ${after.dropped - before.dropped} not`,
  ].join('\n');
}

async function startWay(bench: Bench, server: Server, originPort: number): Promise<Way> {
  const { processes, options } = bench;
  const name = `server-inspector-${server}`;
  const started = await startServer(processes, culvertBuild(options), {
    name,
    more: server === 'off' ? '[inspector]\nenabled = false\n' : '',
  });
  const agent = `agent-inspector-${server}`;
  const file = join(processes.makeFolder(agent), 'agent.toml');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, agentConfig(`http://127.0.0.1:${started.apiPort}`, originPort));
  processes.start(agent, [...started.command, 'start', '--config', file], { env: { CULVERT_TOKEN: started.token } });
  await processes.waitForOutput(agent, new RegExp(hostOf(TUNNELS - 1)));
  const owner = await ownerOf(started);
  return {
    subject: {
      name: 'culvert',
      scheme: 'http',
      address: '127.0.0.1',
      port: started.httpPort,
      processes: [name, agent],
    },
    counts: async () => countsIn(await owner.call('GET', '/superadmin/edge')),
  };
}

const hostOf = (at: number): string => `inspected-${at}.localhost`;

/** The agent's own page keeps requests too, and is no part of this. */
function agentConfig(server: string, port: number): string {
  const tunnels = Array.from(
    { length: TUNNELS },
    (_, at) => `[tunnels.t${at}]\ntarget = ${port}\nsubdomain = "inspected-${at}"\n`,
  );
  return `server = "${server}"\ninspect_port = 0\n${tunnels.join('')}`;
}

/** What wrk sends: requests to each of the tunnels in turn, made before. */
function writeScript(folder: string): string {
  const file = join(folder, 'tunnels.lua');
  writeFileSync(
    file,
    `local requests, at = {}, 0
init = function()
  for i = 0, ${TUNNELS - 1} do
    wrk.headers["Host"] = "inspected-" .. i .. ".localhost"
    requests[i] = wrk.format("GET", "/small")
  end
end
request = function()
  at = (at + 1) % ${TUNNELS}
  return requests[at]
end
`,
  );
  return file;
}

function countsIn(answer: unknown): { recorded: number; dropped: number } {
  const found: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'inspector') : undefined;
  const { recorded, dropped } = (found ?? {}) as { recorded?: number; dropped?: Record<string, number> };
  const all = Object.values(dropped ?? {}).reduce((sum, count) => sum + count, 0);
  return { recorded: recorded ?? Number.NaN, dropped: found === undefined ? Number.NaN : all };
}
