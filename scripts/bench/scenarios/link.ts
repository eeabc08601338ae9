/**
 * Throughput over a bad link: server and visitor in one network namespace, agent and origin in another, and between them
 * a link of 50 ms round trip, 1 % loss and 200 Mbit/s, made by native/linkemu.c. Beside it `ssh -R` over the same link, and
 * the visitor straight to the origin. Needs root.
 */
import { type Bench, runRounds } from '../bench.ts';
import { culvertBuild, moveServer, startAgent, startServer } from '../culvert.ts';
import { curlCommand, readCurl, readWrk, wrkCommand } from '../load.ts';
import {
  addNamespaces,
  type Ends,
  endsOf,
  FAR_ADDRESS as AGENT_ADDRESS,
  NEAR_ADDRESS as SERVER_ADDRESS,
  removePresent,
  startLink,
} from '../link-ends.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { startSsh } from '../ssh.ts';
import type { Sample, Scenario, Subject, SubjectName } from '../subject.ts';

const ONE_WAY_MS = 25;
const LOSS_PERCENT = 1;
const RATE_MBIT = 200;
/** About the bandwidth-delay product twice over, as a router would buffer. */
const QUEUE_PACKETS = 2_000;
const STREAMS = 8;
/** Shorter than this a download is over before its sender has found the rate of the link. */
const SHORTEST_SECONDS = 5;

/** The scenario for reports; it is measured by `measureLink`, because its subjects stand elsewhere. */
export function linkScenario(bench: Bench, name: 'link' | 'link-reno'): Scenario {
  const congestion = name === 'link-reno' ? 'reno' : 'the default of this machine';
  return {
    name,
    title: `${2 * ONE_WAY_MS} ms round trip, ${LOSS_PERCENT} % loss, ${RATE_MBIT} Mbit/s, congestion control ${congestion}`,
    subjects: ['direct', 'ssh', 'culvert'],
    columns: [
      { key: 'one', head: '1 stream Mbit/s', digits: 1 },
      { key: 'many', head: `${STREAMS} streams Mbit/s`, digits: 1 },
      { key: 'p50', head: 'small GET p50 ms', digits: 1 },
      { key: 'p99', head: 'small GET p99 ms', digits: 1 },
    ],
    measure: (subject) => measure(bench, subject, endsOf()),
  };
}

/** Builds the link, starts the subjects on it, runs the rounds and takes it all down again. */
export async function measureLink(bench: Bench, scenario: Scenario): Promise<void> {
  const { processes, tools, options } = bench;
  const ip = tools.find('ip');
  if (process.getuid?.() !== 0 || ip === undefined) {
    say(`${scenario.name} is SKIPPED: network namespaces need root and the program ip`);
    return;
  }
  const ends = endsOf();
  const removeNamespaces = (): void => removePresent(ends, ip);
  processes.atEnd(removeNamespaces);
  await addNamespaces(processes, ends, scenario.name === 'link-reno' ? 'reno' : undefined);
  await startLink(bench, ends, [
    ...['--delay-ms', String(ONE_WAY_MS), '--loss-pct', String(LOSS_PERCENT)],
    ...['--rate-mbit', String(RATE_MBIT), '--queue', String(QUEUE_PACKETS)],
  ]);
  const subjects = new Map<SubjectName, Subject>();
  const wanted = (name: SubjectName): boolean => options.subjects.length === 0 || options.subjects.includes(name);
  const origin = await startOrigin(processes, tools, { name: 'origin-link', address: '0.0.0.0', netns: ends.far });
  if (wanted('direct')) subjects.set('direct', { ...origin, address: AGENT_ADDRESS });
  for (const [name, start] of [
    ['ssh', () => startSshHere(bench, ends, origin.port)],
    ['culvert', () => startCulvertHere(bench, ends, origin.port)],
  ] as const) {
    if (!wanted(name)) continue;
    say(`starting ${name} on the link`);
    try {
      const subject = await start();
      if (subject !== undefined) subjects.set(name, subject);
    } catch (error) {
      say(`${name} is SKIPPED on the link: ${processes.survive(error)}`);
    }
  }
  await runRounds(bench, [scenario], subjects);
  for (const name of ['agent-link', 'server-link', 'ssh-link', 'sshd-link', 'origin-link', 'linkemu']) {
    await processes.stop(name);
  }
  removeNamespaces();
}

function startSshHere(bench: Bench, ends: Ends, originPort: number): Promise<Subject | undefined> {
  return startSsh(bench.processes, bench.tools, {
    originPort,
    sshdAddress: SERVER_ADDRESS,
    serverNetns: ends.near,
    clientNetns: ends.far,
  });
}

async function startCulvertHere(bench: Bench, ends: Ends, originPort: number): Promise<Subject> {
  const { processes, options } = bench;
  // The first start, the log-in and the token are had on loopback, where this program can reach the API.
  const server = await startServer(processes, culvertBuild(options), { name: 'server-link' });
  const moved = await moveServer(processes, server, { address: SERVER_ADDRESS, netns: ends.near });
  return startAgent(processes, moved, { originPort, name: 'agent-link', netns: ends.far });
}

async function measure(bench: Bench, subject: Subject, ends: Ends): Promise<Sample> {
  const { processes, load, options } = bench;
  const seconds = Math.max(SHORTEST_SECONDS, options.seconds);
  const download = async (streams: number): Promise<number> => {
    const command = curlCommand(subject, '/bytes/1000000000000', seconds);
    const runs = Array.from({ length: streams }, () => processes.run(command, { netns: ends.near }));
    const outcomes = await Promise.all(runs);
    return outcomes.reduce((sum, outcome) => sum + (readCurl(outcome.stdout).speed * 8) / 1e6, 0);
  };
  return load.around(subject, async () => {
    const requests = { path: '/small', connections: 1, seconds };
    const outcome = await processes.run(wrkCommand(subject, requests), { netns: ends.near });
    const small = readWrk(outcome.stdout);
    if (small === undefined) throw new Error(`wrk on ${subject.name}: ${outcome.stderr || outcome.stdout}`);
    const one = await download(1);
    const many = await download(STREAMS);
    const ms = (key: string): number => (small.values[key] ?? Number.NaN) / 1e3;
    return { values: { one, many, p50: ms('p50'), p99: ms('p99') }, units: 1 };
  });
}
