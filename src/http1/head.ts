/**
 * Heads of HTTP/1.1 messages, read in one pass over bytes: no strings, no objects per field. The result is a set of positions
 * in the buffer; fields that must not be forwarded are a list of spans to leave out. Strict: everything that two parsers could
 * read differently is refused (RFC 9112 §11.2). List and figures: docs/decisions/0002-http1-parser.md.
 */
import { COLON, CR, HEX, HOST, LF, SPACE, TAB, TARGET, TOKEN, VALUE } from './chars.ts';
import {
  equalsFolded,
  FIELD,
  type Field,
  fieldOf,
  isForwardedName,
  type Names,
  REQUEST_NAMES,
  RESPONSE_NAMES,
  word,
} from './fields.ts';
import { type HeadLimits, USUAL_LIMITS } from './head-limits.ts';
import { dropNominated, refused, takeConnection, takeContentLength, takeTrace, timeoutIn } from './head-values.ts';

/** Spans to leave out beyond one per field. */
const MORE_DROPS = 4;
/** Longest host name in the DNS, and a port. */
const MAX_HOST_BYTES = 259;
const MAX_PORT_DIGITS = 5;
const MAX_METHOD_BYTES = 32;

/** Outcome of a parse: a positive number is where the head ends; these are the others. */
export const INCOMPLETE = 0;
export const BAD = -1;
export const TOO_LARGE = -2;
export const TARGET_TOO_LONG = -3;
/** What `reason` says of TOO_LARGE when it was the fields. */
export const TOO_MANY_FIELDS = 'fields';

const W_CONNECT = word('connect');
const W_CHUNKED = word('chunked');
const W_WEBSOCKET = word('websocket');
const W_CONTINUE = word('100-continue');
const W_HTML = word('text/html');

/** Where everything in a head is. One object is reused for all heads of a thread: read it before the next parse. */
export class Head {
  readonly maxBytes: number;
  readonly maxFields: number;
  readonly maxTargetBytes: number;
  /** Spans to leave out when forwarding, as pairs, in order. */
  readonly drops: Int32Array;
  dropCount = 0;
  /** Starts of the field lines, and one more for the line after the last. */
  readonly lines: Int32Array;
  lineCount = 0;
  /** Which of `lines` are Cookie; of responses Set-Cookie or Clear-Site-Data. */
  readonly cookieLines: Int32Array;
  cookieCount = 0;
  methodEnd = 0;
  targetStart = 0;
  targetEnd = 0;
  /** Where the path of the target begins: behind the authority of an absolute one. Of one without a path, at its end or its query. */
  pathStart = 0;
  /** An absolute target without a path: the byte that is left of its authority becomes a `/` when forwarding. */
  noPath = false;
  minor = 1;
  hostStart = 0;
  hostEnd = 0;
  hostCount = 0;
  contentLength = -1;
  /** Requests are forwarded with their framing in one normal form, so its lines are left out; responses keep theirs. */
  isRequest = true;
  chunked = false;
  /** The line of Content-Length, when there is one. */
  lengthLine = 0;
  lengthLineEnd = 0;
  /** The line of Transfer-Encoding, when `chunked`. */
  codingLine = 0;
  codingLineEnd = 0;
  close = false;
  keepAlive = false;
  connectionUpgrade = false;
  upgradeWebsocket = false;
  upgradeCount = 0;
  expectContinue = false;
  acceptsHtml = false;
  forwardedForStart = 0;
  forwardedForEnd = 0;
  forwardedForCount = 0;
  forwardedProtoStart = 0;
  forwardedProtoEnd = 0;
  forwardedHostStart = 0;
  forwardedHostEnd = 0;
  traceCount = 0;
  traceStart = 0;
  traceEnd = 0;
  /** Field names in Connection other than the usual: start and end pairs. */
  readonly nominated: number[] = [];
  /** Responses: status, and `timeout` of Keep-Alive in seconds or -1. */
  status = 0;
  keepAliveSeconds = -1;
  /** Why the head was refused. */
  reason = '';
  /** The field that is being read: its line and its value. Here and not in arguments, so that nothing is allocated per field. */
  line = 0;
  lineEnd = 0;
  value = 0;
  valueEnd = 0;

  constructor(limits: HeadLimits = USUAL_LIMITS) {
    this.maxBytes = limits.headBytes;
    this.maxFields = limits.fields;
    this.maxTargetBytes = limits.targetBytes;
    this.drops = new Int32Array(2 * (limits.fields + MORE_DROPS));
    this.lines = new Int32Array(limits.fields + 1);
    this.cookieLines = new Int32Array(limits.fields);
  }

