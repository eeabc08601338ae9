/**
 * What must hold for any fields and data of an HTTP/2 stream: at most one request reaches the service, with the method, path, fields and body that
 * they say, and the next one is untouched. Checked against reference.ts on an edge without sockets.
 */
import type { Random } from './cases.ts';
import type { DryEdge } from './dry-edge.ts';
import { runStream, type StreamCase } from './dry-http2.ts';
import { runOwnStream } from './dry-own-http2.ts';
import { type Message, readRequest, valuesOf } from './reference.ts';
import { CODINGS, HOSTS, LENGTHS, METHODS, TARGETS } from './smuggling-values.ts';

const HOST = 'shop.example.test';
const HIDDEN = `GET /hidden HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;
const NEXT: StreamCase = {
  fields: [':method', 'GET', ':scheme', 'https', ':path', '/next', ':authority', HOST],
  data: null,
  ends: 'not',
};
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const CLAIM = /^(?:x-forwarded-(?:for|proto|host)|x-real-ip)$/;
/** What a field of one line may not have, and names that are of a connection. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const OF_A_CONNECTION = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings)$/;

type JudgedCase = StreamCase & { readonly isEarly?: boolean };

/** Runs one case by both engines, each with a good one behind it. What does not hold is thrown. The request that came by our own, or null. */
export function judgeStream(edge: DryEdge, of: JudgedCase): Message | null {
  judgeBy(runStream, edge, of);
  return judgeBy(runOwnStream, edge, of);
}

function judgeBy(run: typeof runStream, edge: DryEdge, of: JudgedCase): Message | null {
  edge.begin();
  const served = serveWith(edge, of.isEarly === true);
  const { statuses } = run(edge, of, served.serve);
  const [request = null, ...more] = served.all;
  if (more.length > 0) fail(`${served.all.length} requests came of one`);
  const cut = edge.streams.filter((stream) => stream.read < stream.text.length);
  if (edge.meter.requests !== served.all.length + cut.length) fail(`${edge.meter.requests} heads were accepted`);
  if (cut.some((stream) => !stream.gone)) fail('half a request is left to the service');
  if (edge.inFlight !== 0) fail('a request is still under way');
  if (statuses.length > 1) fail(`${statuses.length} answers`);
  if (request !== null) compare(of, request);
  served.all.length = 0;
  run(edge, NEXT, served.serve);
  const lines = served.all.map(({ first, second, body }) => `${first} ${second} ${body}`);
  if (lines.join() !== 'GET /next ') fail(`the next request came as ${JSON.stringify(lines)}`);
  return request;
}

function fail(why: string): never {
  throw new Error(why);
}

/** `isEarly`: half a request is answered, too. */
function serveWith(edge: DryEdge, isEarly: boolean): { all: Message[]; serve: () => void } {
  const all: Message[] = [];
  const serve = (): void => {
    for (const stream of edge.streams) {
      while (!stream.gone && stream.read < stream.text.length) {
        const reading = readRequest(stream.text, stream.read);
        if (reading === 'more') {
          if (isEarly && stream.text.endsWith('\r\n\r\n')) stream.say(OK);
          break;
        }
        if ('bad' in reading) fail(`the service reads no request: ${reading.bad} in ${JSON.stringify(stream.text)}`);
        stream.read = reading.next;
        all.push(reading);
        stream.say(OK);
      }
    }
  };
  return { all, serve };
}

function compare(of: StreamCase, came: Message): void {
  const pairs = pairsOf(of.fields);
  const only = (name: string): string => {
    const values = pairs.filter(([one]) => one === name).map(([, value]) => value);
    return values.length === 1 ? (values[0] as string) : fail(`${values.length} of ${name}`);
  };
  if (came.first !== only(':method') || came.second !== only(':path')) fail(`it came as ${came.first} ${came.second}`);
  only(':scheme');
  for (const [name, value] of pairs) {
    // The scheme is not passed on.
    if (name !== ':scheme' && CONTROL.test(name + value)) fail('a control character was let pass');
    if (OF_A_CONNECTION.test(name) || /[A-Z]/.test(name)) fail(`${name} was let pass`);
  }
  const data = (of.data ?? []).join('');
  const length = pairs.find(([name]) => name === 'content-length')?.[1];
  // With its length said a request is whole before its stream is: what comes then ends the stream.
  if (came.body !== data.slice(0, length === undefined ? undefined : Number(length)))
    fail(`its body came as ${JSON.stringify(came.body)}`);
  if (length === undefined ? of.data !== null && of.ends !== 'end' : came.body.length < Number(length))
    fail('a request that was not complete came as a whole one');
  if (came.trailers.length > 0) fail('trailers came of nothing');
  if (valuesOf(came, 'x-forwarded-for').join() !== '127.0.0.1') fail('who sent it is not said');
  const hosts = pairs.filter(([name]) => name === ':authority' || name === 'host').map(([, value]) => value.trim());
  for (const host of hosts) if (host.toLowerCase() !== valuesOf(came, 'host')[0]?.toLowerCase()) fail(`host ${host}`);
  const said = new Set(pairs.map(([name, value]) => `${name}: ${value.replaceAll(/^[\t ]+|[\t ]+$/g, '')}`));
  for (const [name, value] of came.fields) {
    if (CLAIM.test(name) || name === 'host' || name === 'cookie') continue;
    if (name === 'transfer-encoding' && value === 'chunked' && !said.has(`${name}: ${value}`)) continue;
    if (name === 'content-length' && pairs.some(([one, length]) => one === name && Number(length) === Number(value)))
      continue;
    if (!said.has(`${name}: ${value}`)) fail(`not sent: ${name}: ${value}`);
  }
}

function pairsOf(fields: readonly string[]): Array<readonly [string, string]> {
  const pairs: Array<readonly [string, string]> = [];
  for (let i = 0; i < fields.length; i += 2) pairs.push([fields[i] as string, fields[i + 1] as string]);
  return pairs;
}

// biome-ignore format: a table
const NAMES = [
  ':method', ':path', ':scheme', ':authority', ':status', ':protocol', ':', '', 'host', 'content-length', 'transfer-encoding', 'connection', 'te',
  'upgrade', 'cookie', 'expect', 'x', 'X', 'x-forwarded-for', 'x_forwarded_for', 'content_length', 'x: y\r\ntransfer-encoding', 'x\r\nhost',
  'x y', 'x\0', 'x:', ':path ', 'accept', 'trailer', '__proto__', 'constructor', 'x\n', '\r\n\r\nget / http/1.1\r\nhost', 'keep-alive',
];
// biome-ignore format: a table
const VALUES = [
  '', ' ', 'x', '5', '0', 'chunked', 'trailers', 'trailers, deflate', '100-continue', 'close', 'content-length', 'websocket', HOST, 'evil.test', '6.6.6.6',
  'x\r\nTransfer-Encoding: chunked', 'x\r\nContent-Length: 50', `x\r\n\r\n${HIDDEN}`, 'x\nX: y', 'x\rX: y', 'x\0', '\tx\t', 'x\x0b', '\xff', '*', '/',
  `/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\nGET /hidden`, '/ HTTP/1.0', 'GET / HTTP/1.1\r\nX:', `GET http://${HOST}/ HTTP/1.1\r\n\r\nPOST`, 'http', 'ftp', 'HEAD', 'POST',
];
const DATA = ['hello', '', 'x', HIDDEN, '0\r\n\r\n', '\r\n', `0\r\n\r\n${HIDDEN}`, '5\r\nhello\r\n'];

