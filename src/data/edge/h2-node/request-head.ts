/**
 * The head of an HTTP/2 request as one of HTTP/1.1 (RFC 9113 §8.3), for the parser that reads all heads: there is one set of checks.
 * Refused here is what the other form can't say: pseudo-fields that are missing, doubled or in the wrong place, fields of the
 * connection, names in upper case. Strings come from nghttp2, a character per byte.
 */
import { FORBIDDEN_FIELDS } from './fields.ts';

/** Written where a request has a body of unknown length. */
const CHUNKED = 'transfer-encoding: chunked\r\n';

/** What `length` says beside a length. */
export const WROTE = { bad: -1, tooLong: -2 } as const;

export interface WrittenHead {
  /** Bytes written, or one of WROTE: of a bad head `reason` says why it is refused, one that is too long does not fit into the buffer. */
  length: number;
  /** Field lines written: the parser must find as many. */
  lines: number;
  reason: string;
}

/**
 * Writes the head made of `raw` (names and values in turn) into `out`. `isWhole`: no body follows. One result object is reused: `into`.
 */
export function writeRequestHead(raw: readonly string[], isWhole: boolean, out: Buffer, into: WrittenHead): void {
  into.lines = 0;
  into.reason = '';
  const head = new Gathered();
  for (let i = 0; i < raw.length; i += 2) {
    const reason = head.take(raw[i] as string, raw[i + 1] as string);
    if (reason !== '') return refuse(into, reason);
  }
  const reason = head.check(isWhole);
  if (reason !== '') return refuse(into, reason);
  const text = head.text(isWhole);
  into.lines = head.lines;
  into.length = text.length > out.length ? WROTE.tooLong : out.write(text, 'latin1');
}

function refuse(into: WrittenHead, reason: string): void {
  into.length = WROTE.bad;
  into.reason = reason;
}

class Gathered {
  lines = 0;
  #method = '';
  #path = '';
  #scheme = '';
  #authority: string | null = null;
  #host: string | null = null;
  #fields = '';
  #cookie = '';
  #length: string | null = null;

  /** Why the field refuses the head, or ''. */
  take(name: string, value: string): string {
    switch (name) {
      case ':method':
        if (this.#method !== '' || value === '') return ':method';
        this.#method = value;
        return this.#order();
      case ':path':
        if (this.#path !== '' || value === '') return ':path';
        this.#path = value;
        return this.#order();
      case ':scheme':
        if (this.#scheme !== '' || value === '') return ':scheme';
        this.#scheme = value;
        return this.#order();
      case ':authority':
        if (this.#authority !== null) return ':authority';
        this.#authority = value;
        return this.#order();
      case 'host':
        if (this.#host !== null) return 'host';
        this.#host = value;
        return '';
      case 'cookie':
        // Sent in crumbs so that each is compressed alone; a service gets the one line that HTTP/1.1 has (RFC 9113 §8.2.3).
        this.#cookie = this.#cookie === '' ? value : `${this.#cookie}; ${value}`;
        return '';
      case 'content-length':
        if (this.#length !== null) return 'content-length';
        this.#length = value;
        this.#add(name, value);
        return '';
      case 'te':
        return value === 'trailers' ? '' : 'te';
      default:
        return this.#other(name, value);
    }
  }

  check(isWhole: boolean): string {
    if (this.#method === '' || this.#scheme === '' || this.#path === '') return 'a pseudo-field is missing';
    // The parser knows absolute targets too: here the authority has a field of its own.
    if (!this.#path.startsWith('/') && this.#path !== '*') return ':path';
    if (this.#authority !== null && this.#host !== null && !isSame(this.#authority, this.#host)) return 'host';
    if (isWhole && this.#length !== null && !/^0+$/.test(this.#length)) return 'content-length without a body';
    return '';
  }

  text(isWhole: boolean): string {
    const host = this.#authority ?? this.#host;
    let fields = this.#fields;
    if (host !== null) {
      fields = `host: ${host}\r\n${fields}`;
      this.lines++;
    }
    if (this.#cookie !== '') {
      fields += `cookie: ${this.#cookie}\r\n`;
      this.lines++;
    }
    if (!isWhole && this.#length === null) {
      fields += CHUNKED;
      this.lines++;
    }
    return `${this.#method} ${this.#path} HTTP/1.1\r\n${fields}\r\n`;
  }

  #other(name: string, value: string): string {
    // Anywhere in it: the parser would end the name there.
    if (name.includes(':')) return 'an unknown pseudo-field';
    if (FORBIDDEN_FIELDS.has(name)) return `${name} is not allowed in HTTP/2`;
    if (name !== name.toLowerCase()) return 'a field name in upper case';
    this.#add(name, value);
    return '';
  }

  #add(name: string, value: string): void {
    this.#fields += `${name}: ${value}\r\n`;
    this.lines++;
  }

  /** Pseudo-fields come before the others. */
  #order(): string {
    return this.lines > 0 || this.#host !== null || this.#cookie !== '' ? 'a pseudo-header after a regular header' : '';
  }
}

function isSame(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}
