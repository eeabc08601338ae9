/**
 * Hostile bytes for the fast fuzzers: requests and responses put together from parts, lines of the corpus, and pieces of one in the other, then
 * damaged. The same seed gives the same cases. All characters are bytes (latin1).
 */
import { caseOf, type Random } from './cases.ts';
import { CORPUS, HIDDEN } from './smuggling-corpus.ts';

/** What damages: bytes and words that mean something to some parser. */
// biome-ignore format: a table
const PIECES = [
  '\r', '\n', '\r\n', '\r\n\r\n', '\n\n', '\0', ' ', '\t', ':', ',', ';', '"', '=', '\x0b', '\x0c', '\x7f', '\x80',
  '\xff', '#', '/', '_', '-', '0', '5', 'a', 'F', '00', '0x', '+', '5\r\n', '0\r\n\r\n', 'chunked', 'close',
  'Content-Length: 5\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: shop.example.test\r\n',
  'Host: evil.test\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n', 'Connection: Upgrade\r\n',
  'Upgrade: websocket\r\n', 'Expect: 100-continue\r\n', 'X-Forwarded-For: 6.6.6.6\r\n', 'HTTP/1.1', 'HTTP/1.0',
  HIDDEN, 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n',
];

/** What a visitor writes. */
export function requestCase(random: Random): string {
  const chance = random();
  let text = chance < 0.4 ? caseOf(random) : seedOf(random, REQUESTS);
  // One case goes on where another one stops.
  if (random() < 0.3) text = text.slice(0, cut(random, text)) + seedOf(random, REQUESTS).slice(cut(random, text));
  if (chance > 0.5) text += HIDDEN;
  return bytes(damage(random, text));
}

/** What a service writes. */
export function responseCase(random: Random): string {
  let text = response(random);
  if (random() < 0.3) text += response(random);
  if (random() < 0.3) text = text.slice(0, cut(random, text)) + response(random).slice(cut(random, text));
  // Of services whose lines end in LF alone.
  if (random() < 0.15) text = text.replaceAll('\r\n', '\n');
  return bytes(random() < 0.25 ? text : damage(random, text));
}

/** In pieces of so many bytes: at once, byte by byte, or something between. */
export function stepOf(random: Random): number {
  return random() < 0.6 ? 0 : 1 + Math.floor(random() ** 3 * 60);
}

const REQUESTS: readonly string[] = CORPUS.map(({ text }) => text).filter((text) => text.length < 2_000);

// biome-ignore format: a table
const FRAMINGS = [
  '', 'Content-Length: 5\r\n', 'Content-Length: 0\r\n', 'Content-Length: 4\r\n', 'Content-Length: 6\r\n',
  'Transfer-Encoding: chunked\r\n', 'Content-Length: 5\r\nContent-Length: 5\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n', 'Content-Length: 5, 5\r\n', 'Content-Length: +5\r\n',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  'Content-Length: 5 , 5\r\n', 'Content-Length:\r\n 5\r\n', 'Transfer-Encoding:\r\n\tchunked\r\n',
  'Content-Length: 5\r\nA: 1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n', 'A: 1\r\n 2\r\nContent-Length: 5\r\n',
];
// biome-ignore format: a table
const STATUSES = [
  '200 OK', '200', '204 No Content', '304 Not Modified', '206 Partial', '404 Not Found', '500 X', '103 Early Hints',
  '100 Continue', '101 Switching Protocols', '199 X', '999 X', '099 X', '600 ',
];
// biome-ignore format: a table
const LINES = [
  '', '', 'Connection: close\r\n', 'Connection: keep-alive\r\n', 'Connection: content-length\r\n',
  'Connection: x-evil\r\nX-Evil: 1\r\n', 'Keep-Alive: timeout=5\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n', 'culvert-error: tunnel_offline\r\n',
  'Set-Cookie: a=b; Domain=example.test\r\n', 'Set-Cookie: a=b\r\n', 'Content_Length: 5\r\n', 'Trailer: X\r\n',
  'X: \xff\r\n', 'X: a\r b\r\n', 'X : 1\r\n', ' folded\r\n', 'X: a\nSet-Cookie: evil=1\r\n',
  'Proxy-Connection: close\r\n',
];
// biome-ignore format: a table
const ENDINGS = [
  'hello', '', 'hell', 'hello!', 'helloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL', '5\r\nhello\r\n0\r\n\r\n',
  '5;x\r\nhello\r\n0\r\nX: 1\r\nSet-Cookie: evil=1\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL', '5\r\nhello\r\n', '0\r\n\r\n',
  'zz\r\nhello\r\n0\r\n\r\n', 'hello\r\n',
];

/** Half of them are as they should be. */
function response(random: Random): string {
  const pick = (list: readonly string[], first: number): string =>
    random() < 0.6 ? (list[Math.floor(random() * first)] as string) : seedOf(random, list);
  const framing = pick(FRAMINGS, 6);
  const right = framing.includes('chunked') ? 5 : 0;
  const ending = random() < 0.5 ? (ENDINGS[right] as string) : seedOf(random, ENDINGS);
  return `HTTP/1.${random() < 0.1 ? 0 : 1} ${pick(STATUSES, 2)}\r\n${pick(LINES, 4)}${framing}\r\n${ending}`;
}

function seedOf(random: Random, seeds: readonly string[]): string {
  return seeds[Math.floor(random() * seeds.length)] as string;
}

function cut(random: Random, text: string): number {
  return Math.floor(random() * (text.length + 1));
}

function damage(random: Random, text: string): string {
  let out = text;
  for (let i = random() < 0.45 ? 0 : Math.ceil(random() ** 2 * 4); i > 0; i--) {
    const at = cut(random, out);
    const left = random() < 0.5 ? 0 : Math.ceil(random() * 4);
    const chance = random();
    const piece =
      chance < 0.6 ? seedOf(random, PIECES) : chance < 0.8 ? String.fromCharCode(Math.floor(random() * 256)) : '';
    out = out.slice(0, at) + piece + out.slice(at + left);
  }
  return out;
}

function bytes(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
