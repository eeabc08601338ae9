/**
 * Records as JSON: `summary` for the live list, `ngrokRequest` in the shape of ngrok's `/api/requests/http`, so that programs that read
 * the one read the other, with a few fields of our own behind it. Used by the routes and the feed.
 */
import { STATUS_CODES } from 'node:http';
import type { BodyCapture } from './tap/body-capture.ts';
import { decodedBody } from './decoded-body.ts';
import { type Fields, fieldValue, headText } from './head-text.ts';
import type { RequestRecord } from './request-record.ts';

export const REQUESTS_PATH = '/api/requests/http';
/** A path in the list; the detail has all of it. */
const MAX_LISTED_PATH = 512;

/** One line of the list. */
export function summary(record: RequestRecord): object {
  const { id, tunnel, method, target, at, status, state, fault, durationMs, replayOf } = record;
  return {
    id,
    tunnel,
    method,
    path: target.slice(0, MAX_LISTED_PATH),
    at,
    status,
    state,
    fault,
    duration_ms: durationMs,
    request_size: record.requestBody.size,
    response_size: record.responseBody.size,
    replay_of: replayOf,
  };
}

/** The record in ngrok's shape: durations in nanoseconds, `raw` as base64 of head and body. */
export function ngrokRequest(record: RequestRecord): Record<string, unknown> {
  const request = headText(record.requestHead);
  return {
    uri: `${REQUESTS_PATH}/${record.id}`,
    id: record.id,
    tunnel_name: record.tunnel,
    remote_addr: visitorOf(request.fields),
    start: new Date(record.at).toISOString(),
    duration: record.durationMs === null ? null : Math.round(record.durationMs * 1e6),
    request: {
      method: record.method,
      proto: protoOf(request.firstLine.split(' ').at(-1)),
      headers: headersOf(request.fields),
      uri: record.target,
      raw: rawOf(record.requestHead, record.requestBody),
    },
    response: responseOf(record),
    fault: record.fault,
  };
}

/** Everything that is known of it. */
export async function detail(record: RequestRecord): Promise<object> {
  const shown = ngrokRequest(record);
  const request = headText(record.requestHead).fields;
  const response = record.responseHead === null ? [] : headText(record.responseHead).fields;
  return {
    ...shown,
    ...summary(record),
    path: record.target,
    first_byte_ms: record.firstByteMs,
    can_replay: whyNoReplay(record) === undefined,
    no_replay_because: whyNoReplay(record) ?? null,
    request_headers: request,
    response_headers: response,
    request_body: await bodyOf(record.requestBody, request),
    response_body: await bodyOf(record.responseBody, response),
  };
}

/** Why the request can't be sent again; undefined: it can. */
export function whyNoReplay(record: RequestRecord): string | undefined {
  if (record.requestBody.truncated) return 'only part of its body was recorded';
  const { fields } = headText(record.requestHead);
  if (fieldValue(fields, 'upgrade') !== undefined)
    return 'it asked to switch to another protocol, which is not recorded';
  if (!record.requestEnded) return 'it is incomplete';
  return undefined;
}

function responseOf(record: RequestRecord): object | null {
  const { status, responseHead: head } = record;
  // What the edge answers for a service that can't be reached is known by its status alone.
  if (head === null) return status === 0 ? null : edgeResponse(status);
  const { firstLine, fields } = headText(head);
  return {
    status: `${status} ${firstLine.split(' ').slice(2).join(' ') || (STATUS_CODES[status] ?? '')}`.trim(),
    status_code: status,
    proto: protoOf(firstLine.split(' ')[0]),
    headers: headersOf(fields),
    raw: rawOf(head, record.responseBody),
  };
}

function edgeResponse(status: number): object {
  const text = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return { status: text, status_code: status, proto: 'HTTP/1.1', headers: {}, raw: '' };
}

async function bodyOf(body: BodyCapture, fields: Fields): Promise<object> {
  const { bytes, truncated, size } = body;
  const coding = fieldValue(fields, 'content-encoding');
  const decoded = await decodedBody(coding, bytes);
  return {
    size,
    kept: bytes.length,
    truncated: truncated || decoded?.truncated === true,
    type: fieldValue(fields, 'content-type') ?? null,
    coding: coding ?? null,
    decoded: decoded !== undefined,
    base64: (decoded?.bytes ?? bytes).toString('base64'),
  };
}

/** Who asked, as the edge says it. */
function visitorOf(fields: Fields): string {
  return (fieldValue(fields, 'x-forwarded-for') ?? '').split(',')[0]?.trim() ?? '';
}

function headersOf(fields: Fields): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const key = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
    const values = found.get(key) ?? [];
    values.push(value);
    found.set(key, values);
  }
  // A field named __proto__ must be one like any other.
  return Object.fromEntries(found);
}

function rawOf(head: Buffer, body: BodyCapture): string {
  return Buffer.concat([head, body.bytes]).toString('base64');
}

function protoOf(text: string | undefined): string {
  return text ?? 'HTTP/1.1';
}
