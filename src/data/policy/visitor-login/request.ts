/** What a visitor gate asks of a request: where it was sent, by which kind of client, and how. By which page: origin.ts. */
import { COLON } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { PolicyRequest } from '../step.ts';

const SEC_FETCH_MODE = word('sec-fetch-mode');

/** As browsers keep cookies by it: lower case, without port and without a final dot. */
export function hostOf(request: PolicyRequest): string {
  const host = authorityOf(request).toLowerCase();
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.indexOf(':');
  const name = end <= 0 ? host : host.slice(0, end);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The Host header. */
export function authorityOf({ bytes, head }: PolicyRequest): string {
  return bytes.toString('latin1', head.hostStart, head.hostEnd);
}

export function methodOf({ bytes, start, head }: PolicyRequest): string {
  return bytes.toString('latin1', start, head.methodEnd);
}

/** Path and query, as sent. */
export function targetOf({ bytes, head }: PolicyRequest): string {
  const target = bytes.toString('latin1', head.pathStart, head.targetEnd);
  return target.startsWith('/') ? target : `/${target}`;
}

/** Is the path, without its query, this one? */
export function isAt({ bytes, head }: PolicyRequest, path: Uint8Array): boolean {
  const end = head.pathStart + path.length;
  if (end > head.targetEnd || (end < head.targetEnd && bytes[end] !== 63)) return false;
  for (let i = 0; i < path.length; i++) if (bytes[head.pathStart + i] !== path[i]) return false;
  return true;
}

/** Has a person opened this in a browser? What scripts fetch can't follow a person's sign-in on another host. */
export function isNavigation(request: PolicyRequest): boolean {
  const method = methodOf(request);
  if ((method !== 'GET' && method !== 'HEAD') || !request.head.acceptsHtml || request.head.upgradeCount > 0)
    return false;
  const mode = fieldValue(request, SEC_FETCH_MODE);
  return mode === null || mode.toLowerCase() === 'navigate';
}

/** Browsers say this to https, and to the machine that they run on, whatever a page would like. */
export function isOfBrowser(request: PolicyRequest): boolean {
  return fieldValue(request, SEC_FETCH_MODE) !== null;
}

/** The first value under this name, which is given in lower case. */
export function fieldValue({ bytes, head }: PolicyRequest, name: Uint8Array): string | null {
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    const colon = line + name.length;
    if (bytes[colon] !== COLON || !equalsFolded(bytes, line, colon, name)) continue;
    return bytes.toString('latin1', colon + 1, (head.lines[l + 1] as number) - 2).trim();
  }
  return null;
}
