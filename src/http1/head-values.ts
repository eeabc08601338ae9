/**
 * What the values of single fields say: lengths, lists of names, limits. Called by head.ts for the fields that it must know; each
 * answers false with a reason in the head when two readers could understand the value differently.
 */
import { COLON, SPACE, TAB, TOKEN } from './chars.ts';
import { equalsFolded, FIELD, type Field, fieldOf, isForwardedName, REQUEST_NAMES, word } from './fields.ts';

/** A head, as far as its values are read and noted here. */
export interface HeadValues {
  contentLength: number;
  traceCount: number;
  traceStart: number;
  traceEnd: number;
  close: boolean;
  keepAlive: boolean;
  connectionUpgrade: boolean;
  /** Field names in Connection other than the usual: start and end pairs. */
  readonly nominated: number[];
  /** Starts of the field lines, and one more for the line after the last. */
  readonly lines: Int32Array;
  readonly lineCount: number;
  /** Spans to leave out, as pairs. */
  readonly drops: Int32Array;
  readonly dropCount: number;
  /** Why the head was refused. */
  reason: string;
  drop(start: number, end: number): void;
}

/** Names in Connection beyond the usual ones. */
const MAX_NOMINATED = 16;

const W_CLOSE = word('close');
const W_KEEP_ALIVE = word('keep-alive');
const W_UPGRADE = word('upgrade');
const W_TE = word('te');
const W_HTTP2_SETTINGS = word('http2-settings');
const W_TIMEOUT = word('timeout=');

/** Digits alone, at most 15 of them (beyond 2^53 numbers are not exact), once. RFC 9112 §6.3 would allow equal repeats; no peer needs them. */
export function takeContentLength(bytes: Buffer, start: number, end: number, head: HeadValues): boolean {
  if (head.contentLength >= 0 || end === start || end - start > 15) return refused(head, 'invalid content-length');
  let length = 0;
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] as number) - 48;
    if (digit < 0 || digit > 9) return refused(head, 'invalid content-length');
    length = length * 10 + digit;
  }
  head.contentLength = length;
  return true;
}

/** Connection is a list of names (RFC 9110 §7.6.1): what it names is for this hop alone. */
export function takeConnection(bytes: Buffer, start: number, end: number, head: HeadValues): boolean {
  let i = start;
  while (i < end) {
    while (i < end && (bytes[i] === SPACE || bytes[i] === TAB || bytes[i] === 44)) i++;
    const from = i;
    while (i < end && TOKEN[bytes[i] as number] === 1) i++;
    const to = i;
    while (i < end && (bytes[i] === SPACE || bytes[i] === TAB)) i++;
    if (i < end && bytes[i] !== 44) return refused(head, 'invalid connection header');
    if (to === from) continue;
    if (equalsFolded(bytes, from, to, W_CLOSE)) head.close = true;
    else if (equalsFolded(bytes, from, to, W_KEEP_ALIVE)) head.keepAlive = true;
    else if (equalsFolded(bytes, from, to, W_UPGRADE)) head.connectionUpgrade = true;
    else if (equalsFolded(bytes, from, to, W_TE) || equalsFolded(bytes, from, to, W_HTTP2_SETTINGS)) continue;
    else if (head.nominated.push(from, to) > 2 * MAX_NOMINATED) return refused(head, 'invalid connection header');
  }
  return true;
}

/** Leaves out the fields that Connection names; refuses to let it name those that frame or route the message. */
export function dropNominated(bytes: Buffer, head: HeadValues): boolean {
  for (let n = 0; n < head.nominated.length; n += 2) {
    const from = head.nominated[n] as number;
    const to = head.nominated[n + 1] as number;
    const known = fieldOf(REQUEST_NAMES, bytes, from, to - from);
    if (isGuarded(known) || isForwardedName(bytes, from, to - from))
      return refused(head, 'the connection header names a protected header');
    const name = Uint8Array.from(bytes.subarray(from, to), (c) => (c >= 65 && c <= 90 ? c + 32 : c));
    for (let l = 0; l < head.lineCount; l++) {
      const line = head.lines[l] as number;
      const colon = bytes.indexOf(COLON, line);
      if (!equalsFolded(bytes, line, colon, name) || isDropped(head, line)) continue;
      head.drop(line, lineEndOf(head, l));
    }
  }
  return true;
}

function isGuarded(field: Field): boolean {
  return (
    field === FIELD.host ||
    field === FIELD.contentLength ||
    field === FIELD.transferEncoding ||
    field === FIELD.forwardedFor ||
    field === FIELD.forwardedProto ||
    field === FIELD.forwardedHost
  );
}

function isDropped(head: HeadValues, line: number): boolean {
  for (let d = 0; d < head.dropCount; d++) if (head.drops[2 * d] === line) return true;
  return false;
}

function lineEndOf(head: HeadValues, index: number): number {
  return head.lines[index + 1] as number;
}

/** Where traceparent is; whether it is valid is asked where it is used (trace-parent.ts). */
export function takeTrace(start: number, end: number, head: HeadValues): true {
  head.traceCount++;
  head.traceStart = start;
  head.traceEnd = end;
  return true;
}

/** `timeout=N` of a Keep-Alive field, or -1. */
export function timeoutIn(bytes: Buffer, start: number, end: number): number {
  for (let i = start; i + W_TIMEOUT.length < end; i++) {
    if (!equalsFolded(bytes, i, i + W_TIMEOUT.length, W_TIMEOUT)) continue;
    const digits = /^\d{1,6}/.exec(bytes.toString('latin1', i + W_TIMEOUT.length, end));
    return digits === null ? -1 : Number(digits[0]);
  }
  return -1;
}

/** Notes why the head is refused. */
export function refused(head: HeadValues, reason: string): false {
  head.reason = reason;
  return false;
}
