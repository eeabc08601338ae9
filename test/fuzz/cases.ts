/**
 * Hostile HTTP/1.1 for the fuzzer: requests put together from parts that parsers are known to disagree about, then damaged. The
 * same seed gives the same cases. Nothing in a case says what only the edge may say (`X-Forwarded-For: 127.0.0.1`).
 */

export type Random = () => number;

/** Mulberry32: small, fast, and good enough to choose with. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const HOST = 'shop.example.test';
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'HEAD',
  'OPTIONS',
  'DELETE',
  'PATCH',
  'CONNECT',
  'TRACE',
  'PROPFIND',
  'get',
  'GEX',
  'HEAT',
  'G E T',
  '',
];
const TARGETS = [
  '/',
  '/a?b=c',
  '//',
  '/%00',
  '/\x80',
  '*',
  `http://${HOST}/x`,
  `http://${HOST}`,
  `http://${HOST}?q`,
  'http://evil.test/',
  `${HOST}:80`,
  '/a b',
  '/#x',
  '/"<>\\^`{|}',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/0.9',
  'HTTP/1.1\t',
  '',
];
const ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '\r\n\t', ' \r\n', '\0\r\n', '\x0b\r\n', '\x85\r\n', '\r\n\r\n'];
const HOSTS = [
  `Host: ${HOST}`,
  `host:${HOST}`,
  `Host: ${HOST}:80`,
  `Host: ${HOST.toUpperCase()}`,
  `Host:\t${HOST}\t`,
  `Host: ${HOST}.`,
];
const EVIL_HOSTS = [
  'Host: evil.test',
  'Host : evil.test',
  'Host:',
  `Host: ${HOST}:x`,
  `Host: ${HOST},evil.test`,
  `Host: ${HOST}@evil.test`,
  'Host\0: evil.test',
  '\tHost: evil.test',
];
const LENGTHS = [
  '5',
  '05',
  '0',
  '+5',
  '-5',
  '5, 5',
  '5,6',
  '0x5',
  '5 ',
  '5\x0b',
  '"5"',
  '5;',
  '5.0',
  '',
  '99999999999999999999',
  '5e0',
  '٥',
];
const CODINGS = [
  ...[
    'chunked',
    'Chunked',
    'CHUNKED',
    ' chunked ',
    'chunked,',
    ',chunked',
    'chunked, chunked',
    'chunked;q=1',
    'x, chunked',
    'chunked, x',
  ],
  ...[
    'identity',
    'gzip, chunked',
    '"chunked"',
    'chunked\x0b',
    '\x0bchunked',
    'chunke\x00d',
    'xchunked',
    'chunkedx',
    '',
    'chunked\r\n x',
  ],
];
const CODING_NAMES = [
  'Transfer-Encoding',
  'transfer-encoding',
  'Transfer-Encoding ',
  'Transfer_Encoding',
  'Transfer-Encoding\t',
  ' Transfer-Encoding',
  'X-Transfer-Encoding',
  'Transfer-Encoding\0',
  'TE',
];
const LENGTH_NAMES = [
  'Content-Length',
  'content-length',
  'Content-Length ',
  'Content_Length',
  '\tContent-Length',
  'Content-Length\x0b',
  'CONTENT-LENGTH',
];
const OTHERS = [
  ...[
    'X-Forwarded-For: 6.6.6.6',
    'X_Forwarded_For: 6.6.6.6',
    'x-forwarded-for : 6.6.6.6',
    'X-Real-IP: 6.6.6.6',
    'Forwarded: for=6.6.6.6',
    'X-Forwarded-Host: evil.test',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: X-Forwarded-For',
    'Connection: content-length',
    'Connection: transfer-encoding, close',
    'Connection: x',
    'Connection: ,',
    'Connection: "',
  ],
  ...[
    'Upgrade: h2c',
    'Connection: Upgrade, HTTP2-Settings',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
    'Upgrade: websocket',
    'Connection: Upgrade',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'TE: trailers',
    'Trailer: Content-Length',
    'X: y',
    'X:',
    ': x',
    'X',
    ' folded',
    '\tfolded',
    'X: a\0b',
    'X: a\rb',
    'X: a\nY: b',
    'X: \xff',
    'X\xff: 1',
    'Keep-Alive: 5',
    'Cookie: a=b',
  ],
];
const SIZES = [
  '5',
  '05',
  '005',
  '0x5',
  ' 5',
  '5 ',
  '+5',
  '-5',
  '5;a',
  '5;a="\r\n"',
  '5 ;a',
  '5\t',
  'G',
  '',
  '00000005',
  '000000005',
  'FFFFFFFF5',
  '5;\n',
  '5\x0b',
  '5_',
];
const CHUNK_ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '', 'x\r\n', '\r\nx'];
const TRAILERS = [
  '',
  '',
  '',
  'X: 1\r\n',
  'Content-Length: 5\r\n',
  'X-Forwarded-For: 6.6.6.6\r\n',
  'X : 1\r\n',
  'X\r\n',
  ' X: 1\r\n',
  'X: 1\n',
  'Host: evil.test\r\n',
];
const BYTES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '\x0b',
  '\x0c',
  '\x7f',
  '\x80',
  '\xff',
  '0',
  '5',
  'A',
  '/',
  '#',
  'chunked',
  'GET / HTTP/1.1\r\n',
];

/** One case: what a visitor writes, latin1. */
export function caseOf(random: Random): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const chance = (of: number): boolean => random() < of;
  let text = '';
  for (let i = chance(0.5) ? 1 : 2; i > 0; i--) text += request(pick, chance);
  for (let i = chance(0.5) ? 0 : Math.ceil(random() * 3); i > 0; i--) {
    const at = Math.floor(random() * text.length);
    const cut = chance(0.5) ? 0 : Math.ceil(random() * 3);
    text = text.slice(0, at) + (chance(0.7) ? pick(BYTES) : '') + text.slice(at + cut);
  }
  // What a request that was smuggled would look like: it claims an address, as only the edge may.
  return `${text}${hidden()}`;
}

