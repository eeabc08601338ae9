/**
 * Heads as records keep them: copies, for the buffers that heads are read from and written to are used again at once. A request that is not
 * passed on keeps the visitor's head, without what says who the visitor is: it was meant for the edge's own gates, too.
 */
import { COLON, QUESTION } from '../../http1/chars.ts';
import type { Head } from '../../http1/head.ts';
import { TICKET_PATH } from '../../plane/visitor-tokens.ts';
import { HeaderRule } from '../policy/header-rule.ts';

/** What the edge knows of a request when its tunnel is known. */
export interface AskedHead {
  readonly bytes: Buffer;
  readonly start: number;
  readonly head: Head;
  readonly remoteIp: string;
  readonly isHttps: boolean;
  readonly isHttp2: boolean;
}

const SECRET = new HeaderRule([], ['authorization', 'proxy-authorization', 'cookie']);

/** An own copy of `bytes[start, end)`. */
export function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  // Not of Node's pool: what is small would keep 8 KB of it.
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/** The target of a request, or the first `most` bytes of it. Without the ticket of a visitor's login. */
export function targetOf(bytes: Buffer, head: Head, most = Infinity): string {
  const { targetStart } = head;
  return bytes.toString('latin1', targetStart, Math.min(targetEnd(bytes, head), targetStart + most));
}

/** The head of a request that was not passed on, with empty values where they say who the visitor is. */
export function unforwardedHead(bytes: Buffer, start: number, end: number, head: Head): Buffer {
  const out = Buffer.allocUnsafe(end - start);
  let to = bytes.copy(out, 0, start, targetEnd(bytes, head));
  let from = head.targetEnd;
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    if (!SECRET.isNamed(bytes, line)) continue;
    const value = bytes.indexOf(COLON, line) + 1;
    to += bytes.copy(out, to, from, value);
    from = (head.lines[l + 1] as number) - 2;
  }
  to += bytes.copy(out, to, from, end);
  return copyOf(out, 0, to);
}

function targetEnd(bytes: Buffer, head: Head): number {
  const { pathStart, targetEnd: end } = head;
  const path = pathStart + TICKET_PATH.length;
  const isTicket =
    path < end && bytes[path] === QUESTION && bytes.toString('latin1', pathStart, path).toLowerCase() === TICKET_PATH;
  return isTicket ? path : end;
}
