/** Heads of requests by chance: most of them right, many wrong in one place. */
import type { Field } from '../hpack.ts';
import type { Pick } from './encoder.ts';

export const HOST = 'shop.example.test';

function of<T>(pick: Pick, list: readonly T[]): T {
  return list[pick(list.length)] as T;
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH'];
const ODD_METHODS = ['get', '', 'G T', 'FOO', 'CONNECT', 'TRACE', 'G\x00T', 'POST\r\nx: y', 'A'.repeat(40)];
const PATHS = ['/', '/a', '/a/b?c=d', '/?q', '/a%20b', '//x', '/a;b', '/%00', `/${'p'.repeat(300)}`];
const ODD_PATHS = [
  '',
  '*',
  'a',
  '/a b',
  '/ü',
  '/a#b',
  `https://${HOST}/`,
  '/\x00',
  '/\r\nx: y',
  `/${'p'.repeat(20_000)}`,
];
const AUTHORITIES = [HOST, HOST, HOST, 'SHOP.example.test', `${HOST}:443`, `${HOST}.`];
const ODD_AUTHORITIES = [
  '',
  'shed.example.test',
  `u@${HOST}`,
  `${HOST}:x`,
  'a b',
  `${HOST}/x`,
  `${HOST}, b`,
  `${HOST}\r\nx: y`,
  '[::1]',
];
const SCHEMES = ['https', 'https', 'https', 'https', 'http'];
const ODD_SCHEMES = ['', 'HTTPS', 'ftp', 'https ', 'h\x00'];

const PLAIN: readonly Field[] = [
  ['accept', '*/*'],
  ['accept-encoding', 'gzip, deflate'],
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ['accept-language', 'en-GB,en;q=0.9'],
  ['cache-control', 'no-cache'],
  ['referer', `https://${HOST}/`],
  ['x-empty', ''],
  ['x-bytes', 'caf\xe9 \xff'],
  ['x-quoted', '"a, b"; c="d"'],
  ['x-twice', '1'],
  ['x-twice', '2'],
  ['priority', 'u=1, i'],
  ['te', 'trailers'],
  ['range', 'bytes=0-10'],
  ['authorization', 'Bearer abc'],
  ['x_under', 'score'],
  ["!#$%&'*+-.^`|~", 'token'],
  ['x-long', 'v'.repeat(3_000)],
  ['x-request-id', '4711'],
  ['content-type', 'text/plain'],
  ['if-none-match', '"a"'],
];

const ODD: readonly Field[] = [
  ['X-Upper', 'a'],
  ['x-Mixed', 'a'],
  ['connection', 'close'],
  ['connection', 'x-twice'],
  ['keep-alive', 'timeout=5'],
  ['proxy-connection', 'close'],
  ['upgrade', 'websocket'],
  ['transfer-encoding', 'chunked'],
  ['transfer-encoding', 'identity'],
  ['http2-settings', 'AAA'],
  ['te', 'gzip'],
  ['te', 'trailers, gzip'],
  ['te', ''],
  ['te', 'Trailers'],
  ['', 'no name'],
  ['x y', 'blank'],
  ['x:y', 'colon'],
  ['x\x00', 'zero'],
  ['x\r\ny', 'line'],
  ['caf\xe9', 'bytes'],
  ['x"', 'quote'],
  ['x-crlf', 'a\r\nb: c'],
  ['x-lf', 'a\nb: c'],
  ['x-cr', 'a\rb'],
  ['x-zero', 'a\x00b'],
  ['x-tab', 'a\tb'],
  ['x-control', 'a\x01b'],
  ['x-delete', 'a\x7fb'],
  ['x-before', ' a'],
  ['x-behind', 'a '],
  ['x-behind', 'a\t'],
  ['x-huge', 'h'.repeat(20_000)],
  ['x-larger', 'h'.repeat(40_000)],
  ['host', HOST],
  ['host', 'SHOP.example.test'],
  ['host', 'shed.example.test'],
  ['host', ''],
  ['x-forwarded-for', '6.6.6.6'],
  ['x-forwarded-host', 'shed.example.test'],
  ['forwarded', 'for=6.6.6.6'],
  ['trailer', 'x-sum'],
  ['content-length', 'x'],
  ['content-length', '-1'],
  ['content-length', '+4'],
  ['content-length', '0'],
  ['content-length', '4, 4'],
  ['content-length', '99999999999999999999'],
  ['expect', '100-continue'],
  ['expect', 'a wonder'],
  [':path', '/late'],
  [':status', '200'],
  [':unknown', 'a'],
  [':protocol', 'websocket'],
  [':', 'a'],
];

const CRUMBS = ['a=1', 'b=2; c=3', 'd="4"', '', 'e', ' f=5', 'g=6;', `h=${'i'.repeat(200)}`];

/** The four pseudo-fields, and what is wrong with them now and then. */
function pseudoFields(pick: Pick): Field[] {
  const isOdd = (): boolean => pick(60) === 0;
  const fields: Field[] = [
    [':method', of(pick, isOdd() ? ODD_METHODS : METHODS)],
    [':scheme', of(pick, isOdd() ? ODD_SCHEMES : SCHEMES)],
    [':authority', of(pick, isOdd() ? ODD_AUTHORITIES : AUTHORITIES)],
    [':path', of(pick, isOdd() ? ODD_PATHS : PATHS)],
  ];
  if (pick(3) === 0) shuffle(pick, fields);
  if (isOdd()) fields.splice(pick(4), 1);
  if (isOdd()) fields.push(of(pick, fields));
  return fields;
}

/** A whole head. `key` names the exchange to the service. */
export function anyHead(pick: Pick, key: string): Field[] {
  const fields: Field[] = [];
  for (let i = pick(8); i > 0; i--) fields.push(of(pick, PLAIN));
  for (let i = pick(4) === 0 ? 1 + pick(5) : 0; i > 0; i--)
    fields.splice(pick(fields.length + 1), 0, ['cookie', of(pick, CRUMBS)]);
  if (pick(4) === 0) fields.splice(pick(fields.length + 1), 0, of(pick, ODD));
  if (pick(80) === 0) for (let i = 60 + pick(560); i > 0; i--) fields.push([`x-${i}`, '']);
  const pseudo = pseudoFields(pick);
  fields.push(['x-case', key]);
  if (pick(80) === 0) fields.unshift(pseudo.pop() as Field);
  return [...pseudo, ...fields];
}

/** Trailers, or null for none. */
export function anyTrailers(pick: Pick): Field[] | null {
  if (pick(5) > 0) return null;
  const fields: Field[] = [['x-sum', 'abc']];
  if (pick(3) === 0) fields.push(of(pick, PLAIN));
  if (pick(6) === 0) fields.push(of(pick, ODD));
  if (pick(20) === 0) fields.push([':method', 'GET']);
  return pick(12) === 0 ? [] : fields;
}

function shuffle(pick: Pick, list: Field[]): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = pick(i + 1);
    [list[i], list[j]] = [list[j] as Field, list[i] as Field];
  }
}