function hidden(): string {
  return `GET /hidden HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;
}

type Choose = <T>(list: readonly T[]) => T;

function request(pick: Choose, chance: (of: number) => boolean): string {
  const end = (): string => (chance(0.03) ? pick(ENDS) : '\r\n');
  const method = chance(0.15) ? pick(METHODS) : pick(['GET', 'POST']);
  const space = (): string => (chance(0.02) ? pick(['  ', '\t', '', ' \x0b']) : ' ');
  let text = `${method}${space()}${chance(0.15) ? pick(TARGETS) : '/'}${space()}${chance(0.1) ? pick(VERSIONS) : 'HTTP/1.1'}${end()}`;
  const lines = [chance(0.9) ? pick(HOSTS.slice(0, chance(0.8) ? 1 : HOSTS.length)) : pick(EVIL_HOSTS)];
  if (chance(0.05)) lines.push(pick([...EVIL_HOSTS, ...HOSTS]));
  const hasLength = chance(0.4);
  const isChunked = chance(hasLength ? 0.15 : 0.5);
  if (hasLength)
    lines.push(`${chance(0.15) ? pick(LENGTH_NAMES) : 'Content-Length'}: ${chance(0.2) ? pick(LENGTHS) : '5'}`);
  if (isChunked)
    lines.push(
      `${chance(0.15) ? pick(CODING_NAMES) : 'Transfer-Encoding'}: ${chance(0.2) ? pick(CODINGS) : 'chunked'}`,
    );
  if (chance(0.03)) lines.push(`Content-Length: ${pick(LENGTHS)}`);
  if (chance(0.03)) lines.push(`Transfer-Encoding: ${pick(CODINGS)}`);
  while (chance(0.3)) lines.push(pick(OTHERS));
  if (chance(0.2)) lines.reverse();
  for (const line of lines) text += line + end();
  text += end();
  if (isChunked) text += chunks(pick, chance);
  else if (hasLength) text += chance(0.8) ? 'hello' : pick(['', 'hell', 'hello!', hidden()]);
  else if (chance(0.1)) text += pick(['hello', hidden(), '\r\n', '\n', '0\r\n\r\n']);
  return text;
}

function chunks(pick: Choose, chance: (of: number) => boolean): string {
  let text = '';
  const bad = (): boolean => chance(0.06);
  while (chance(0.6))
    text += `${bad() ? pick(SIZES) : '5'}${bad() ? pick(CHUNK_ENDS) : '\r\n'}hello${bad() ? pick(CHUNK_ENDS) : '\r\n'}`;
  if (chance(0.1)) {
    const inner = hidden();
    text += `${inner.length.toString(16)}${chance(0.2) ? ';x' : ''}\r\n${inner}\r\n`;
  }
  return `${text}${bad() ? pick(['00', '0;x', '0 ', '-0', '0x0', '']) : '0'}${bad() ? pick(CHUNK_ENDS) : '\r\n'}${bad() ? pick(TRAILERS) : ''}${bad() ? pick(CHUNK_ENDS) : '\r\n'}`;
}
