/**
 * As exchange/forward.ts, for a tunnel whose service gets another host or path: the request line and `Host` are written anew, and the URLs of
 * `Origin`, `Referer` and WebDAV's `Destination` where they name the public host. Everything is written once, straight into the out-buffer.
 */
import { COLON } from '../../../http1/chars.ts';
import { equalsFolded, word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';
import type { MuxStream } from '../../../mux/stream.ts';
import { isDropped } from '../../policy/header-rule.ts';
import { framingOf, type HeadParts } from '../exchange/forward.ts';
import { MAX_VALUE_BYTES, type PublicOrigin, type Rewrite } from './rewrite.ts';

const VERSION = Buffer.from(' HTTP/1.1\r\n');
const NOTHING = Buffer.alloc(0);
const SLASH = 47;
const STAR = 42;

interface UrlField {
  readonly name: string;
  readonly word: Uint8Array;
  readonly hasPath: boolean;
  readonly isPlace: boolean;
}

const URL_FIELDS: readonly UrlField[] = [
  { name: 'Origin', word: word('origin'), hasPath: false, isPlace: false },
  { name: 'Referer', word: word('referer'), hasPath: true, isPlace: false },
  { name: 'Destination', word: word('destination'), hasPath: true, isPlace: true },
];

/** How the request at hand is rewritten. */
interface Rewriting {
  readonly rewrite: Rewrite | null;
  readonly origin: PublicOrigin | null;
}

/** Sends the head on `stream`. False when the caller must stop until the stream drains. */
export function forwardRewritten(
  stream: MuxStream,
  bytes: Buffer,
  head: Head,
  parts: HeadParts,
  exchange: Rewriting,
): boolean {
  const rewrite = exchange.rewrite as Rewrite;
  const changed = changedLines(bytes, head, rewrite, exchange.origin as PublicOrigin);
  const framing = framingOf(head, parts.upgrade);
  const length = lengthOf(bytes, head, parts, rewrite) + changed.length + framing.length;
  const at = stream.reserve(length);
  if (at >= 0) {
    const out = stream.target();
    finish(out, fill(out, at, bytes, head, parts, rewrite), changed, framing);
    parts.replay?.keepForReplay(out, at, at + length);
    parts.draft?.forwarded(out, at, at + length);
    return stream.settled();
  }
  const whole = Buffer.allocUnsafe(length);
  finish(whole, fill(whole, 0, bytes, head, parts, rewrite), changed, framing);
  parts.draft?.forwarded(whole, 0, length);
  return stream.write(whole);
}

/** `OPTIONS *` asks about the server as a whole, which has no path. */
function prefixOf(bytes: Buffer, head: Head, rewrite: Rewrite): Buffer {
  return bytes[head.pathStart] === STAR ? NOTHING : rewrite.prefix;
}

/** All but the changed lines and the framing, with the last CR LF. */
function lengthOf(bytes: Buffer, head: Head, parts: HeadParts, rewrite: Rewrite): number {
  const line = head.methodEnd + 1 - parts.start + prefixOf(bytes, head, rewrite).length + (head.noPath ? 1 : 0);
  const target = keptLength(head, head.pathStart, head.targetEnd);
  const fields = keptLength(head, head.lines[0] as number, parts.end - 2);
  const ours = VERSION.length + rewrite.hostLine.length + parts.forwarded.length + parts.added.length + 2;
  return line + target + fields + ours;
}

/** Answers where it ends. Plain arguments: this runs per request. */
function fill(out: Buffer, at: number, bytes: Buffer, head: Head, parts: HeadParts, rewrite: Rewrite): number {
  let to = at;
  to += bytes.copy(out, to, parts.start, head.methodEnd + 1);
  to += prefixOf(bytes, head, rewrite).copy(out, to);
  if (head.noPath) out[to++] = SLASH;
  to = copyKept(bytes, head.pathStart, head.targetEnd, head, out, to);
  to += VERSION.copy(out, to);
  to += rewrite.hostLine.copy(out, to);
  to = copyKept(bytes, head.lines[0] as number, parts.end - 2, head, out, to);
  to += parts.forwarded.copy(out, to);
  return to + parts.added.copy(out, to);
}

function finish(out: Buffer, at: number, changed: Buffer, framing: Buffer): void {
  let to = at + changed.copy(out, at);
  to += framing.copy(out, to);
  out[to] = 13;
  out[to + 1] = 10;
}

/** Marks the lines that are written anew as left out; those that hold a URL come back. */
function changedLines(bytes: Buffer, head: Head, rewrite: Rewrite, origin: PublicOrigin): Buffer {
  let lines = '';
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    const next = head.lines[l + 1] as number;
    if (head.hostStart > line && head.hostStart < next) {
      if (rewrite.hostLine.length > 0) head.drop(line, next);
      continue;
    }
    const field = urlFieldAt(bytes, line);
    if (field === null || isDropped(head, line)) continue;
    const isLong = next - line > MAX_VALUE_BYTES;
    const value = isLong ? '' : bytes.toString('latin1', line + field.word.length + 1, next - 2).trim();
    const url = isLong ? null : rewrite.toService(value, origin, field.hasPath);
    // Where a file goes to: one that is not below the prefix leads out of what is published.
    const isOutside = url === null && field.isPlace && rewrite.prefixText !== '';
    if (url === null && !isOutside) continue;
    head.drop(line, next);
    if (url !== null) lines += `${field.name}: ${url}\r\n`;
  }
  return lines === '' ? NOTHING : Buffer.from(lines, 'latin1');
}

function urlFieldAt(bytes: Buffer, line: number): UrlField | null {
  for (const field of URL_FIELDS) {
    const end = line + field.word.length;
    if (bytes[end] === COLON && equalsFolded(bytes, line, end, field.word)) return field;
  }
  return null;
}

/** Bytes of `[start, end)` that no dropped span covers. */
function keptLength(head: Head, start: number, end: number): number {
  let length = end - start;
  for (let d = 0; d < head.dropCount; d++) {
    const from = Math.max(start, head.drops[2 * d] as number);
    const to = Math.min(end, head.drops[2 * d + 1] as number);
    if (to > from) length -= to - from;
  }
  return length;
}

/** Copies them to `out` at `at`; answers where they end. */
function copyKept(bytes: Buffer, start: number, end: number, head: Head, out: Buffer, at: number): number {
  let to = at;
  let from = start;
  for (let d = 0; d < head.dropCount && from < end; d++) {
    const drop = Math.min(end, head.drops[2 * d] as number);
    if (drop > from) to += bytes.copy(out, to, from, drop);
    from = Math.max(from, head.drops[2 * d + 1] as number);
  }
  return end > from ? to + bytes.copy(out, to, from, end) : to;
}