  reset(): void {
    this.dropCount = this.lineCount = this.hostCount = this.upgradeCount = this.forwardedForCount = 0;
    this.cookieCount = this.traceCount = 0;
    this.contentLength = this.keepAliveSeconds = -1;
    this.chunked = this.close = this.keepAlive = this.connectionUpgrade = this.upgradeWebsocket = false;
    this.expectContinue = this.acceptsHtml = this.noPath = false;
    this.minor = 1;
    this.status = 0;
    this.forwardedProtoEnd = this.forwardedHostEnd = 0;
    if (this.nominated.length > 0) this.nominated.length = 0;
    this.reason = '';
  }

  /** Adds a span to leave out. Most come in order; the others are put in place. What lies within another one goes into that. */
  drop(start: number, end: number): void {
    const { drops } = this;
    const length = this.dropCount * 2;
    let to = length;
    while (to > 0 && (drops[to - 2] as number) >= end) to -= 2;
    let at = to;
    while (at > 0 && (drops[at - 2] as number) >= start) at -= 2;
    if (at > 0 && (drops[at - 1] as number) >= end) return;
    if (to < length) drops.copyWithin(at + 2, to, length);
    drops[at] = start;
    drops[at + 1] = end;
    this.dropCount = (at + 2 + length - to) / 2;
  }
}

/** Parses a request head in `bytes[start, end)`: its end, or one of INCOMPLETE, BAD, TOO_LARGE, TARGET_TOO_LONG. */
export function parseRequestHead(bytes: Buffer, start: number, end: number, head: Head): number {
  head.reset();
  head.isRequest = true;
  let i = start;
  while (i < end && TOKEN[bytes[i] as number] === 1) i++;
  if (i - start > MAX_METHOD_BYTES) return refuse(head, 'invalid method');
  if (i >= end) return INCOMPLETE;
  if (i === start || bytes[i] !== SPACE) return refuse(head, 'invalid method');
  head.methodEnd = i;
  const target = ++i;
  while (i < end && TARGET[bytes[i] as number] === 1) i++;
  if (i - target > head.maxTargetBytes) return TARGET_TOO_LONG;
  if (i >= end) return INCOMPLETE;
  if (bytes[i] !== SPACE || i === target) return refuse(head, 'invalid target');
  head.targetStart = target;
  head.targetEnd = i;
  if (end - i < 11) return tooLarge(head, start, end);
  if (!isVersion(bytes, i + 1)) return refuse(head, 'invalid HTTP version');
  head.minor = (bytes[i + 8] as number) - 48;
  head.line = start;
  const done = parseRequestFields(bytes, i + 9, end, head);
  if (done <= 0) return done;
  if (head.hostCount !== 1) return refuse(head, 'no host header, or several');
  if (head.chunked && head.minor === 0) return refuse(head, 'transfer-encoding in HTTP/1.0');
  if (head.contentLength >= 0 && head.chunked) return refuse(head, 'both content-length and transfer-encoding');
  if (head.nominated.length > 0 && !dropNominated(bytes, head)) return BAD;
  return checkTarget(bytes, start, head) ? done : BAD;
}

/** Parses a response head: its end, or INCOMPLETE, BAD, TOO_LARGE. */
export function parseResponseHead(bytes: Buffer, start: number, end: number, head: Head): number {
  head.reset();
  head.isRequest = false;
  if (end - start < 13) {
    // Not yet a status line; refuse at once what can't become one, so that a service that speaks something else is named quickly.
    return end > start && bytes[start] !== 72 ? refuse(head, 'invalid status line') : INCOMPLETE;
  }
  if (!isVersion(bytes, start) || bytes[start + 8] !== SPACE) return refuse(head, 'invalid status line');
  head.minor = (bytes[start + 7] as number) - 48;
  let status = 0;
  for (let k = start + 9; k < start + 12; k++) {
    const digit = (bytes[k] as number) - 48;
    if (digit < 0 || digit > 9) return refuse(head, 'invalid status code');
    status = status * 10 + digit;
  }
  if (status < 100) return refuse(head, 'invalid status code');
  head.status = status;
  let i = start + 12;
  if (bytes[i] !== SPACE && bytes[i] !== CR) return refuse(head, 'invalid status line');
  while (i < end && VALUE[bytes[i] as number] === 1) i++;
  head.line = start;
  const done = parseFields(bytes, i, end, head, RESPONSE_NAMES);
  if (done <= 0) return done;
  if (head.contentLength >= 0 && head.chunked) return refuse(head, 'both content-length and transfer-encoding');
  if (head.nominated.length > 0 && !dropNominated(bytes, head)) return BAD;
  if (status < 200 || status === 204) {
    // These have no body (RFC 9112 §6.3), and a visitor that believed a length would read the next response as one.
    if (head.chunked) head.drop(head.codingLine, head.codingLineEnd);
    if (head.contentLength >= 0) head.drop(head.lengthLine, head.lengthLineEnd);
  }
  return done;
}

