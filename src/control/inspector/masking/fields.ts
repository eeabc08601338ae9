/** Masks values of `name=value` pairs: queries, and forms in either of their codings. Called by mask-record.ts and body-mask.ts. */
import type { Names } from './rules.ts';
import { MASK } from '../../core/rules/recorded-head.ts';

export interface MaskedFields {
  readonly text: string;
  /** Names of the rules, in lower case. */
  readonly hit: ReadonlySet<string>;
}

/** Of an address, or of a request target. */
export function maskQuery(address: string, names: Names): MaskedFields {
  const start = address.indexOf('?') + 1;
  if (start === 0 || names.size === 0) return { text: address, hit: new Set() };
  const hash = address.indexOf('#', start);
  const end = hash < 0 ? address.length : hash;
  const { text, hit } = maskPairs(address.slice(start, end), names);
  return { text: address.slice(0, start) + text + address.slice(end), hit };
}

/** `application/x-www-form-urlencoded`, as latin1. A semicolon may stand between pairs, or in a value. */
export function maskPairs(pairs: string, names: Names): MaskedFields {
  const hit = new Set<string>();
  const text = pairs
    .split('&')
    .map((pair) => {
      const parts = pair.split(';');
      const first = parts.findIndex((part) => part.includes('=') && names.has(nameOf(part)));
      if (first < 0) return pair;
      const named = parts[first] as string;
      hit.add(nameOf(named));
      return [...parts.slice(0, first), `${named.slice(0, named.indexOf('='))}=${MASK}`].join(';');
    })
    .join('&');
  return { text, hit };
}

/** Of `name=value`, in lower case. */
function nameOf(pair: string): string {
  const raw = Buffer.from(pair.slice(0, pair.indexOf('=')).replaceAll('+', ' '), 'latin1').toString();
  try {
    return decodeURIComponent(raw).toLowerCase();
  } catch {
    return raw.toLowerCase();
  }
}

/** `multipart/form-data`, as latin1. Undefined: the boundary is not known, or it is not in the body. */
export function maskMultipart(body: string, contentType: string, names: Names): MaskedFields | undefined {
  const boundary = /boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(contentType);
  const separator = `--${boundary?.[1] ?? boundary?.[2] ?? ''}`;
  if (boundary === null || !body.includes(separator)) return undefined;
  const hit = new Set<string>();
  const parts = body.split(separator).map((part) => {
    const head = part.indexOf('\r\n\r\n');
    // Cut in its head: its content did not come.
    if (head < 0) return part;
    const name = partName(part.slice(0, head));
    if (!names.has(name)) return part;
    hit.add(name);
    return `${part.slice(0, head + 4)}${MASK}${part.endsWith('\r\n') ? '\r\n' : ''}`;
  });
  return { text: parts.join(separator), hit };
}

/** In lower case. */
function partName(head: string): string {
  const found = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(head);
  const name = found?.[1] ?? found?.[2] ?? '';
  return Buffer.from(name, 'latin1').toString('utf8').toLowerCase();
}
