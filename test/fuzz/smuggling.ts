/**
 * What must hold for any bytes that a visitor sends, checked on an edge without sockets (dry-edge.ts) against a second reader
 * (reference.ts): what reaches the service is exactly one request per head that was accepted, with the method, target, fields and body
 * that the visitor's bytes have by the grammar, in their order, and nothing besides; and the visitor gets one answer for each.
 */
import { CLAIMS_OF_VISITORS } from '../../src/http1/fields.ts';
import type { DryEdge, DryStream, DryVisitor } from './dry-edge.ts';
import { type Message, type Reading, readRequest, readResponse, valuesOf } from './reference.ts';

export interface RequestCase {
  /** What the visitor writes, latin1. */
  readonly text: string;
  /** In pieces of so many bytes; 0: at once. */
  readonly step: number;
}

export interface RequestReport {
  /** Requests that the service read. */
  readonly served: number;
  /** Requests of the visitor's bytes by the grammar, to this tunnel. */
  readonly meant: number;
}

const SHOP = /^shop\.example\.test\.?(?::\d+)?$/i;
/** The names that the edge keeps to itself; with `_` for `-` too. */
const KEPT_BACK =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|upgrade|transfer-encoding|content-length|http2-settings|x-forwarded-.+)$/;
const CLAIMS = new Set<string>(CLAIMS_OF_VISITORS);
const isKeptBack = (folded: string): boolean => KEPT_BACK.test(folded) || CLAIMS.has(folded);
const KNOWN_WITH_DASH = /^(?:host|expect|accept)$/;

/** Runs one case. A string says what does not hold. */
export function judgeRequest(edge: DryEdge, of: RequestCase): RequestReport | string {
  edge.begin();
  const visitor = edge.visit();
  const served: Message[] = [];
  const wrong = sendAll(visitor, of, () => serve(edge.streams, served));
  if (wrong !== null) return wrong;
  const said = visitor.text;
  const over = visitor.over;
  const cutOff = edge.streams.filter((stream) => stream.read < stream.text.length);
  visitor.leave();

  const all = readAll(of.text);
  const meant = all.filter((one) => SHOP.test(valuesOf(one, 'host')[0] ?? ''));
  if (served.length > meant.length) return `${served.length} requests came of ${meant.length}`;
  for (const [index, one] of served.entries()) {
    const fault = compare(meant[index] as Message, one);
    if (fault !== null) return `request ${index + 1}: ${fault}`;
  }
  if (cutOff.length > 1) return 'two requests are under way at once';
  if (served.length + cutOff.length !== edge.meter.requests) return `${edge.meter.requests} heads were accepted`;
  if (cutOff.some((stream) => !stream.gone)) return 'half a request is left to the service';
  if (edge.inFlight !== 0) return `${edge.inFlight} requests are still under way`;
  return answers(said, over, all) ?? { served: served.length, meant: meant.length };
}