/** A stream that is mostly as it should be. */
export function streamCase(random: Random): StreamCase & { readonly isEarly: boolean } {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] as string;
  const pairs = [
    [':method', random() < 0.8 ? pick(['GET', 'POST', 'POST', 'HEAD', 'OPTIONS']) : pick(METHODS)],
    [':scheme', 'https'],
    [':path', random() < 0.85 ? '/' : pick(TARGETS)],
    [':authority', random() < 0.85 ? HOST : pick(HOSTS)],
  ];
  const data = random() < 0.4 ? null : Array.from({ length: Math.floor(random() * 4) }, () => pick(DATA));
  const size = String(data?.join('').length ?? 0);
  if (random() < 0.4) pairs.push(['content-length', random() < 0.7 ? size : pick(LENGTHS)]);
  if (random() < 0.1) pairs.push(['transfer-encoding', pick(CODINGS)]);
  while (random() < 0.35) pairs.push([pick(NAMES), pick(VALUES)]);
  for (let i = random() < 0.6 ? 0 : Math.ceil(random() * 2); i > 0; i--) {
    const at = Math.floor(random() * pairs.length);
    const chance = random();
    if (chance < 0.2) pairs.splice(at, 1);
    else if (chance < 0.4) pairs.push(pairs[at] as string[]);
    else if (chance < 0.6) pairs.unshift(...pairs.splice(at, 1));
    else if (chance < 0.8) pairs[at] = [pairs[at]?.[0] ?? '', pick(VALUES)];
    else pairs[at] = [pick(NAMES), pairs[at]?.[1] ?? ''];
  }
  const ends = random() < 0.85 ? 'end' : random() < 0.5 ? 'reset' : 'not';
  return { fields: pairs.flat(), data, ends, isEarly: random() < 0.2 };
}
