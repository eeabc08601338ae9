/**
 * Writes the head that the service gets, straight into the multiplexer's out-buffer: the visitor's bytes without the spans
 * to leave out, then what only the edge may say about the visitor, then the framing in its one normal form.
 */
import type { MuxStream } from '../../../mux/stream.ts';
import type { Head } from '../../../http1/head.ts';
import type { Draft } from '../../inspect/draft.ts';
import type { Upstream } from './upstream.ts';

const CHUNKED = Buffer.from('Transfer-Encoding: chunked\r\n');
const UPGRADE = Buffer.from('Connection: Upgrade\r\nUpgrade: websocket\r\n');
const SLASH = 47;
const ONE = 49;

export interface HeadParts {
  /** Where the head starts and ends in its buffer. */
  start: number;
  end: number;
  /** `X-Forwarded-…` lines, each with its CR LF. */
  forwarded: Buffer;
  /** Lines that the tunnel's policy sets, each with its CR LF. */
  added: Buffer;
  upgrade: boolean;
  /** Keeps a copy of what is sent, for sending it once more; null: must not be repeated. */
  replay: Upstream | null;
  /** Keeps a copy of what is sent, for the record; null: it is not recorded. */
  draft: Draft | null;
}

/** Sends the head on `stream`. False when the caller must stop until the stream drains. */
export function forwardHead(stream: MuxStream, bytes: Buffer, head: Head, parts: HeadParts): boolean {
  const framing = framingOf(head, parts.upgrade);
  // Without its last CR LF, which comes back at the end.
  const keep = parts.end - 2 - parts.start - dropped(head);
  const length = keep + parts.forwarded.length + parts.added.length + framing.length + 2;
  const at = stream.reserve(length);
  if (at >= 0) {
    const out = stream.target();
    fill(out, at, bytes, head, parts, framing);
    parts.replay?.keepForReplay(out, at, at + length);
    parts.draft?.forwarded(out, at, at + length);
    return stream.settled();
  }
  const whole = Buffer.allocUnsafe(length);
  fill(whole, 0, bytes, head, parts, framing);
  parts.draft?.forwarded(whole, 0, length);
  return stream.write(whole);
}

/** Plain arguments: this runs per request. */
function fill(out: Buffer, at: number, bytes: Buffer, head: Head, parts: HeadParts, framing: Buffer): void {
  let to = at;
  let from = parts.start;
  for (let d = 0; d < head.dropCount; d++) {
    const start = head.drops[2 * d] as number;
    if (start > from) {
      bytes.copy(out, to, from, start);
      to += start - from;
    }
    from = head.drops[2 * d + 1] as number;
  }
  const last = parts.end - 2;
  if (last > from) {
    bytes.copy(out, to, from, last);
    to += last - from;
  }
  if (head.noPath) out[at + head.targetStart - parts.start] = SLASH;
  // An intermediary says its own version (RFC 9112 §2.3); the response is turned back for the visitor.
  if (head.minor === 0) out[at + versionAt(head, parts.start)] = ONE;
  to += parts.forwarded.copy(out, to);
  if (parts.added.length > 0) to += parts.added.copy(out, to);
  if (framing.length > 0) to += framing.copy(out, to);
  out[to] = 13;
  out[to + 1] = 10;
}

const NONE = Buffer.alloc(0);

/** Lines of a forwarded request that frame its body. */
export function framingOf(head: Head, upgrade: boolean): Buffer {
  if (upgrade) return UPGRADE;
  if (head.chunked) return CHUNKED;
  if (head.contentLength >= 0) return Buffer.from(`Content-Length: ${head.contentLength}\r\n`, 'latin1');
  return NONE;
}

function dropped(head: Head): number {
  let bytes = 0;
  for (let d = 0; d < head.dropCount; d++) bytes += (head.drops[2 * d + 1] as number) - (head.drops[2 * d] as number);
  return bytes;
}

/** Offset of the minor version's digit in what is written: the only span left out before it lies in the target. */
function versionAt(head: Head, start: number): number {
  let at = head.targetEnd + 8 - start;
  for (let d = 0; d < head.dropCount; d++) {
    if ((head.drops[2 * d] as number) >= head.targetEnd) break;
    at -= (head.drops[2 * d + 1] as number) - (head.drops[2 * d] as number);
  }
  return at;
}
