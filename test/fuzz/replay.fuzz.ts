/**
 * Runs the fuzzer of replays, for `npm run fuzz -- replay` and in short for CI. The first case that fails is made as small as it still fails
 * and printed with its seed.
 */
import type { ReplayEdits } from '../../src/control/inspector/replay/request.ts';
import { type Random, randomOf } from './cases.ts';
import { DryEdge } from './dry-edge.ts';
import { judgeReplay, type ReplayCase, type ReplayOutcome } from './replay.ts';
import { shrink } from './shrink.ts';
import { requestCase } from './smuggling-cases.ts';
import { CODINGS, CODING_NAMES, GUARDED, HOSTS, LENGTH_NAMES, LENGTHS, METHODS, TARGETS } from './smuggling-values.ts';

export interface ReplayOptions {
  readonly seed: number;
  /** Ends after so many cases, or so many seconds. */
  readonly cases?: number;
  readonly seconds?: number;
}

export type ReplayReport = Readonly<Record<ReplayOutcome['ended'] | 'cases', number>>;

/** The clock is asked every so many cases. */
const LOOK_EVERY = 1_000;

/** Throws at the first case that does not hold. */
export function fuzzReplay(options: ReplayOptions): ReplayReport {
  const edge = new DryEdge();
  const random = randomOf(options.seed);
  const until = options.seconds === undefined ? Infinity : performance.now() + options.seconds * 1_000;
  const report = { cases: 0, kept: 0, refused: 0, served: 0 };
  try {
    while (report.cases < (options.cases ?? Infinity)) {
      if (report.cases % LOOK_EVERY === 0 && performance.now() >= until) break;
      report.cases++;
      const of = replayCase(random);
      const { ended, fault } = judged(edge, of);
      if (fault !== null) throw new Error(shown(edge, of, options.seed, fault));
      report[ended]++;
    }
    return report;
  } finally {
    edge.close();
  }
}

/** The long form. Prints the seed, and how the cases ended. */
export function fuzzReplayLong(seconds: number, seed: number): void {
  console.log(`replay: seed ${seed}, ${seconds} s`);
  const { cases, kept, refused, served } = fuzzReplay({ seed, seconds });
  console.log(
    `replay: ${cases} cases: ${served} reached the service as one request, ${refused} refused, ${kept} not sent`,
  );
}

/** A fault of the code's own is one of the case. */
function judged(edge: DryEdge, of: ReplayCase): ReplayOutcome {
  try {
    return judgeReplay(edge, of);
  } catch (error) {
    return { fault: `it throws ${String(error)}`, ended: 'refused' };
  }
}

function shown(edge: DryEdge, of: ReplayCase, seed: number, fault: string): string {
  const head = shrink(of.head, (text) => judged(edge, { ...of, head: text }).fault !== null);
  return `replay, seed ${seed}: ${fault}\n${JSON.stringify({ ...of, head, edits: of.edits })}`;
}

const NAMES: readonly string[] = [...CODING_NAMES, ...LENGTH_NAMES, ...GUARDED];
// biome-ignore format: a table
const HARMLESS: readonly string[] = [
  'X-A', 'x_b', 'Accept', 'Cookie', 'Culvert-Replay', 'culvert_replay', 'Culvert-Visitor-Email', 'X-A:b',
  'Culvert-Webhook-Attempt', 'culvert_webhook_delivery',
];
const VALUES: readonly string[] = [
  ...CODINGS,
  ...LENGTHS,
  ...HOSTS,
  'a\r\nX-Evil: 1',
  'a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n',
  '\u010d\u010aX: 1',
  'a\u0141',
  'a',
];

/** What a record could hold: a head as the edge writes them, one with hostile lines in it, or any bytes. */
function replayCase(random: Random): ReplayCase {
  const chance = random();
  const head = chance < 0.3 ? headOf(random) : chance < 0.6 ? damaged(random, headOf(random)) : requestCase(random);
  const body = random() < 0.5 ? '' : random() < 0.5 ? 'hello' : requestCase(random);
  return { head, body, edits: random() < 0.6 ? {} : editsOf(random) };
}

function headOf(random: Random): string {
  const lines = ['Host: shop.example.test'];
  for (let i = Math.floor(random() * 4); i > 0; i--) {
    const name = one(random, random() < 0.75 ? HARMLESS : NAMES);
    lines.push(`${name}: ${one(random, random() < 0.25 ? VALUES : ['a', '', ' b ', '\xff'])}`);
  }
  const text = `${one(random, ['GET', 'POST', 'HEAD', 'get', 'X'])} ${one(random, ['/', '/a?b', '*'])} HTTP/1.1\r\n`;
  return `${text}${lines.join('\r\n')}\r\n\r\n`;
}

/** Bytes of one head in another one. */
function damaged(random: Random, head: string): string {
  const at = Math.floor(random() * head.length);
  const piece = random() < 0.5 ? one(random, VALUES) : requestCase(random).slice(0, 200);
  return head.slice(0, at) + piece + head.slice(at + Math.floor(random() * 4));
}

/** Also what the API would not have let through: the edge is the last to look. */
function editsOf(random: Random): ReplayEdits {
  const headers: Record<string, string | string[] | null> = {};
  for (let i = Math.floor(random() * 3); i > 0; i--) {
    const value = one(random, VALUES);
    const name = one(random, random() < 0.5 ? HARMLESS : NAMES);
    headers[name] = random() < 0.2 ? null : random() < 0.3 ? [value, one(random, VALUES)] : value;
  }
  return {
    headers,
    ...(random() < 0.2 ? { method: one(random, METHODS) } : {}),
    ...(random() < 0.2 ? { path: one(random, TARGETS) } : {}),
    ...(random() < 0.2 ? { body: Buffer.from(one(random, VALUES), 'latin1') } : {}),
  };
}

function one(random: Random, list: readonly string[]): string {
  return list[Math.floor(random() * list.length)] as string;
}
