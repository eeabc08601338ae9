/**
 * Runs the fast smuggling fuzzers, for `npm run fuzz -- smuggling` and in short for CI: requests of hostile visitors in HTTP/1.1 and HTTP/2,
 * responses of hostile services, and gatherings of visitors, on an edge without sockets. The first case that fails is made as small as it still
 * fails and printed with its seed, as a line for the corpus.
 */
import { randomOf } from './cases.ts';
import { DryEdge } from './dry-edge.ts';
import type { StreamCase } from './dry-http2.ts';
import { gather } from './neighbours.ts';
import { shrink } from './shrink.ts';
import { judgeRequest, type RequestCase } from './smuggling.ts';
import { requestCase, responseCase, stepOf } from './smuggling-cases.ts';
import { judgeStream, streamCase } from './smuggling-http2.ts';
import { ASKS, judgeResponse, type ResponseCase } from './smuggling-responses.ts';

export interface SmugglingOptions {
  readonly seed: number;
  /** Ends after so many cases, or so many seconds. */
  readonly cases?: number;
  readonly seconds?: number;
  /** Told every so often how far it is. */
  readonly onProgress?: (report: SmugglingReport) => void;
}

export interface SmugglingReport {
  readonly cases: number;
  /** Requests that a service got. */
  readonly served: number;
  /** Requests by the grammar: what is missing of them the edge refused for reasons of its own. */
  readonly meant: number;
  /** Streams of HTTP/2 that came to a service as a request. */
  readonly streams: number;
  /** How each response ended. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** The clock is read, and progress is printed, every so many cases. */
const LOOK_EVERY = 1_000;
const TELL_EVERY = 500_000;
/** A gathering (neighbours.ts) is a case of 40 steps. */
const GATHER_EVERY = 50;
const LEAVES = ['stays', 'end', 'reset'] as const;

/** Throws at the first case that does not hold. */
export function fuzzSmuggling(options: SmugglingOptions): SmugglingReport {
  const edge = new DryEdge();
  const random = randomOf(options.seed);
  const until = options.seconds === undefined ? Infinity : performance.now() + options.seconds * 1_000;
  const outcomes = new Map<string, number>();
  const report = { cases: 0, served: 0, meant: 0, streams: 0, outcomes };
  try {
    while (report.cases < (options.cases ?? Infinity)) {
      if (report.cases % LOOK_EVERY === 0 && performance.now() >= until) break;
      if (report.cases % TELL_EVERY === 0 && report.cases > 0) options.onProgress?.(report);
      report.cases++;
      if (report.cases % GATHER_EVERY === 0) gathered(edge, options.seed + report.cases);
      if (report.cases % 4 === 3) {
        const of = streamCase(random);
        const outcome = streamOutcome(edge, of);
        if (outcome.fault !== null) throw new Error(shownStream(edge, of, options.seed, outcome.fault));
        if (outcome.isServed) report.streams++;
      } else if (report.cases % 2 === 0) {
        const of: RequestCase = { text: requestCase(random), step: stepOf(random) };
        const outcome = requestOutcome(edge, of);
        if (typeof outcome === 'string') throw new Error(shownRequest(edge, of, options.seed, outcome));
        report.served += outcome.served;
        report.meant += outcome.meant;
      } else {
        const of = anyResponse(random);
        const outcome = responseOutcome(edge, of);
        if (outcome.fault !== null) throw new Error(shownResponse(edge, of, options.seed, outcome.fault));
        outcomes.set(outcome.ended, (outcomes.get(outcome.ended) ?? 0) + 1);
      }
    }
    return report;
  } finally {
    edge.close();
  }
}

function gathered(edge: DryEdge, seed: number): void {
  try {
    gather(edge, randomOf(seed));
  } catch (error) {
    throw new Error(`the gathering of seed ${seed}: ${String(error)}`, { cause: error });
  }
}

function anyResponse(random: () => number): ResponseCase {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return { ask: pick(ASKS), text: responseCase(random), step: stepOf(random), leaves: pick(LEAVES) };
}

function requestOutcome(edge: DryEdge, of: RequestCase): ReturnType<typeof judgeRequest> {
  try {
    return judgeRequest(edge, of);
  } catch (error) {
    return `it throws: ${String(error)}`;
  }
}

function responseOutcome(edge: DryEdge, of: ResponseCase): { ended: string; fault: string | null } {
  try {
    return { ended: judgeResponse(edge, of), fault: null };
  } catch (error) {
    return { ended: '', fault: error instanceof Error ? error.message : String(error) };
  }
}

function streamOutcome(edge: DryEdge, of: StreamCase): { isServed: boolean; fault: string | null } {
  try {
    return { isServed: judgeStream(edge, of) !== null, fault: null };
  } catch (error) {
    return { isServed: false, fault: error instanceof Error ? error.message : String(error) };
  }
}

function shownRequest(edge: DryEdge, of: RequestCase, seed: number, fault: string): string {
  const text = shrink(of.text, (shorter) => typeof requestOutcome(edge, { ...of, text: shorter }) === 'string');
  const line = `  ['found: ', ${JSON.stringify(text)}, [], [400]],`;
  return `seed ${seed}: ${fault}\nin pieces of ${of.step}; as a line of the corpus:\n${line}`;
}

function shownResponse(edge: DryEdge, of: ResponseCase, seed: number, fault: string): string {
  const text = shrink(of.text, (shorter) => responseOutcome(edge, { ...of, text: shorter }).fault !== null);
  return `seed ${seed}: ${fault}\nas a case: ${JSON.stringify({ ...of, text })}`;
}

/** Fields that are not needed for it to fail are left out. */
function shownStream(edge: DryEdge, of: StreamCase, seed: number, fault: string): string {
  let { fields } = of;
  for (let at = 0; at < fields.length; ) {
    const fewer = fields.toSpliced(at, 2);
    if (streamOutcome(edge, { ...of, fields: fewer }).fault === null) at += 2;
    else fields = fewer;
  }
  return `seed ${seed}: ${fault}\nas a case: ${JSON.stringify({ ...of, fields })}`;
}

/** The long form. Prints the seed, and what was seen. */
export function fuzzSmugglingLong(options: { seed: number; cases?: number; seconds?: number }): void {
  console.log(`smuggling: seed ${options.seed}`);
  const started = performance.now();
  const tell = ({ cases, served, meant, streams, outcomes }: SmugglingReport): void => {
    const perSecond = Math.round(cases / ((performance.now() - started) / 1_000));
    const ends = [...outcomes].map(([what, count]) => `${count} ${what}`).join(', ');
    console.log(
      `${cases} cases (${perSecond} a second): ${served} requests served of ${meant}, ${streams} of HTTP/2; responses: ${ends}`,
    );
  };
  tell(fuzzSmuggling({ ...options, onProgress: tell }));
}
