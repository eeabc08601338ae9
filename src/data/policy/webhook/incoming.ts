/** Head of a request as src/signatures reads it: names in lower case, repeated fields joined, and the URL that the visitor used. */
import type { Incoming } from '../../../signatures/scheme.ts';
import type { PolicyRequest } from '../step.ts';

const COLON = 58;

/** Copies what it needs: the bytes are others' later. */
export function incomingOf({ bytes, head, isHttps }: PolicyRequest): Omit<Incoming, 'body'> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let at = 0; at < head.lineCount; at++) {
    const start = head.lines[at] as number;
    const colon = bytes.indexOf(COLON, start);
    const name = bytes.toString('latin1', start, colon).toLowerCase();
    const value = bytes.toString('latin1', colon + 1, head.lines[at + 1]).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const host = bytes.toString('latin1', head.hostStart, head.hostEnd);
  const path = bytes.toString('latin1', head.pathStart, head.targetEnd);
  const slash = path.startsWith('/') ? '' : '/';
  return { headers, url: `${isHttps ? 'https' : 'http'}://${host}${slash}${path}` };
}
