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
  /** 1: SQLite has found the text in a body that is not coded. */
  readonly body_found?: 0 | 1;
  /** Null: not coded, and so of no use here. */
  readonly request_body?: Buffer | null;
  readonly response_body?: Buffer | null;
  readonly request_br?: 0 | 1;
  readonly response_br?: 0 | 1;
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

/** Coded bodies alone are read here: a BLOB costs more on its way out of SQLite than a search within it. */
function byBody({ bodyContains }: RecordFilter): ContentFilter | undefined {
  if (bodyContains === undefined) return undefined;
  const text = bodyContains.toLowerCase();
  const body = (column: string): string => `substr(${column}, 1, ${MAX_SEARCHED})`;
  const found = `(${holds(body('d.request_body'), 'body')} OR ${holds(body('d.response_body'), 'body')})`;
  const isSentCoded = `(${isCoded('d.request_body')} OR ${IS_SENT_BR})`;
  const isAnswerCoded = `(${isCoded('d.response_body')} OR ${IS_BR})`;
  return {
    columns: [
      `${found} AS body_found`,
      `CASE WHEN ${isSentCoded} THEN ${body('d.request_body')} END AS request_body`,
      `CASE WHEN ${isAnswerCoded} THEN ${body('d.response_body')} END AS response_body`,
      `${IS_SENT_BR} AS request_br`,
      `${IS_BR} AS response_br`,
    ],
    conditions: [`(${found} OR ${isSentCoded} OR ${isAnswerCoded})`],
    values: { body: `%${escaped(bodyContains)}%` },
    fits: (row) =>
      row.body_found === 1 ||
      bodyHolds(row.request_body, row.request_br === 1, text) ||
      bodyHolds(row.response_body, row.response_br === 1, text),
  };
}

/** Brotli has no beginning of its own. */
const IS_BR = `(instr(d.response_head, 'ncoding: br') > 0)`;
/** Most requests accept it: the name counts here, as HTTP/2 and as HTTP/1.1 write it. */
const IS_SENT_BR = `(length(d.request_body) > 0 AND (instr(d.request_head, 'ontent-encoding: br') > 0 OR instr(d.request_head, 'ontent-Encoding: br') > 0))`;

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

function bodyHolds(body: Buffer | null | undefined, isBr: boolean, text: string): boolean {
  if (body === undefined || body === null) return false;
  return decoded(body, isBr).toString().toLowerCase().includes(text);
}

/** Small: most bodies are, and each is given a buffer of this size. */
const CHUNK = 4096;
/** Of a body that is cut, what is there counts. */
const LENIENT = { maxOutputLength: MAX_DECODED, chunkSize: CHUNK, finishFlush: constants.Z_SYNC_FLUSH };
const LENIENT_BR = { ...LENIENT, finishFlush: constants.BROTLI_OPERATION_FLUSH };
const LENIENT_ZSTD = { ...LENIENT, finishFlush: constants.ZSTD_e_flush };

/** By its first bytes, as `isCoded`. As it came where it can't be decoded, or has more than a megabyte in it. */
function decoded(body: Buffer, isBr: boolean): Buffer {
  try {
    if (isBr) return brotliDecompressSync(body, LENIENT_BR);
    if (body[0] === 0x1f) return gunzipSync(body, LENIENT);
    if (body[0] === 0x28) return zstdDecompressSync(body, LENIENT_ZSTD);
    return body[0] === 0x78 ? inflateSync(body, LENIENT) : body;
  } catch {
    return body;
  }
}