function parseRequestFields(bytes: Buffer, at: number, end: number, head: Head): number {
  return parseFields(bytes, at, end, head, REQUEST_NAMES);
}

/** Reads the field lines from the end of the first line on; `head.line` is where the head starts. Plain arguments: this is per request. */
function parseFields(bytes: Buffer, at: number, end: number, head: Head, names: Names): number {
  const start = head.line;
  let i = at;
  for (;;) {
    if (i + 2 >= end) return cutShort(bytes, i, end) ? tooLarge(head, start, end) : refuse(head, 'invalid line ending');
    if (bytes[i] !== CR || bytes[i + 1] !== LF) return refuse(head, 'invalid line ending');
    i += 2;
    const line = i;
    if (bytes[line] === CR) {
      if (line + 1 >= end) return tooLarge(head, start, end);
      if (bytes[line + 1] !== LF) return refuse(head, 'bare CR');
      head.lines[head.lineCount] = line;
      return line + 2 - start > head.maxBytes ? TOO_LARGE : line + 2;
    }
    while (i < end && TOKEN[bytes[i] as number] === 1) i++;
    if (i >= end) return tooLarge(head, start, end);
    if (bytes[i] !== COLON || i === line) return refuse(head, 'invalid header name');
    if (head.lineCount === head.maxFields) {
      head.reason = TOO_MANY_FIELDS;
      return TOO_LARGE;
    }
    head.lines[head.lineCount++] = line;
    const nameLength = i - line;
    i++;
    while (i < end && (bytes[i] === SPACE || bytes[i] === TAB)) i++;
    const value = i;
    while (i < end && VALUE[bytes[i] as number] === 1) i++;
    if (i >= end) return tooLarge(head, start, end);
    const field = fieldOf(names, bytes, line, nameLength);
    if (field !== FIELD.none) {
      let valueEnd = i;
      while (valueEnd > value && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB)) valueEnd--;
      head.line = line;
      head.lineEnd = i + 2;
      head.value = value;
      head.valueEnd = valueEnd;
      if (!takeField(bytes, field, head)) return BAD;
    } else if (head.isRequest && isForwardedName(bytes, line, nameLength)) {
      head.drop(line, i + 2);
    }
  }
}

/** Notes what a known field says. False refuses the head. */
function takeField(bytes: Buffer, field: Field, head: Head): boolean {
  const { value, valueEnd } = head;
  switch (field) {
    case FIELD.host:
      head.hostStart = value;
      head.hostEnd = valueEnd;
      head.hostCount++;
      return true;
    case FIELD.contentLength:
      if (head.isRequest) head.drop(head.line, head.lineEnd);
      head.lengthLine = head.line;
      head.lengthLineEnd = head.lineEnd;
      return takeContentLength(bytes, value, valueEnd, head);
    case FIELD.transferEncoding:
      if (head.isRequest) head.drop(head.line, head.lineEnd);
      head.codingLine = head.line;
      head.codingLineEnd = head.lineEnd;
      // Nothing behind it either: llhttp takes `chunked` and a tab for another coding.
      if (head.chunked || !equalsFolded(bytes, value, head.lineEnd - 2, W_CHUNKED))
        return refused(head, 'unsupported transfer-encoding');
      head.chunked = true;
      return true;
    case FIELD.connection:
      head.drop(head.line, head.lineEnd);
      return takeConnection(bytes, value, valueEnd, head);
    case FIELD.upgrade:
      head.drop(head.line, head.lineEnd);
      head.upgradeCount++;
      head.upgradeWebsocket = head.upgradeCount === 1 && equalsFolded(bytes, value, valueEnd, W_WEBSOCKET);
      return true;
    case FIELD.expect:
      if (!equalsFolded(bytes, value, valueEnd, W_CONTINUE)) return refused(head, 'unsupported expect header');
      head.expectContinue = true;
      return true;
    case FIELD.accept:
      head.acceptsHtml = equalsFolded(bytes, value, Math.min(valueEnd, value + W_HTML.length), W_HTML);
      return true;
    case FIELD.cookie:
      head.cookieLines[head.cookieCount++] = head.lineCount - 1;
      return true;
    case FIELD.keepAlive:
      head.drop(head.line, head.lineEnd);
      head.keepAliveSeconds = timeoutIn(bytes, value, valueEnd);
      return true;
    case FIELD.traceparent:
      return takeTrace(value, valueEnd, head);
    case FIELD.forwardedFor:
      head.drop(head.line, head.lineEnd);
      head.forwardedForStart = value;
      head.forwardedForEnd = valueEnd;
      head.forwardedForCount++;
      return true;
    case FIELD.forwardedProto:
      head.drop(head.line, head.lineEnd);
      head.forwardedProtoStart = value;
      head.forwardedProtoEnd = valueEnd;
      return true;
    case FIELD.forwardedHost:
      head.drop(head.line, head.lineEnd);
      head.forwardedHostStart = value;
      head.forwardedHostEnd = valueEnd;
      return true;
    default:
      head.drop(head.line, head.lineEnd);
      return true;
  }
}

