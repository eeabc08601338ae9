/**
 * What HTTP/1.1 is to the fuzzers: a second reader of requests and responses, written from the grammar of RFC 9112 and not from the edge's
 * code, in another way (patterns over text, whole messages). It takes only what every reader must read alike, so that a message which it takes
 * has one meaning. Slow where the edge is fast; it keeps no state.
 */

export interface Message {
  /** Where the next message begins. */
  readonly next: number;
  /** Request: method. Response: status. */
  readonly first: string;
  /** Request: target. Response: reason. */
  readonly second: string;
  readonly minor: 0 | 1;
  /** Names in lower case. */
  readonly fields: ReadonlyArray<readonly [string, string]>;
  /** The payload without what frames it. */
  readonly body: string;
  readonly trailers: ReadonlyArray<readonly [string, string]>;
  /** Response: its end is the connection's. */
  readonly untilClose: boolean;
}

/** A message; or `more`, when what is there can be the start of one; or why it is none. */
export type Reading = Message | 'more' | { readonly bad: string };

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const REQUEST_LINE = new RegExp(`(${TOKEN}) ([\\x21\\x22\\x24-\\x7e\\x80-\\xff]+) HTTP/1\\.([01])\\r\\n`, 'y');
const STATUS_LINE = /HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/y;
const FIELD_LINE = new RegExp(
  `(${TOKEN}):[\\t ]*((?:[\\t\\x20-\\x7e\\x80-\\xff]*[\\x21-\\x7e\\x80-\\xff])?)[\\t ]*\\r\\n`,
  'y',
);
const CHUNK_LINE = /([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n/y;
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const LIST = new RegExp(`^[\\t ,]*(?:${TOKEN}(?:[\\t ]*,[\\t ,]*|[\\t ]*$))*$`);
const GUARDED = /^(?:host|content-length|transfer-encoding|x[_-]forwarded[_-].+)$/;

type Fields = Array<readonly [string, string]>;

/** All values of a field. */
export function valuesOf(message: Pick<Message, 'fields'>, name: string): string[] {
  return message.fields.filter(([one]) => one === name).map(([, value]) => value);
}

/** The request at `text[from…]`. */
export function readRequest(text: string, from: number): Reading {
  const end = text.indexOf('\r\n\r\n', from);
  if (end < 0) return 'more';
  const line = at(REQUEST_LINE, text, from);
  if (line === null) return { bad: 'request line' };
  const fields = readFields(text, REQUEST_LINE.lastIndex);
  if (fields === null || fields.next !== end + 4) return { bad: 'field line' };
  const [, first = '', second = '', digit] = line;
  const head = { first, second, minor: digit === '1' ? 1 : 0, fields: fields.list } as const;
  const bad = requestFault(head);
  if (bad !== null) return { bad };
  return withBody(text, fields.next, head, framingOf(head));
}

/** The response at `text[from…]` to a request with that method; an interim one is a response of its own. */
export function readResponse(text: string, from: number, method: string): Reading {
  const end = text.indexOf('\r\n\r\n', from);
  if (end < 0) return 'more';
  const line = at(STATUS_LINE, text, from);
  if (line === null) return { bad: 'status line' };
  const fields = readFields(text, STATUS_LINE.lastIndex);
  if (fields === null || fields.next !== end + 4) return { bad: 'field line' };
  const [, digit, first = '', second = ''] = line;
  const head = { first, second, minor: digit === '1' ? 1 : 0, fields: fields.list } as const;
  const isInterim = first.startsWith('1');
  // What an interim response says about a body means nothing; that it says two things is suspect all the same.
  const framing = framingOf(isInterim ? { ...head, minor: 1 } : head);
  const bad = typeof framing === 'object' ? framing.bad : connectionFault(head);
  if (typeof framing === 'object' || bad !== null) return { bad: bad ?? '' };
  const bodiless = method === 'HEAD' || isInterim || first === '204' || first === '304';
  if (bodiless) return { ...head, next: fields.next, body: '', trailers: [], untilClose: false };
  if (framing === 'none')
    return { ...head, next: text.length, body: text.slice(fields.next), trailers: [], untilClose: true };
  return withBody(text, fields.next, head, framing);
}

/**
 * As `readResponse`, but of what a service sends: a head that leaves one meaning is read in its strict form (RFC 9112 §2.2, §5.2, §6.3), which
 * is all that a visitor may get.
 */
export function readServiceResponse(text: string, from: number, method: string): Reading {
  const strict = readResponse(text, from, method);
  if (strict !== 'more' && !('bad' in strict)) return strict;
  const mended = mendedHead(text.slice(from));
  if (mended === null) return strict;
  const reading = readResponse(mended.head + text.slice(from + mended.length), 0, method);
  if (reading === 'more' || 'bad' in reading) return reading;
  return { ...reading, next: reading.next - mended.head.length + from + mended.length };
}

const CRLF_HEAD = /^[^\r\n]+\r\n(?:[^\r\n]+\r\n)*\r\n/;
const LF_HEAD = /^[^\r\n]+\n(?:[^\r\n]+\n)*\n/;
const UNCLEAR_FOLD =
  /^[^\r]*\r\n[ \t]|\r\n[ \t]+\r\n|\r\n(?:content-length|transfer-encoding|connection|upgrade|keep-alive|trailer):[^\r]*\r\n[ \t]/i;
const LENGTH_LINE = /\r\ncontent-length:([^\r]*)(?=\r\n)/gi;

/** The head that `text` begins with in its strict form, and how long it was; null when it has none, or not a clear one. */
function mendedHead(text: string): { head: string; length: number } | null {
  const said = (CRLF_HEAD.exec(text) ?? LF_HEAD.exec(text))?.[0];
  if (said === undefined) return null;
  const lines = said.replace(/\r?\n/g, '\r\n');
  if (UNCLEAR_FOLD.test(lines)) return null;
  const whole = lines.replace(/[ \t]*\r\n[ \t]+/g, ' ');
  const lengths = [...whole.matchAll(LENGTH_LINE)].flatMap(([, value = '']) => value.split(','));
  const [length, ...others] = new Set(lengths.map((value) => value.replace(/^[ \t]+|[ \t]+$/g, '')));
  if (others.length > 0) return null;
  let isFirst = true;
  const head = whole.replace(LENGTH_LINE, () => {
    const line = isFirst ? `\r\nContent-Length: ${length}` : '';
    isFirst = false;
    return line;
  });
  return { head, length: said.length };
}

type Head = Pick<Message, 'first' | 'second' | 'minor' | 'fields'>;
type Framing = 'none' | 'chunked' | number | { readonly bad: string };

function framingOf(head: Head): Framing {
  const lengths = valuesOf(head, 'content-length');
  const codings = valuesOf(head, 'transfer-encoding');
  if (lengths.length + codings.length > 1) return { bad: 'more than one framing' };
  if (codings[0] !== undefined)
    return codings[0].toLowerCase() === 'chunked' && head.minor === 1 ? 'chunked' : { bad: 'coding' };
  if (lengths[0] === undefined) return 'none';
  return /^\d{1,15}$/.test(lengths[0]) ? Number(lengths[0]) : { bad: 'length' };
}

function requestFault(head: Head): string | null {
  const [host, ...others] = valuesOf(head, 'host');
  if (host === undefined || others.length > 0 || host.length > 259 || !HOST.test(host)) return 'host';
  const connection = connectionFault(head);
  if (connection !== null) return connection;
  for (const value of valuesOf(head, 'expect')) if (value.toLowerCase() !== '100-continue') return 'expect';
  if (head.first.toUpperCase() === 'CONNECT') return 'connect';
  return targetFault(head, host);
}

function connectionFault(head: Head): string | null {
  for (const value of valuesOf(head, 'connection')) {
    if (!LIST.test(value)) return 'connection';
    const names = value.toLowerCase().split(/[\t ,]+/);
    if (names.some((name) => GUARDED.test(name))) return 'connection names a guarded field';
  }
  return null;
}

function targetFault({ first, second }: Head, host: string): string | null {
  if (second.startsWith('/')) return null;
  if (second === '*') return first === 'OPTIONS' ? null : 'target';
  const authority = /^https?:\/\/([^/?]*)/i.exec(second)?.[1];
  return authority?.toLowerCase() === host.toLowerCase() ? null : 'target';
}

function withBody(text: string, from: number, head: Head, framing: Framing): Reading {
  if (typeof framing === 'object') return framing;
  if (framing === 'chunked') return withChunks(text, from, head);
  const next = from + (framing === 'none' ? 0 : framing);
  if (next > text.length) return 'more';
  return { ...head, next, body: text.slice(from, next), trailers: [], untilClose: false };
}

function withChunks(text: string, from: number, head: Head): Reading {
  let body = '';
  let i = from;
  for (;;) {
    const line = at(CHUNK_LINE, text, i);
    if (line === null) return isCutLine(text, i, CUT_CHUNK_LINE) ? 'more' : { bad: 'chunk size' };
    i = CHUNK_LINE.lastIndex;
    const size = Number.parseInt(line[1] as string, 16);
    if (size === 0) break;
    if (i + size + 2 > text.length)
      return '\r\n'.startsWith(text.slice(i + size, i + size + 2)) ? 'more' : { bad: 'chunk end' };
    if (text.slice(i + size, i + size + 2) !== '\r\n') return { bad: 'chunk end' };
    body += text.slice(i, i + size);
    i += size + 2;
  }
  const trailers = readFields(text, i);
  if (trailers !== null) return { ...head, next: trailers.next, body, trailers: trailers.list, untilClose: false };
  return text.indexOf('\r\n\r\n', i - 2) < 0 ? 'more' : { bad: 'trailer' };
}

const CUT_CHUNK_LINE = /^(?:[0-9A-Fa-f]{1,8}(?:;[\t\x20-\x7e\x80-\xff]*)?\r?)?$/;

/** Whether what is left can be the start of such a line. */
function isCutLine(text: string, from: number, pattern: RegExp): boolean {
  return pattern.test(text.slice(from));
}

/** Field lines and the empty line behind them; null when something else comes first, or nothing. */
function readFields(text: string, from: number): { list: Fields; next: number } | null {
  const list: Fields = [];
  let i = from;
  while (!text.startsWith('\r\n', i)) {
    const line = at(FIELD_LINE, text, i);
    if (line === null) return null;
    list.push([(line[1] as string).toLowerCase(), line[2] as string]);
    i = FIELD_LINE.lastIndex;
  }
  return { list, next: i + 2 };
}

function at(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
