/**
 * A recorded request as an entry of an HTTP archive (HAR 1.2), which browsers and other tools import. Called by archive.ts. What HAR has no
 * place for stands in fields that begin with `_`, as it says.
 */
import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { InspectedRequest, RecordedFrame } from '../../../plane/inspection.ts';
import type { BodyDecoder } from './decoded-body.ts';
import { type RecordedHead, type ShownField, valueOf } from '../../core/rules/recorded-head.ts';
import type { ShownRequest } from '../views.ts';
import { urlOf } from '../recorded-url.ts';

const VERSIONS = { '1.0': 'HTTP/1.0', '1.1': 'HTTP/1.1', '2': 'HTTP/2' } as const;
const NO_HEAD: RecordedHead = { startLine: '', fields: [] };

/** Opcodes of messages. */
const TEXT = 1;
const BINARY = 2;
/** Longer text takes the loop too long to escape: JSON of base64 needs no escapes. */
const MAX_TEXT_BYTES = 256 * 1024;
/** In JSON six bytes each; people can't read them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** What opens the archive's bodies, and for how many bytes there is room in it. */
interface Opening {
  readonly decoder: BodyDecoder;
  readonly room: number;
}

/** Undefined values are left out once it is JSON. */
export async function entryOf(shown: ShownRequest, opening: Opening) {
  const { record, response } = shown;
  const { policyMs, firstByteMs } = record.trace;
  const url = urlOf(shown);
  // The three parts make up the whole, as HAR wants it: nothing was sent before the head was there.
  const wait = firstByteMs === null ? record.latencyMs : Math.min(firstByteMs, record.latencyMs);
  return {
    startedDateTime: new Date(record.at).toISOString(),
    time: record.latencyMs,
    request: requestOf(shown, url),
    response: await responseOf(record, response ?? NO_HEAD, opening),
    cache: {},
    timings: { send: 0, wait, receive: record.latencyMs - wait },
    comment: record.trace.code === null ? undefined : `${record.trace.outcome}: ${record.trace.code}`,
    _id: record.id,
    _tunnel_id: record.tunnelId,
    _remote_ip: record.remoteIp,
    _replay_of: record.replayOf,
    _outcome: record.trace.outcome,
    _code: record.trace.code,
    _policy_ms: policyMs,
    _resourceType: record.websocket === undefined ? undefined : 'websocket',
    _webSocketMessages: record.websocket?.frames?.flatMap((frame) => messageOf(frame, record.at + (firstByteMs ?? 0))),
  };
}

/** As the developer tools of browsers import it: text, and what is no text in base64. Control frames have no place there. */
function messageOf({ from, atMs, opcode, bytes, isCompressed }: RecordedFrame, openedAt: number) {
  if ((opcode !== TEXT && opcode !== BINARY) || isCompressed) return [];
  const type = from === 'visitor' ? 'send' : 'receive';
  const data = Buffer.from(bytes).toString(opcode === TEXT ? 'utf8' : 'base64');
  return [{ type, time: (openedAt + atMs) / 1_000, opcode, data }];
}

function requestOf({ record, request }: ShownRequest, url: string) {
  const body = Buffer.from(record.requestBody);
  const mimeType = valueOf(request.fields, 'content-type') ?? '';
  const { text, encoding } = textOf(body);
  return {
    method: record.method,
    url,
    httpVersion: VERSIONS[record.trace.httpVersion],
    cookies: cookiesIn(request.fields, 'cookie').flatMap((value) => value.split(';').flatMap(pairIn)),
    headers: headersOf(request.fields),
    queryString: queryOf(url),
    // HAR knows no encoding here, so tools that read none see base64 of what is no text.
    postData:
      body.length === 0
        ? undefined
        : { mimeType, text, _encoding: encoding, comment: cut(record.requestBodyTruncated) },
    headersSize: record.requestHead.length,
    bodySize: record.requestSize,
  };
}

async function responseOf(record: InspectedRequest, { startLine, fields }: RecordedHead, { decoder, room }: Opening) {
  const raw = Buffer.from(record.responseBody);
  const coding = valueOf(fields, 'content-encoding');
  const isOpened = coding !== undefined && !record.responseBodyTruncated;
  const decoded = isOpened ? await decoder.decode(raw, coding, room) : undefined;
  const body = decoded ?? raw;
  return {
    status: record.status,
    statusText: /^HTTP\/\d\.\d \d{3} (.*)$/.exec(startLine)?.[1] ?? STATUS_CODES[record.status] ?? '',
    httpVersion: VERSIONS[record.trace.httpVersion],
    cookies: cookiesIn(fields, 'set-cookie').flatMap((value) => pairIn(value.split(';')[0] ?? '')),
    headers: headersOf(fields),
    content: {
      size: decoded?.length ?? record.responseSize,
      compression: decoded === undefined ? undefined : decoded.length - record.responseSize,
      mimeType: valueOf(fields, 'content-type') ?? '',
      ...textOf(body),
      comment: cut(record.responseBodyTruncated),
    },
    redirectURL: valueOf(fields, 'location') ?? '',
    headersSize: record.responseHead?.length ?? -1,
    bodySize: record.responseSize,
  };
}

function cut(isTruncated: boolean): string | undefined {
  return isTruncated ? 'Truncated in the record: `bodySize` is the full size.' : undefined;
}

function headersOf(fields: readonly ShownField[]) {
  return fields.map(({ name, value }) => ({ name, value }));
}

/** Text that people can read as it is, up to a bound; all else in base64. */
function textOf(body: Buffer): { readonly text: string; readonly encoding: 'base64' | undefined } {
  if (body.length <= MAX_TEXT_BYTES && isUtf8(body)) {
    const text = body.toString('utf8');
    if (!CONTROLS.test(text)) return { text, encoding: undefined };
  }
  return { text: body.toString('base64'), encoding: 'base64' };
}

function cookiesIn(fields: readonly ShownField[], name: string): string[] {
  return fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value);
}

/** A masked value has no name in front of it, and is one. */
function pairIn(pair: string): Array<{ name: string; value: string }> {
  const text = pair.trim();
  const sign = text.indexOf('=');
  if (text === '') return [];
  return [sign < 0 ? { name: text, value: '' } : { name: text.slice(0, sign), value: text.slice(sign + 1) }];
}

function queryOf(url: string): Array<{ name: string; value: string }> {
  const start = url.indexOf('?');
  if (start < 0) return [];
  return [...new URLSearchParams(url.slice(start + 1))].map(([name, value]) => ({ name, value }));
}
