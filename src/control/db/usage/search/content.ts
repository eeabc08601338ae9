/**
 * Filters on what a record holds: headers, bodies, the trace, the visitor's network. SQLite leaves out what can't fit; the few rows that are
 * left are checked here, where a coded body can be decoded. In the thread alone (list.ts).
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { formatIpNetwork, holdsNetwork, readIpNetwork } from '../../../../base/net/ip-network.ts';
import type { RecordFilter } from '../records.ts';

/** Of each body: what the inspector records unless `inspector.max_body_bytes` is raised. */
const MAX_SEARCHED = 65_536;
const MAX_DECODED = 1024 * 1024;

/** What a row of the list has beside its item, where content is looked at. */
export interface ContentRow {
  readonly remote_ip: string;
  readonly request_head?: Buffer;
  readonly response_head?: Buffer | null;
  readonly trace?: string;
  /** Null: an empty one, for that is how SQLite cuts it. */
  readonly request_body?: Buffer | null;
  readonly response_body?: Buffer | null;
}

export interface ContentFilter {
  /** Beside those of the list. */
  readonly columns: readonly string[];
  readonly conditions: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  fits(row: ContentRow): boolean;
}

/** Undefined: nothing of the filter is about content. */
export function contentFilter(filter: RecordFilter): ContentFilter | undefined {
  const parts = [byAddress(filter), byHeader(filter), byTrace(filter), byBody(filter)].filter(
    (part) => part !== undefined,
  );
  if (parts.length === 0) return undefined;
  return {
    columns: [...new Set(parts.flatMap(({ columns }) => columns))],
    conditions: parts.flatMap(({ conditions }) => conditions),
    values: Object.assign({}, ...parts.map(({ values }) => values)) as Record<string, string>,
    fits: (row) => parts.every((part) => part.fits(row)),
  };
}

function byAddress({ address }: RecordFilter): ContentFilter | undefined {
  const network = address === undefined ? undefined : readIpNetwork(address);
  if (network === undefined) return undefined;
  const isOne = network.prefix === (network.family === 4 ? 32 : 128);
  return {
    columns: [],
    conditions: isOne
      ? ['r.remote_ip = @address']
      : [`instr(r.remote_ip, ':') ${network.family === 6 ? '> 0' : '= 0'}`],
    values: isOne ? { address: formatIpNetwork(network).replace(/\/.*/, '') } : {},
    fits: ({ remote_ip: ip }) => {
      const one = readIpNetwork(ip);
      return one !== undefined && holdsNetwork(network, one);
    },
  };
}

function byHeader({ header }: RecordFilter): ContentFilter | undefined {
  if (header === undefined) return undefined;
  const name = header.name.toLowerCase();
  const value = header.value?.toLowerCase();
  const like = `%\r\n${escaped(name)}:%${value === undefined ? '' : `${escaped(value)}%`}`;
  return {
    columns: ['d.request_head', 'd.response_head'],
    conditions: [`(${holds('d.request_head', 'header')} OR ${holds('d.response_head', 'header')})`],
    values: { header: like },
    fits: ({ request_head: sent, response_head: answered }) =>
      hasField(sent, name, value) || hasField(answered, name, value),
  };
}

/** As the edge noted it, or in the header of the visitor. */
function byTrace({ traceId }: RecordFilter): ContentFilter | undefined {
  if (traceId === undefined) return undefined;
  const id = traceId.toLowerCase();
  const noted = `"traceId":"${id}"`;
  return {
    columns: ['d.request_head', 'd.trace'],
    conditions: [`(${holds('d.request_head', 'traceparent')} OR instr(d.trace, @noted) > 0)`],
    values: { traceparent: `%\r\ntraceparent:%-${id}-%`, noted },
    fits: ({ request_head: head, trace }) =>
      trace?.includes(noted) === true || fieldsOf(head, 'traceparent').some((value) => value.split('-')[1] === id),
  };
}

function byBody({ bodyContains }: RecordFilter): ContentFilter | undefined {
  if (bodyContains === undefined) return undefined;
  const text = bodyContains.toLowerCase();
  const body = (column: string): string => `substr(${column}, 1, ${MAX_SEARCHED})`;
  return {
    columns: [
      'd.request_head',
      'd.response_head',
      `${body('d.request_body')} AS request_body`,
      `${body('d.response_body')} AS response_body`,
    ],
    conditions: [
      `(${holds(body('d.request_body'), 'body')} OR ${holds(body('d.response_body'), 'body')} OR ${isCoded('d.request_body')} OR
        ${isCoded('d.response_body')} OR instr(d.response_head, 'ncoding: br') > 0)`,
    ],
    values: { body: `%${escaped(bodyContains)}%` },
    fits: ({ request_head: asked, request_body: sent, response_head: head, response_body: answered }) =>
      bodyHolds(sent, asked, text) || bodyHolds(answered, head, text),
  };
}

/** ASCII case does not count. */
function holds(column: string, value: string): string {
  return `CAST(${column} AS TEXT) LIKE @${value} ESCAPE '\\'`;
}

/** Begins as gzip, zstd and zlib do, or with a zero, behind which SQLite reads no text (gRPC). */
function isCoded(column: string): string {
  return `(substr(${column}, 1, 2) IN (x'1f8b', x'28b5', x'7801', x'785e', x'789c', x'78da') OR substr(${column}, 1, 1) = x'00')`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
}

function hasField(head: Buffer | null | undefined, name: string, value: string | undefined): boolean {
  const values = fieldsOf(head, name);
  return value === undefined ? values.length > 0 : values.some((one) => one.includes(value));
}

/** Values of a field, in lower case. */
function fieldsOf(head: Buffer | null | undefined, name: string): string[] {
  if (head === null || head === undefined) return [];
  const lines = head.toString('latin1').toLowerCase().split('\r\n');
  const start = `${name}:`;
  return lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length).trim());
}

function bodyHolds(body: Buffer | null | undefined, head: Buffer | null | undefined, text: string): boolean {
  if (body === undefined || body === null) return false;
  return decoded(body, fieldsOf(head, 'content-encoding')[0]).toString().toLowerCase().includes(text);
}

const DECODERS: ReadonlyMap<string, (body: Buffer) => Buffer> = new Map([
  ['gzip', (body) => gunzipSync(body, LENIENT)],
  ['x-gzip', (body) => gunzipSync(body, LENIENT)],
  ['deflate', (body) => inflateSync(body, LENIENT)],
  [
    'br',
    (body) =>
      brotliDecompressSync(body, { maxOutputLength: MAX_DECODED, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  ],
  ['zstd', (body) => zstdDecompressSync(body, { maxOutputLength: MAX_DECODED, finishFlush: constants.ZSTD_e_flush })],
]);
/** Of a body that is cut, what is there counts. */
const LENIENT = { maxOutputLength: MAX_DECODED, finishFlush: constants.Z_SYNC_FLUSH };

/** As it came where it can't be decoded, or has more than a megabyte in it. */
function decoded(body: Buffer, coding: string | undefined): Buffer {
  try {
    return DECODERS.get(coding ?? '')?.(body) ?? body;
  } catch {
    return body;
  }
}
