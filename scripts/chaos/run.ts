/**
 * `npm run soak -- chaos`: every way to break the path, again and again, and how long the public name took to come back by itself.
 *
 *   npm run soak -- chaos [--rounds 50] [--only NAME,…] [--lanes 10] [--shortest-s 0] [--longest-s 45]
 *
 * Names: kill-server, kill-agent, half-open, late-names, address-change (another wifi), forgotten-flow (a NAT that drops the connection without
 * a word), full-disk, herd (1,000 agents of one process after a restart). All of it, a hundred times each, on a machine with nothing else to do:
 *
 *   npm run soak -- chaos --rounds 100 --longest-s 10
 *   npm run soak -- chaos --only herd --rounds 20 --longest-s 10
 *
 * Fails when one return takes 10 s or more. Outages are short and long ones mixed, because an agent that has waited long tries seldom.
 */
import { parseArgs } from 'node:util';
import { Ending } from '../../test/harness/ends.ts';
import { noNamespaces } from '../../test/harness/tools.ts';
import { fullDisk } from './full-disk.ts';
import {
  addressChange,
  type Build,
  forgottenFlow,
  halfOpen,
  herd,
  killAgent,
  killServer,
  lateNames,
} from './scenarios.ts';

const LIMIT_MS = 10_000;

interface Kind {
  readonly name: string;
  readonly build: Build;
  readonly needsNetwork: boolean;
  /** More at once would measure the machine: a server takes seconds of a processor to start. */
  readonly maxLanes: number;
}

const KINDS: readonly Kind[] = [
  { name: 'kill-server', build: killServer, needsNetwork: false, maxLanes: 5 },
  { name: 'kill-agent', build: killAgent, needsNetwork: false, maxLanes: 3 },
  { name: 'half-open', build: halfOpen, needsNetwork: true, maxLanes: 10 },
  { name: 'late-names', build: lateNames, needsNetwork: true, maxLanes: 10 },
  { name: 'address-change', build: addressChange, needsNetwork: true, maxLanes: 10 },
  { name: 'forgotten-flow', build: forgottenFlow, needsNetwork: true, maxLanes: 10 },
  { name: 'full-disk', build: fullDisk, needsNetwork: false, maxLanes: 3 },
  { name: 'herd', build: herd, needsNetwork: false, maxLanes: 1 },
];

export async function chaos(argv: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string', default: '50' },
      only: { type: 'string' },
      lanes: { type: 'string', default: '10' },
      'longest-s': { type: 'string', default: '45' },
      'shortest-s': { type: 'string', default: '0' },
    },
  });
  const rounds = Number(values.rounds);
  const kinds = KINDS.filter(({ name }) => values.only === undefined || values.only.split(',').includes(name));
  const withoutNetwork = noNamespaces();
  let good = true;
  for (const kind of kinds) {
    if (kind.needsNetwork && withoutNetwork !== false) {
      console.log(`${kind.name.padEnd(14)} SKIPPED: ${withoutNetwork}`);
      good = false;
      continue;
    }
    const lanes = Math.min(kind.maxLanes, Number(values.lanes), rounds);
    good =
      (await runKind(kind, {
        rounds,
        lanes,
        shortestMs: Number(values['shortest-s']) * 1000,
        longestMs: Number(values['longest-s']) * 1000,
      })) && good;
  }
  return good;
}

interface Extent {
  readonly rounds: number;
  readonly lanes: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

async function runKind({ name, build }: Kind, { rounds, lanes, shortestMs, longestMs }: Extent): Promise<boolean> {
  const ending = new Ending();
  const times: number[] = [];
  const failures: string[] = [];
  try {
    const scenario = await build(ending, lanes);
    let next = 0;
    const lane = async (number: number): Promise<void> => {
      while (next < rounds) {
        next++;
        // Most outages are short, some long: the square keeps the mean at a third of the longest.
        const outageMs = Math.round(shortestMs + Math.random() ** 2 * (longestMs - shortestMs));
        try {
          const ms = await scenario.strike(number, outageMs);
          times.push(ms);
          console.log(`${name.padEnd(14)} lane ${number}, outage ${outageMs} ms: back in ${ms} ms`);
        } catch (error) {
          failures.push(error instanceof Error ? error.message : String(error));
          console.log(`${name.padEnd(14)} lane ${number}, outage ${outageMs} ms: ${failures.at(-1)}`);
          return; // a lane that did not come back can't be struck again
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index + 1)));
  } finally {
    await ending.run();
  }
  const sorted = times.toSorted((a, b) => a - b);
  const inTime = sorted.filter((ms) => ms < LIMIT_MS).length;
  const figure = (index: number): string => `${sorted[Math.max(0, index)] ?? '?'} ms`;
  console.log(
    `${name.padEnd(14)} ${inTime} of ${rounds} back in under ${LIMIT_MS / 1000} s: ` +
      `min ${figure(0)}, median ${figure(Math.floor((sorted.length - 1) / 2))}, max ${figure(sorted.length - 1)}`,
  );
  return inTime === rounds && failures.length === 0;
}
