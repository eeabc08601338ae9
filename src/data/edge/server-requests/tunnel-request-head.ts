/**
 * The head of a request that the control plane sends, as bytes of HTTP/1.1: what a visitor would have sent. It is read by the parser of all
 * heads, and held against what was meant: whatever a name or value holds, one head goes down the tunnel, and its framing is ours. Called by
 * tunnel-request.ts.
 */
import { fieldOf, FIELD, type Field, REQUEST_NAMES } from '../../../http1/fields.ts';
import { BAD, type Head, parseRequestHead, TARGET_TOO_LONG } from '../../../http1/head.ts';
import type { TunnelRequest } from '../../../plane/inspection.ts';
import type { FaultCode } from '../../../base/codes/edge-faults.ts';

type HeadOf = Pick<TunnelRequest, 'method' | 'target' | 'host' | 'fields' | 'body'>;
type SentField = TunnelRequest['fields'][number];

/** Methods whose requests say the length of their body also when there is none (RFC 9110 §8.6). */
const WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);
/** What the edge writes by itself, or what would make the message another one than was meant. */
const GUARDED: ReadonlySet<Field> = new Set([
  FIELD.host,
  FIELD.contentLength,
  FIELD.transferEncoding,
  FIELD.connection,
  FIELD.upgrade,
]);

/**
 * Headers of a stored webhook for its service. No visitor can send these: the parser leaves them out, so they go beside what it
 * reads, with what else the edge says.
 */
const MARKS = /^culvert-webhook-(receiver|delivery|attempt|test)$/i;
const MARK_VALUE = /^[\x20-\x7e]{0,200}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `lines`: field lines that were written; the parser must find as many. */
export interface TunnelHead {
  readonly bytes: Buffer;
  readonly lines: number;
}

/** Null: it holds what no head can, or a field that frames or routes the message. */
export function writeTunnelHead(request: HeadOf): TunnelHead | null {
  const { method, target, host, fields } = request;
  for (const [name] of fields) if (isGuarded(name)) return null;
  const own = fields.filter((field) => !isMark(field));
  const lines = [`Host: ${host}`, ...own.map(([name, value]) => `${name}: ${value}`)];
  const length = lengthOf(request);
  if (length >= 0) lines.push(`Content-Length: ${length}`);
  const text = `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const bytes = Buffer.from(text, 'latin1');
  // As bytes, a character beyond them would become another one, a line break perhaps.
  return bytes.toString('latin1') === text ? { bytes, lines: lines.length } : null;
}

/** Reads it into `head`. The code with which it is refused, or null when it says what `request` means and nothing else. */
export function readTunnelHead({ bytes, lines }: TunnelHead, request: HeadOf, head: Head): FaultCode | null {
  const end = parseRequestHead(bytes, 0, bytes.length, head);
  if (end === TARGET_TOO_LONG) return 'uri_too_long';
  if (end < 0 && end !== BAD) return 'head_too_large';
  if (end !== bytes.length || head.lineCount !== lines) return 'bad_request';
  const { methodEnd, targetStart, targetEnd, pathStart, chunked, contentLength, upgradeCount } = head;
  const isMeant =
    methodEnd === request.method.length &&
    targetEnd - targetStart === request.target.length &&
    // Of another form than the one that services get.
    pathStart === targetStart &&
    !chunked &&
    contentLength === lengthOf(request) &&
    upgradeCount === 0;
  return isMeant ? null : 'bad_request';
}

/** Lines that tell the service why it gets this, each with its CR LF: a request that it had before, or a webhook. */
export function marksOf({ replayOf, fields }: Pick<TunnelRequest, 'replayOf' | 'fields'>): string {
  const replay = replayOf !== null && UUID.test(replayOf) ? `Culvert-Replay: ${replayOf}\r\n` : '';
  const marks = fields.filter((field) => isMark(field));
  return replay + marks.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

/** One that does not fit is a field like others, and left out with those of visitors. */
function isMark([name, value]: SentField): boolean {
  return MARKS.test(name) && MARK_VALUE.test(value);
}

/** -1: none is said. */
function lengthOf({ method, body }: HeadOf): number {
  return body.length > 0 || WITH_CONTENT.has(method) ? body.length : -1;
}

/** A name that is none is left to the parser, which refuses it, unless it would be read as another name: the colon ends it. */
function isGuarded(name: string): boolean {
  const bytes = Buffer.from(name, 'latin1');
  return name.includes(':') || GUARDED.has(fieldOf(REQUEST_NAMES, bytes, 0, bytes.length));
}