/** Sends the case piece by piece, with `between` after each. */
export function sendAll(visitor: DryVisitor, of: RequestCase, between: () => string | null): string | null {
  const step = of.step === 0 ? Math.max(1, of.text.length) : of.step;
  for (let at = 0; at < of.text.length; at += step) {
    visitor.send(of.text.slice(at, at + step));
    const wrong = between();
    if (wrong !== null) return wrong;
  }
  return null;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';

/** The service: reads whole requests off its connections and answers each. */
function serve(streams: readonly DryStream[], served: Message[]): string | null {
  for (let i = 0; i < streams.length; i++) {
    const stream = streams[i] as DryStream;
    while (stream.read < stream.text.length) {
      const reading: Reading = readRequest(stream.text, stream.read);
      if (reading === 'more') break;
      if ('bad' in reading) return `the service reads no request: ${reading.bad} in ${JSON.stringify(stream.text)}`;
      stream.read = reading.next;
      served.push(reading);
      stream.say(reading.first === 'HEAD' ? OK : `${OK}ok`);
      // The answer may have brought the next request, on this stream or on one before.
      i = -1;
      break;
    }
  }
  return null;
}

/** The requests of a visitor's bytes, up to the first that is none. */
export function readAll(text: string): Message[] {
  const all: Message[] = [];
  for (let from = 0; from < text.length; ) {
    const reading = readRequest(text, from);
    if (reading === 'more' || 'bad' in reading) break;
    all.push(reading);
    from = reading.next;
  }
  return all;
}

function compare(meant: Message, came: Message): string | null {
  if (came.first !== meant.first) return `method ${came.first}`;
  if (came.second !== targetOf(meant)) return `target ${came.second}`;
  if (came.minor !== 1) return 'version';
  if (came.body !== meant.body) return `body ${JSON.stringify(came.body)}`;
  const expected = JSON.stringify(fieldsOf(meant));
  if (JSON.stringify(came.fields) !== expected) return `fields ${JSON.stringify(came.fields)}, not ${expected}`;
  const trailers = new Set(meant.trailers.map(String));
  for (const trailer of came.trailers) {
    const [name] = trailer;
    if (!trailers.has(String(trailer)) || isKeptBack(name.replaceAll('_', '-'))) return `trailer ${name}`;
  }
  return null;
}

/** Absolute targets are forwarded in origin-form (RFC 9112 §3.2.2). */
function targetOf({ second }: Message): string {
  const path = second.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') || path === '*' ? path : `/${path}`;
}

function fieldsOf(meant: Message): Array<readonly [string, string]> {
  const named = new Set(valuesOf(meant, 'connection').flatMap((value) => value.toLowerCase().split(/[\t ,]+/)));
  const kept = meant.fields.filter(([name]) => {
    const folded = name.replaceAll('_', '-');
    if (isKeptBack(folded) || named.has(name)) return false;
    return name === folded || !KNOWN_WITH_DASH.test(folded);
  });
  const host = valuesOf(meant, 'host')[0] ?? '';
  const claims: Array<readonly [string, string]> = [
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-proto', 'http'],
    ['x-forwarded-host', host],
    ['x-real-ip', '127.0.0.1'],
  ];
  return [...kept, ...claims, ...framing(meant, named)];
}

function framing(meant: Message, named: ReadonlySet<string>): Array<readonly [string, string]> {
  if (valuesOf(meant, 'transfer-encoding').length > 0) return [['transfer-encoding', 'chunked']];
  const upgrades = valuesOf(meant, 'upgrade');
  const upgrade = upgrades.length === 1 && upgrades[0]?.toLowerCase() === 'websocket' && named.has('upgrade');
  if (upgrade && meant.first === 'GET' && meant.body === '' && meant.minor === 1)
    return [
      ['connection', 'Upgrade'],
      ['upgrade', 'websocket'],
    ];
  const [length] = valuesOf(meant, 'content-length');
  return length === undefined ? [] : [['content-length', String(Number(length))]];
}

function isLast(reading: Reading, text: string): boolean {
  return typeof reading === 'object' && 'next' in reading && reading.next === text.length;
}

/** One answer per request, and at most one refusal behind them, with which the connection ends. */
function answers(text: string, over: boolean, requests: readonly Message[]): string | null {
  let from = 0;
  for (let count = 0; from < text.length; count++) {
    let reading = readResponse(text, from, requests[count]?.first ?? '');
    // A refusal in the middle of a HEAD's body has none, one of what the edge did not take for a HEAD has one. Both are the last.
    if (!isLast(reading, text))
      for (const method of ['HEAD', 'GET']) {
        const other = readResponse(text, from, method);
        if (over && isLast(other, text)) reading = other;
      }
    if (reading === 'more' || 'bad' in reading || reading.untilClose) return `answer ${count + 1} is none`;
    if (count > requests.length) return `${count + 1} answers to ${requests.length} requests`;
    if (count === requests.length && (reading.first[0] !== '4' || !over))
      return `an answer ${reading.first} to nothing`;
    from = reading.next;
  }
  return null;
}
