/**
 * Pseudo-fields, Host and cookies of a request (RFC 9113 §8.2.3, §8.3): kept apart while its block is decoded, because HTTP/1.1 has them in front of the
 * other fields, or in one line behind.
 */
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

/** Where a value lies. A start of -1: there is none. */
export interface Aside {
  start: number;
  end: number;
}

export class SetAside {
  readonly method: Aside = { start: -1, end: 0 };
  readonly path: Aside = { start: -1, end: 0 };
  readonly scheme: Aside = { start: -1, end: 0 };
  readonly authority: Aside = { start: -1, end: 0 };
  readonly protocol: Aside = { start: -1, end: 0 };
  readonly host: Aside = { start: -1, end: 0 };
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
    return this.#is(this.method, HEAD);
  }

  get isConnect(): boolean {
    return this.#is(this.method, CONNECT);
  }

  get isWebsocket(): boolean {
    return this.#is(this.protocol, WEBSOCKET);
  }

  /** There is a Host, or what becomes one. */
  get hasHost(): boolean {
    return this.authority.start >= 0 || this.host.start >= 0;
  }

  get hasCookie(): boolean {
    return this.#cookieEnd > 0;
  }

  reset(): void {
    this.#valuesEnd = this.#cookieEnd = 0;
    this.method.start = this.path.start = this.scheme.start = -1;
    this.authority.start = this.protocol.start = this.host.start = -1;
  }

  put(field: Aside, from: Buffer, start: number, end: number): void {
    field.start = this.#valuesEnd;
    field.end = this.#valuesEnd = copy(from, start, end, this.#values, this.#valuesEnd);
  }

  addCookie(from: Buffer, start: number, end: number): void {
    if (start === end) return;
    if (this.#cookieEnd > 0) this.#cookieEnd = copy(CRUMB, 0, CRUMB.length, this.#cookie, this.#cookieEnd);
    this.#cookieEnd = copy(from, start, end, this.#cookie, this.#cookieEnd);
  }

  /** Why these refuse the head, or ''. */
  check(): string {
    if (this.method.start < 0 || this.scheme.start < 0 || this.path.start < 0) return 'a pseudo-field is missing';
    // The parser knows absolute targets too: here the authority has a field of its own. `*` is for OPTIONS, as it knows.
    const first = this.#values[this.path.start];
    if (first !== SLASH && (first !== STAR || this.path.end - this.path.start !== 1)) return ':path';
    return this.authority.start >= 0 && this.host.start >= 0 && !this.#isOneHost() ? 'host' : '';
  }

  /** Writes request line and Host so that they end at `end`. Answers where they begin. `isGet`: for a CONNECT that becomes one. */
  writeFront(bytes: Buffer, end: number, isGet: boolean): number {
    const { method, path } = this;
    const values = this.#values;
    const host = this.authority.start >= 0 ? this.authority : this.host;
    const methodLength = isGet ? GET.length : method.end - method.start;
    let length = methodLength + 1 + path.end - path.start + VERSION.length;
    if (host.start >= 0) length += HOST.length + host.end - host.start + 2;
    const start = end - length;
    let at = isGet ? copy(GET, 0, GET.length, bytes, start) : copy(values, method.start, method.end, bytes, start);
    bytes[at++] = SPACE;
    at = copy(values, path.start, path.end, bytes, at);
    at = copy(VERSION, 0, VERSION.length, bytes, at);
    if (host.start < 0) return start;
    at = copy(HOST, 0, HOST.length, bytes, at);
    at = copy(values, host.start, host.end, bytes, at);
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

  #is(field: Aside, text: Buffer): boolean {
    const length = field.start < 0 ? 0 : field.end - field.start;
    return length === text.length && isSame(this.#values, field.start, text, 0, length);
  }

  #isOneHost(): boolean {
    const { start, end } = this.authority;
    const other = this.host.start;
    const length = end - start;
    if (length !== this.host.end - other) return false;
    for (let i = 0; i < length; i++) {
      if (lower(this.#values[start + i] as number) !== lower(this.#values[other + i] as number)) return false;
    }
    return true;
  }
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}
