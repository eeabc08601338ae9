/** Field names of responses, and how a block has each: its number in the static table, whether it is indexed, or that it is left out. */
import { STATIC_FIELDS } from './static-table.ts';

export const SAY = {
  /** Put into the table, as what comes again. */
  indexed: 0,
  /** It rarely comes twice: it would only push out what does. */
  once: 1,
  /** A secret, which no one on the way may put into a table (RFC 7541 §7.1.3). */
  never: 2,
  /** HTTP/2 does not have it (RFC 9113 §8.2.2). */
  leftOut: 3,
  /** As `once`; of a response that has no content (205), left out. */
  length: 4,
} as const;
export type Say = (typeof SAY)[keyof typeof SAY];

export interface ResponseName {
  readonly bytes: Uint8Array;
  /** In the static table; 0: not there. */
  readonly index: number;
  readonly say: Say;
}

const ONCE = [
  'age',
  'cf-ray',
  'content-range',
  'etag',
  'expires',
  'last-modified',
  'location',
  'server-timing',
  'traceparent',
];
const ONCE_OF_REQUEST = [
  'x-amz-request-id',
  'x-correlation-id',
  'x-request-id',
  'x-response-time',
  'x-runtime',
  'x-trace-id',
];
const NEVER = ['authorization', 'proxy-authorization', 'set-cookie'];
const LEFT_OUT = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

const SAYS = new Map<string, Say>([
  ['content-length', SAY.length],
  ...[...ONCE, ...ONCE_OF_REQUEST].map((name) => [name, SAY.once] as const),
  ...NEVER.map((name) => [name, SAY.never] as const),
  ...LEFT_OUT.map((name) => [name, SAY.leftOut] as const),
]);

/** Any other: a field of a service. */
export const OTHER_NAME: ResponseName = { bytes: new Uint8Array(0), index: 0, say: SAY.indexed };

/** Lower case, byte by byte. Not `FOLD` of HTTP/1.1, to which `_` is `-`. */
export const LOWER = Uint8Array.from({ length: 256 }, (_, c) => (c >= 65 && c <= 90 ? c + 32 : c));

const NAMES: readonly ResponseName[] = [...new Set([...STATIC_FIELDS.map(({ name }) => name), ...SAYS.keys()])].map(
  (name) => ({
    bytes: Uint8Array.from(Buffer.from(name)),
    index: STATIC_FIELDS.findIndex((field) => field.name === name) + 1,
    say: SAYS.get(name) ?? SAY.indexed,
  }),
);
const LONGEST = Math.max(...NAMES.map(({ bytes }) => bytes.length));
const BY_LENGTH: ReadonlyArray<readonly ResponseName[]> = Array.from({ length: LONGEST + 1 }, (_, length) =>
  NAMES.filter(({ bytes }) => bytes.length === length),
);

/** The name `bytes[start, end)`, in any case. */
export function responseName(bytes: Buffer, start: number, end: number): ResponseName {
  const candidates = BY_LENGTH[end - start];
  if (candidates === undefined) return OTHER_NAME;
  for (let k = 0; k < candidates.length; k++) {
    const name = (candidates[k] as ResponseName).bytes;
    let i = 0;
    while (i < name.length && LOWER[bytes[start + i] as number] === name[i]) i++;
    if (i === name.length) return candidates[k] as ResponseName;
  }
  return OTHER_NAME;
}
