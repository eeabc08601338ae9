/** Whether a request gets a file, a part of it, or only the message that it has it already: RFC 9110 §13 and §14. */
import type { IncomingHttpHeaders } from 'node:http';

/** What identifies a version of a file. */
export interface Version {
  /** With its quotes; strong. */
  readonly etag: string;
  /** Whole seconds. */
  readonly modifiedMs: number;
  readonly size: number;
}

export type Outcome =
  | { readonly status: 200 | 304 | 412 | 416 }
  /** `end` is the last byte. */
  | { readonly status: 206; readonly start: number; readonly end: number };

export interface Asked {
  readonly headers: IncomingHttpHeaders;
  /** Ranges are for GET alone. */
  readonly isGet: boolean;
  readonly nowMs: number;
}

export function outcomeOf({ headers, isGet, nowMs }: Asked, version: Version): Outcome {
  const { 'if-match': match, 'if-unmodified-since': unmodified } = headers;
  const { 'if-none-match': noneMatch, 'if-modified-since': modified, range } = headers;
  if (match !== undefined ? !lists(match, version.etag, 'strong') : isAfter(version, unmodified))
    return { status: 412 };
  if (noneMatch !== undefined) {
    if (lists(noneMatch, version.etag, 'weak')) return { status: 304 };
  } else if (modified !== undefined && dateOf(modified) !== undefined && !isAfter(version, modified)) {
    return { status: 304 };
  }
  if (range === undefined || !isGet || !mayBePart(headers['if-range'], version, nowMs)) return { status: 200 };
  return rangeOf(range, version.size);
}

/** One range; a list of several, and what is none, means the whole file. */
function rangeOf(text: string, size: number): Outcome {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(text);
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return { status: 200 };
  if (first === '') {
    const start = Math.max(0, size - Number(last));
    return start === size ? { status: 416 } : { status: 206, start, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { status: 200 };
  return start >= size ? { status: 416 } : { status: 206, start, end };
}

/** `If-Range`: a part of another version would be put together with what the client has. */
function mayBePart(text: string | string[] | undefined, { etag, modifiedMs }: Version, nowMs: number): boolean {
  if (text === undefined) return true;
  if (typeof text !== 'string') return false;
  if (text.includes('"')) return text.trim() === etag;
  // Within its second a file may have had two versions.
  return dateOf(text) === modifiedMs && nowMs - modifiedMs >= 2_000;
}

/** Whether a list of entity tags has this one, or is `*`. */
function lists(text: string, etag: string, how: 'strong' | 'weak'): boolean {
  if (text.trim() === '*') return true;
  return [...text.matchAll(/(W\/)?("[^"]*")/g)].some(
    ([, weak, tag]) => tag === etag && (how === 'weak' || weak === undefined),
  );
}

function isAfter({ modifiedMs }: Version, text: string | undefined): boolean {
  const date = text === undefined ? undefined : dateOf(text);
  return date !== undefined && modifiedMs > date;
}

/** Undefined: no date of HTTP. */
function dateOf(text: string): number | undefined {
  const ms = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text.trim())
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
