/**
 * What a storm of wrong passwords on one tunnel's Basic gate takes from visitors of another tunnel. On a server of its own. The storm is paced, by
 * a light client (native/storm.c): some four times what the argon2 threads compute, so that their line is full all the time and the rest is
 * refused, and few enough that sending and refusing is not what is measured. It comes from a thousand addresses, because one is refused after ten
 * wrong ones, before anything is computed. What the client costs is printed.
 */
import { ownerOf, tunnelId } from '../api.ts';
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { number } from '../report/tables.ts';
import { median } from '../results.ts';
import type { Sample, Subject } from '../subject.ts';

const NAME = 'gate-storm';
const SERVER = 'server-gate';
const CONNECTIONS = 64;
const GUESSES_PER_SECOND = 500;
/** Ten guesses each in a minute: 10,000 checks, more than two threads compute in it. */
const ADDRESSES = 1_000;
/** The storm is there before the visitors, and still there when they leave. */
const LEAD_MS = 500;

interface Storm {
  readonly sent: number;
  /** Passwords that were checked and found wrong. */
  readonly wrong: number;
  /** Refused because of their address, or because too many wait. */
  readonly limited: number;
  readonly busy: number;
  readonly cpu: number;
  readonly seconds: number;
}

interface Round {
  readonly quiet: Sample;
  readonly stormy: Sample;
  readonly storm: Storm;
}

/** Measures and keeps the share that is left under `gate-storm`; the text is the table for the report. */
export async function measureGateStorm(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: SERVER });
  const owner = await ownerOf(server);
  const other = await startAgent(processes, server, { originPort: origin.port, name: 'agent-other' });
  await startAgent(processes, server, { originPort: origin.port, name: 'agent-gated', subdomain: 'gated' });
  const id = await tunnelId(owner, 'gated');
  await owner.call('PUT', `/tunnels/${id}/auth`, { username: 'preview', password: 'correct horse battery staple' });
  const rounds: Round[] = [];
  await measureRound(bench, other, 0); // warm-up
  for (let i = 1; i <= options.rounds; i++) {
    const round = await measureRound(bench, other, i);
    rounds.push(round);
    say(
      `${NAME} ${i}/${options.rounds}: ${number(round.stormy.values['rps'], 0)} of ${number(round.quiet.values['rps'], 0)} ` +
        `req/s; ${number(round.storm.wrong / round.storm.seconds, 0)} passwords/s`,
    );
  }
  await processes.stopAll();
  const of = (value: (round: Round) => number | undefined): number =>
    median(rounds.map((round) => value(round) ?? Number.NaN)) ?? Number.NaN;
  const kept = of(({ quiet, stormy }) => (stormy.values['rps'] ?? Number.NaN) / (quiet.values['rps'] ?? Number.NaN));
  results.addSingle(NAME, 'kept', kept);
  const rate = (value: (storm: Storm) => number): string =>
    number(
      of(({ storm }) => value(storm) / storm.seconds),
      0,
    );
  const p99 = (value: (round: Round) => Sample): string => number(of((round) => value(round).values['p99']) / 1e3, 1);
  return [
    `${NAME}: wrong passwords at one tunnel's gate, ${GUESSES_PER_SECOND}/s from ${ADDRESSES} addresses; visitors of another, ${CONNECTIONS} connections, small GET`,
    `  visitors alone ${number(
      of(({ quiet }) => quiet.values['rps']),
      0,
    )} req/s, in the storm ` +
      `${number(
        of(({ stormy }) => stormy.values['rps']),
        0,
      )} req/s: ${number(kept, 2)}; ` +
      `p99 ${p99(({ quiet }) => quiet)} and ${p99(({ stormy }) => stormy)} ms; ` +
      `server ${number(
        of(({ quiet }) => serverCost(quiet)),
        1,
      )} and ${number(
        of(({ stormy }) => serverCost(stormy)),
        1,
      )} us/request`,
    `  the storm: ${rate(({ sent }) => sent)}/s sent, ${rate(({ wrong }) => wrong)}/s checked, ` +
      `${rate(({ busy }) => busy)}/s refused for the line, ${rate(({ limited }) => limited)}/s for their address; ` +
      `its client took ${number(of(({ storm }) => storm.cpu / storm.seconds) * 100, 1)} % of a core`,
  ].join('\n');
}

async function measureRound(bench: Bench, subject: Subject, round: number): Promise<Round> {
  const { load, options } = bench;
  const small = { path: '/small', connections: CONNECTIONS, seconds: options.seconds };
  const quietly = (): Promise<Sample> => load.requests(subject, small);
  const first = round % 2 === 0 ? await quietly() : undefined;
  const storming = storm(bench, subject.port);
  await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  const stormy = await load.requests(subject, small);
  return { stormy, storm: await storming, quiet: first ?? (await quietly()) };
}

async function storm({ processes, tools, options }: Bench, port: number): Promise<Storm> {
  const seconds = options.seconds + (2 * LEAD_MS) / 1_000;
  const words = [port, 'gated.localhost', GUESSES_PER_SECOND, ADDRESSES, seconds].map(String);
  const { stdout, stderr } = await processes.run([tools.program('storm'), ...words]);
  const found = /sent (\d+) 401 (\d+) 429 (\d+) 503 (\d+) other (\d+) cpu ([\d.]+)/.exec(stdout);
  const [sent, wrong, limited, busy, other, cpu] = (found ?? []).slice(1).map(Number);
  if (sent === undefined || other !== 0) throw new Error(`the storm of wrong passwords: ${stderr.trim() || stdout}`);
  return { sent, wrong: wrong ?? 0, limited: limited ?? 0, busy: busy ?? 0, cpu: cpu ?? 0, seconds };
}

/** Microseconds of the server per request, what the storm costs it included. */
function serverCost({ cpuSeconds, units }: Sample): number {
  return ((cpuSeconds[SERVER] ?? Number.NaN) / units) * 1e6;
}
