/**
 * The HTTP fuzzer: hostile bytes go to a whole edge (real TLS, multiplexer and agent code) with services of several makes behind
 * it. What must hold for each request that a service reads: the edge sent it as a request, which shows by the address that it
 * alone adds. One without it was smuggled. The same bytes go to a bare node:http, to find what llhttp refuses and the edge takes.
 */
import { connect } from 'node:net';
import { Rig, type Scope } from '../../src/data/edge/testing/rig.ts';
import { caseOf, randomOf } from './cases.ts';
import { nodeOrigin, type Origin, type OriginName, type Seen, startOrigin } from './http-origins.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Ends after so many cases, or so many seconds. */
  readonly cases?: number;
  readonly seconds?: number;
}

export interface FuzzReport {
  readonly cases: number;
  /** Requests that the service read. */
  readonly forwarded: number;
  /** Cases in which the edge took less than llhttp would have. */
  readonly stricter: number;
  /** What llhttp refuses and the edge takes: its code, how often, and an example. */
  readonly laxer: ReadonlyMap<string, { count: number; example: string }>;
  /** What the service refused of the bytes that the edge sent it. */
  readonly refused: ReadonlyMap<string, { count: number; example: string }>;
}

/** What a bare parser read, as the edge would forward it. */
const HOST = /^shop\.example\.test\.?(:\d+)?$/i;

/** Runs cases; throws for the first that smuggles or is read differently. */
export async function fuzzHttp(name: OriginName, options: FuzzOptions, scope: Scope): Promise<FuzzReport> {
  const origin = await startOrigin(name, scope);
  const bare = await nodeOrigin(scope);
  const rig = await Rig.start(scope);
  await rig.serve('shop', origin.port);
  const random = randomOf(options.seed);
  const until = options.seconds === undefined ? Infinity : performance.now() + options.seconds * 1_000;
  const report = {
    cases: 0,
    forwarded: 0,
    stricter: 0,
    laxer: new Map<string, Tally>(),
    refused: new Map<string, Tally>(),
  };
  while (report.cases < (options.cases ?? Infinity) && performance.now() < until) {
    const text = caseOf(random);
    report.cases++;
    await Promise.all([send(rig.port, text), name === 'node' ? send(bare.port, text) : null]);
    const seen = origin.take();
    report.forwarded += seen.length;
    const fail = (why: string): never => {
      const facts = JSON.stringify({ text, seen }, null, 2);
      throw new Error(`case ${report.cases} of seed ${options.seed} against ${name}: ${why}\n${facts}`);
    };
    for (const request of seen)
      if (request.from.length !== 1 || request.from[0] !== '127.0.0.1') fail('a request that the edge did not send');
    for (const code of origin.refused.splice(0)) tally(report.refused, code, text);
    if (name === 'node') compare(seen.filter(isWhole), bare, { text, report, fail });
  }
  if (report.forwarded === 0) throw new Error(`${name} read no request at all`);
  return report;
}

interface Tally {
  count: number;
  example: string;
}

function tally(into: Map<string, Tally>, key: string, example: string): void {
  const before = into.get(key);
  into.set(key, { count: (before?.count ?? 0) + 1, example: before?.example ?? example });
}

function compare(
  seen: readonly Seen[],
  bare: Origin,
  of: { text: string; report: { stricter: number; laxer: Map<string, Tally> }; fail: (why: string) => never },
): void {
  const direct = bare.take().filter((one) => isWhole(one) && HOST.test(one.host ?? ''));
  const codes = bare.refused.splice(0);
  if (seen.length < direct.length) of.report.stricter++;
  // Beyond what the bare parser read before it gave up there is nothing to compare with.
  for (let i = 0; i < Math.min(seen.length, direct.length); i++)
    if (asRead(seen[i]) !== asRead(direct[i])) of.fail('read differently');
  if (seen.length > direct.length) {
    // A bare node:http without a listener for upgrades answers one and reads no further; the edge goes on behind the refusal.
    if (codes.length === 0 && !/upgrade/i.test(of.text)) of.fail('more requests than a bare parser reads');
    for (const code of codes) tally(of.report.laxer, code, of.text);
  }
}

function isWhole({ body }: Seen): boolean {
  return body !== undefined;
}

/** An absolute target is forwarded in origin-form (RFC 9112 §3.2.2). */
function asRead(seen: Seen | undefined): string {
  const line = seen?.line.replace(/ https?:\/\/[^/?]*\/?/i, ' /') ?? '';
  return `${line} ${seen?.body}`;
}

/** Sends the bytes and waits until the other side has left. */
async function send(port: number, text: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  socket.on('error', () => {}); // a refusal may come as a reset: what the service saw is what counts
  socket.on('end', () => socket.destroy());
  socket.resume();
  socket.end(text, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
}
