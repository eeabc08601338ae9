/**
 * What the fields of a request are to HTTP/2 (RFC 9113 §8.2, §8.3): told once, when a name or value is read, and kept with the entry of the table,
 * so that an indexed field is not looked at again.
 */
import { TOKEN, VALUE } from '../http1/chars.ts';
import { isSame } from './primitives.ts';

export const KIND = {
  /** Goes into the head as it is. */
  plain: 0,
  method: 1,
  path: 2,
  scheme: 3,
  authority: 4,
  /** Extended CONNECT (RFC 8441 §4). */
  protocol: 5,
  host: 6,
  cookie: 7,
  length: 8,
  /** TE with a value other than `trailers`; with that one the line is plain. */
  te: 9,
  priority: 10,
  websocketKey: 11,
  /** Of one connection (RFC 9113 §8.2.2). */
  connection: 12,
  badName: 13,
  badValue: 14,
} as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

const NAMES = [
  [':method', KIND.method],
  [':path', KIND.path],
  [':scheme', KIND.scheme],
  [':authority', KIND.authority],
  [':protocol', KIND.protocol],
  ['host', KIND.host],
  ['cookie', KIND.cookie],
  ['content-length', KIND.length],
  ['te', KIND.te],
  ['priority', KIND.priority],
  ['sec-websocket-key', KIND.websocketKey],
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'].map(
    (name) => [name, KIND.connection] as const,
  ),
] as const;

interface Name {
  readonly bytes: Buffer;
  readonly kind: Kind;
}

const LONGEST = 17;
/** By length of the name. */
const BY_LENGTH: ReadonlyArray<readonly Name[]> = Array.from({ length: LONGEST + 1 }, (_, length) =>
  NAMES.filter(([name]) => name.length === length).map(([name, kind]) => ({ bytes: Buffer.from(name), kind })),
);

const TRAILERS = Buffer.from('trailers');

/** Of the name `bytes[start, end)`. A name in upper case is a bad one (RFC 9113 §8.2.1). */
export function nameKind(bytes: Buffer, start: number, end: number): Kind {
  const length = end - start;
  if (length <= LONGEST) {
    for (const name of BY_LENGTH[length] as readonly Name[])
      if (isSame(bytes, start, name.bytes, 0, length)) return name.kind;
  }
  if (length === 0) return KIND.badName;
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    if (TOKEN[c] === 0 || (c >= 65 && c <= 90)) return KIND.badName;
  }
  return KIND.plain;
}

/** Of the line whose name is a `kind`, by its value `bytes[start, end)`. */
export function lineKind(kind: Kind, bytes: Buffer, start: number, end: number): Kind {
  if (kind === KIND.badName || kind === KIND.connection || start === end) return kind;
  if (isBlank(bytes[start]) || isBlank(bytes[end - 1])) return KIND.badValue;
  let isGood = 1;
  for (let i = start; i < end; i++) isGood &= VALUE[bytes[i] as number] as number;
  if (isGood === 0) return KIND.badValue;
  const isTrailers =
    kind === KIND.te && end - start === TRAILERS.length && isSame(bytes, start, TRAILERS, 0, end - start);
  return isTrailers ? KIND.plain : kind;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9;
}

/** Why a field of this name, which is a bad one or one of a connection, is refused. */
export function refusalOf(kind: Kind, name: string): string {
  if (kind === KIND.connection) return `${name} is not allowed in HTTP/2`;
  if (kind === KIND.badValue) return 'invalid header value';
  // Anywhere in it: a parser would end the name there.
  if (name.includes(':')) return 'an unknown pseudo-field';
  return name === name.toLowerCase() ? 'invalid header name' : 'a field name in upper case';
}
