/**
 * Pseudo-fields, Host and cookies of a request (RFC 9113 §8.2.3, §8.3): kept apart while its block is decoded, because HTTP/1.1 has them in front of the
 * other fields, or in one line behind.
 */
import { KIND, type Kind } from './field-kind.ts';
import { copy, isSame } from './primitives.ts';

const CR = 13;
const LF = 10;
const SPACE = 32;
const STAR = 42;
const SLASH = 47;

const CONNECT = Buffer.from('CONNECT');
const GET = Buffer.from('GET');
const HEAD = Buffer.from('HEAD');
const WEBSOCKET = Buffer.from('websocket');
const VERSION = Buffer.from(' HTTP/1.1\r\n');
const HOST = Buffer.from('host: ');
const COOKIE = Buffer.from('cookie: ');
const CRUMB = Buffer.from('; ');

const { method: METHOD, path: PATH, authority: AUTHORITY, protocol: PROTOCOL, host: HOST_FIELD, scheme: SCHEME } = KIND;
/** Kinds from 1 on are set aside, up to this one. */
const LAST = HOST_FIELD;

export class SetAside {
  /** By kind, where its value lies. A start of -1: there is none. */
  readonly #starts = new Int32Array(LAST + 1);
  readonly #ends = new Int32Array(LAST + 1);
  readonly #values: Buffer;
  #valuesEnd = 0;
  /** Crumbs, joined. */
  readonly #cookie: Buffer;
  #cookieEnd = 0;

  /** `maxBytes`: of all that is put here, lines counted whole. */
  constructor(maxBytes: number) {
    this.#values = Buffer.allocUnsafeSlow(maxBytes);
    this.#cookie = Buffer.allocUnsafeSlow(maxBytes);
  }

  get isHead(): boolean {
    return this.#is(METHOD, HEAD);
  }

  get isConnect(): boolean {
    return this.#is(METHOD, CONNECT);
  }

  get isWebsocket(): boolean {
    return this.#is(PROTOCOL, WEBSOCKET);
  }

  /** There is a Host, or what becomes one. */
  get hasHost(): boolean {
    return this.has(AUTHORITY) || this.has(HOST_FIELD);
  }

  get hasCookie(): boolean {
    return this.#cookieEnd > 0;
  }

  reset(): void {
    this.#valuesEnd = this.#cookieEnd = 0;
    for (let kind = 1; kind <= LAST; kind++) this.#starts[kind] = -1;
  }

  has(kind: Kind): boolean {
    return (this.#starts[kind] as number) >= 0;
  }

  put(kind: Kind, from: Buffer, start: number, end: number): void {
    this.#starts[kind] = this.#valuesEnd;
    this.#ends[kind] = this.#valuesEnd = copy(from, start, end, this.#values, this.#valuesEnd);
  }

  addCookie(from: Buffer, start: number, end: number): void {
    if (start === end) return;
    if (this.#cookieEnd > 0) this.#cookieEnd = copy(CRUMB, 0, CRUMB.length, this.#cookie, this.#cookieEnd);
    this.#cookieEnd = copy(from, start, end, this.#cookie, this.#cookieEnd);
  }

  /** Why these refuse the head, or ''. */
  check(): string {
    if (!this.has(METHOD) || !this.has(SCHEME) || !this.has(PATH)) return 'a pseudo-field is missing';
    // The parser knows absolute targets too: here the authority has a field of its own. `*` is for OPTIONS, as it knows.
    const first = this.#values[this.#starts[PATH] as number];
    if (first !== SLASH && (first !== STAR || this.#lengthOf(PATH) !== 1)) return ':path';
    return this.has(AUTHORITY) && this.has(HOST_FIELD) && !this.#isOneHost() ? 'host' : '';
  }

  /** Writes request line and Host so that they end at `end`. Answers where they begin. `isGet`: for a CONNECT that becomes one. */
  writeFront(bytes: Buffer, end: number, isGet: boolean): number {
    const host = this.has(AUTHORITY) ? AUTHORITY : HOST_FIELD;
    const hasHost = this.has(host);
    let length = (isGet ? GET.length : this.#lengthOf(METHOD)) + 1 + this.#lengthOf(PATH) + VERSION.length;
    if (hasHost) length += HOST.length + this.#lengthOf(host) + 2;
    const start = end - length;
    let at = isGet ? copy(GET, 0, GET.length, bytes, start) : this.#write(METHOD, bytes, start);
    bytes[at++] = SPACE;
    at = this.#write(PATH, bytes, at);
    at = copy(VERSION, 0, VERSION.length, bytes, at);
    if (!hasHost) return start;
    at = copy(HOST, 0, HOST.length, bytes, at);
    at = this.#write(host, bytes, at);
    bytes[at] = CR;
    bytes[at + 1] = LF;
    return start;
  }

  /** Writes the Cookie line. Answers where it ends. */
  writeCookie(bytes: Buffer, start: number): number {
    let at = copy(COOKIE, 0, COOKIE.length, bytes, start);
    at = copy(this.#cookie, 0, this.#cookieEnd, bytes, at);
    bytes[at] = CR;
    bytes[at + 1] = LF;
    return at + 2;
  }

  #write(kind: Kind, out: Buffer, at: number): number {
    return copy(this.#values, this.#starts[kind] as number, this.#ends[kind] as number, out, at);
  }

  #lengthOf(kind: Kind): number {
    return (this.#ends[kind] as number) - (this.#starts[kind] as number);
  }

  #is(kind: Kind, text: Buffer): boolean {
    if (!this.has(kind) || this.#lengthOf(kind) !== text.length) return false;
    return isSame(this.#values, this.#starts[kind] as number, text, 0, text.length);
  }

  #isOneHost(): boolean {
    const start = this.#starts[AUTHORITY] as number;
    const other = this.#starts[HOST_FIELD] as number;
    const length = this.#lengthOf(AUTHORITY);
    if (length !== this.#lengthOf(HOST_FIELD)) return false;
    for (let i = 0; i < length; i++) {
      if (lower(this.#values[start + i] as number) !== lower(this.#values[other + i] as number)) return false;
    }
    return true;
  }
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}
