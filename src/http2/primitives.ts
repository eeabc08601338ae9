/** What all of HPACK works with: copies, comparisons and integers (RFC 7541 §5.1) on ranges of bytes. */

/** Copied by a loop up to here: a call into C++ costs about as much (16 bytes: 3 ns by hand, 17 by call; 100 bytes: 120 and 16). */
const BY_HAND = 16;
/** Compared by a loop up to here. */
const COMPARED_BY_HAND = 48;

/** Copies `from[start, end)` to `out` at `at`. Answers where it ends there. */
export function copy(from: Buffer, start: number, end: number, out: Buffer, at: number): number {
  let to = at;
  if (end - start > BY_HAND) {
    from.copy(out, to, start, end);
    return to + end - start;
  }
  for (let i = start; i < end; i++) out[to++] = from[i] as number;
  return to;
}

/** Whether `a` at `at` and `b` at `other` go on alike for `length` bytes. */
export function isSame(a: Buffer, at: number, b: Buffer, other: number, length: number): boolean {
  if (length > COMPARED_BY_HAND) return a.compare(b, other, other + length, at, at + length) === 0;
  for (let i = 0; i < length; i++) if (a[at + i] !== b[other + i]) return false;
  return true;
}

/** Writes an integer behind the `flags` of its first byte, of which it has `prefix` bits. Answers where it ends. */
export function writeInteger(out: Buffer, at: number, flags: number, prefix: number, value: number): number {
  let to = at;
  const mask = (1 << prefix) - 1;
  if (value < mask) {
    out[to++] = flags | value;
    return to;
  }
  out[to++] = flags | mask;
  let rest = value - mask;
  for (; rest >= 128; rest >>>= 7) out[to++] = (rest & 127) | 128;
  out[to++] = rest;
  return to;
}
