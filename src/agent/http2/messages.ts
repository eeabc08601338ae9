/** Requests and responses between the HTTP/1.1 form that edge and agent exchange and the fields of HTTP/2 (RFC 9113 §8). */
import { STATUS_CODES } from 'node:http';
import { equalsFolded, word } from '../../http1/fields.ts';
import type { Head } from '../../http1/head.ts';
import { acceptOf } from '../../http1/websocket-accept.ts';

/** Of one connection (RFC 9113 §8.2.2), or said otherwise in HTTP/2. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'host',
  'te',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
const W_HEAD = word('head');
const W_GET = word('get');
const W_OPTIONS = word('options');

/** How a response's body is framed on the way to the edge. */
export type ResponseFraming = 'none' | 'length' | 'chunked';

/** A request as it goes to the service. */
export interface ServiceRequest {
  /** Names and values in turn, pseudo-fields first. */
  readonly fields: string[];
  readonly isHead: boolean;
  readonly isSafe: boolean;
  readonly isChunked: boolean;
  /** 0 also where there is no body. */
  readonly contentLength: number;
  /** Of a WebSocket; null: it asks for none. */
  readonly webSocketKey: string | null;
}

const WEBSOCKET_KEY = 'sec-websocket-key';

/** The request whose head is parsed at `bytes[start, …)`. The edge has written it: what it says of the visitor stays. */
export function serviceRequest(bytes: Buffer, start: number, head: Head, scheme: 'http' | 'https'): ServiceRequest {
  const { methodEnd } = head;
  const isHead = equalsFolded(bytes, start, methodEnd, W_HEAD);
  const own: string[] = [];
  addFields(bytes, head, own);
  const webSocketKey = head.connectionUpgrade && head.upgradeWebsocket ? takeKey(own) : null;
  const fields = [
    ':method',
    webSocketKey === null ? bytes.toString('latin1', start, methodEnd) : 'CONNECT',
    ...(webSocketKey === null ? [] : [':protocol', 'websocket']),
    ':scheme',
    scheme,
    ':authority',
    bytes.toString('latin1', head.hostStart, head.hostEnd),
    ':path',
    bytes.toString('latin1', head.targetStart, head.targetEnd),
    ...own,
  ];
  // Trailers pass whole from here to the visitor; some services of gRPC send none, and refuse the request, without it.
  fields.push('te', 'trailers');
  return {
    fields,
    isHead,
    isSafe: isHead || equalsFolded(bytes, start, methodEnd, W_GET) || equalsFolded(bytes, start, methodEnd, W_OPTIONS),
    isChunked: head.chunked,
    contentLength: Math.max(0, head.contentLength),
    webSocketKey,
  };
}

/** Takes the key of a WebSocket out of `fields`. Null: without one it is no request for a WebSocket. A value may read as the name does. */
function takeKey(fields: string[]): string | null {
  for (let i = 0; i < fields.length; i += 2) if (fields[i] === WEBSOCKET_KEY) return fields.splice(i, 2)[1] as string;
  return null;
}

/** The answer to the upgrade with `key`, once the service has taken it as a stream (RFC 8441 §5). */
export function switchingHead(raw: readonly string[], key: string): Buffer {
  const accept = acceptOf(key);
  const fields = ['upgrade: websocket', 'connection: Upgrade', `sec-websocket-accept: ${accept}`];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.startsWith(':') || LEFT_OUT.has(name) || name === 'content-length') continue;
    fields.push(`${name}: ${raw[i + 1]}`);
  }
  return Buffer.from(`HTTP/1.1 101 Switching Protocols\r\n${fields.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** What the visitor of a WebSocket gets where the service has none. */
export function noWebSockets(): Buffer {
  const text = 'The service behind this site speaks HTTP/2, and does not offer WebSockets there (RFC 8441).\n';
  const fields = ['Content-Type: text/plain; charset=utf-8', `Content-Length: ${text.length}`];
  return Buffer.from(`HTTP/1.1 502 Bad Gateway\r\n${fields.join('\r\n')}\r\n\r\n${text}`, 'latin1');
}

function addFields(bytes: Buffer, head: Head, fields: string[]): void {
  for (let l = 0; l < head.lineCount; l++) {
    const line = bytes.toString('latin1', head.lines[l], (head.lines[l + 1] as number) - 2);
    const [name, value] = split(line);
    if (!LEFT_OUT.has(name)) fields.push(name, value);
  }
}

/** The trailers of a request, of lines with a closing one, as node:http2 takes them. */
export function requestTrailers(lines: Buffer | null): Record<string, string[]> {
  // A visitor may call a field `__proto__`.
  const out = Object.create(null) as Record<string, string[]>;
  for (const line of lines?.toString('latin1').split('\r\n') ?? []) {
    if (line === '') continue;
    const [name, value] = split(line);
    if (!LEFT_OUT.has(name)) (out[name] ??= []).push(value);
  }
  return out;
}

/** Name in lower case, and value without the blanks around it. */
function split(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')];
}

/** The value of `name` in `raw`, names and values in turn. */
export function fieldIn(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if (raw[i] === name) return raw[i + 1];
  return undefined;
}

/**
 * How the body behind this head is framed. By its length where it has one, unless trailers may follow, which HTTP/1.1 knows behind chunks alone: a
 * browser shows the progress of a download by the length.
 */
export function framingOf(raw: readonly string[], isEnd: boolean, isBodiless: boolean): ResponseFraming {
  if (isBodiless) return 'none';
  if (isEnd || fieldIn(raw, 'content-length') === undefined) return isEnd ? 'length' : 'chunked';
  const hasTrailers =
    fieldIn(raw, 'trailer') !== undefined || fieldIn(raw, 'content-type')?.startsWith('application/grpc') === true;
  return hasTrailers ? 'chunked' : 'length';
}

/** The head of a response. `isEnd`: it has no body, and says so. */
export function responseHead(raw: readonly string[], framing: ResponseFraming, isEnd: boolean): Buffer {
  const status = fieldIn(raw, ':status') ?? '';
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  let hasLength = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.startsWith(':') || LEFT_OUT.has(name)) continue;
    if (name === 'content-length') {
      if (framing === 'chunked') continue;
      hasLength = true;
    }
    text += `${name}: ${raw[i + 1]}\r\n`;
  }
  if (framing === 'chunked') text += 'transfer-encoding: chunked\r\n';
  else if (framing === 'length' && isEnd && !hasLength) text += 'content-length: 0\r\n';
  return Buffer.from(`${text}\r\n`, 'latin1');
}

/** A piece of a body as one chunk. */
export function chunkOf(bytes: Buffer): Buffer {
  const size = `${bytes.length.toString(16)}\r\n`;
  const out = Buffer.allocUnsafe(size.length + bytes.length + 2);
  const at = out.write(size, 0, 'latin1');
  bytes.copy(out, at);
  out[out.length - 2] = 13;
  out[out.length - 1] = 10;
  return out;
}

/** The last chunk, with the trailers in `raw`. */
export function lastChunk(raw: readonly string[]): Buffer {
  let text = '0\r\n';
  for (let i = 0; i < raw.length; i += 2) text += `${raw[i]}: ${raw[i + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}
