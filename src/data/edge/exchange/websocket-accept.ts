/** The proof that a service has read a WebSocket's key (RFC 6455 §4.2.2). Visitors of HTTP/2 send no key: the edge has one for them, and checks the proof. */
import type { Head } from '../../../http1/head.ts';

const ACCEPT = /^sec-websocket-accept:[\t ]*(.*?)[\t ]*$/i;

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
