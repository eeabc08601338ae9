/** The proof that a service has read a WebSocket's key (RFC 6455 §4.2.2). HTTP/2 has no such key: the edge, or the agent, stands in for that side. */
import { createHash } from 'node:crypto';
import type { Head } from './head.ts';

/** RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const ACCEPT = /^sec-websocket-accept:[\t ]*(.*?)[\t ]*$/i;

/** What a service answers to `key`. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64');
}

/** Whether the parsed response head says `accept`, and nothing else besides. */
export function saysAccept(bytes: Buffer, { lines, lineCount }: Head, accept: string): boolean {
  let said = 0;
  for (let l = 0; l < lineCount; l++) {
    const match = ACCEPT.exec(bytes.toString('latin1', lines[l], (lines[l + 1] as number) - 2));
    if (match === null) continue;
    if (match[1] !== accept) return false;
    said++;
  }
  return said === 1;
}