/** Target form and host (RFC 9112 §3.2): origin-form, `*` for OPTIONS, or absolute-form that names the same host. */
function checkTarget(bytes: Buffer, start: number, head: Head): boolean {
  const { hostStart, hostEnd, targetStart, targetEnd } = head;
  if (!isHost(bytes, hostStart, hostEnd)) return refused(head, 'invalid host header');
  // In any form: a service that knows it takes all that follows for another protocol.
  if (equalsFolded(bytes, start, head.methodEnd, W_CONNECT)) return refused(head, 'invalid method');
  if (head.methodEnd - start === 7 && bytes.toString('latin1', start, head.methodEnd) === 'CONNECT')
    return refused(head, 'invalid method');
  const first = bytes[targetStart];
  head.pathStart = targetStart;
  if (first === 47) return true;
  if (first === 42 && targetEnd - targetStart === 1) {
    return bytes.toString('latin1', start, head.methodEnd) === 'OPTIONS' ? true : refused(head, 'invalid target');
  }
  const target = bytes.toString('latin1', targetStart, targetEnd);
  const scheme = /^https?:\/\//i.exec(target);
  if (scheme === null) return refused(head, 'invalid target');
  const authority = target.slice(scheme[0].length).split(/[/?]/, 1)[0] ?? '';
  if (authority.toLowerCase() !== bytes.toString('latin1', hostStart, hostEnd).toLowerCase())
    return refused(head, 'the target and the host header differ');
  // Forwarded in origin-form. Without a path the last byte before the query becomes its slash.
  const path = targetStart + scheme[0].length + authority.length;
  const hasPath = path < targetEnd && bytes[path] === 47;
  head.drop(targetStart, hasPath ? path : path - 1);
  head.noPath = !hasPath;
  head.pathStart = path;
  return true;
}

/** `name`, `name:port`, `[address]` or `[address]:port`; a port has digits and nothing behind them. */
function isHost(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > MAX_HOST_BYTES) return false;
  let i = start;
  if (bytes[i] === 91) {
    i++;
    while (i < end && (HEX[bytes[i] as number] !== 255 || bytes[i] === COLON || bytes[i] === 46)) i++;
    if (i === start + 1 || i === end || bytes[i] !== 93) return false;
    i++;
  } else while (i < end && HOST[bytes[i] as number] === 1) i++;
  if (i === start) return false;
  if (i === end) return true;
  const digits = end - i - 1;
  if (bytes[i] !== COLON || digits < 1 || digits > MAX_PORT_DIGITS) return false;
  for (i++; i < end; i++) if ((bytes[i] as number) < 48 || (bytes[i] as number) > 57) return false;
  return true;
}

function isVersion(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === 72 &&
    bytes[at + 1] === 84 &&
    bytes[at + 2] === 84 &&
    bytes[at + 3] === 80 &&
    bytes[at + 4] === 47 &&
    bytes[at + 5] === 49 &&
    bytes[at + 6] === 46 &&
    ((bytes[at + 7] as number) & 0xfe) === 48
  );
}

/** Whether what follows `at` can still become the CR LF and the byte after it that the parser wants to see. */
function cutShort(bytes: Buffer, at: number, end: number): boolean {
  if (at < end && bytes[at] !== CR) return false;
  return !(at + 1 < end && bytes[at + 1] !== LF);
}

function tooLarge(head: Head, start: number, end: number): number {
  return end - start > head.maxBytes ? TOO_LARGE : INCOMPLETE;
}

function refuse(head: Head, reason: string): number {
  head.reason = reason;
  return BAD;
}
