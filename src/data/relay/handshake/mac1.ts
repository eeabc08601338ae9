/**
 * The first MAC of a WireGuard handshake message (WireGuard: Next Generation Kernel Network Tunnel, 5.4.4): BLAKE2s-128 (RFC
 * 7693) keyed with a hash of the receiver's public key, which OpenSSL computes. devices.ts asks it of one key after the other, so
 * the state after the key's block is kept. Reasons and figures: docs/decisions/0013-wireguard-relay.md.
 */
import { createHash } from 'node:crypto';

const BLOCK_BYTES = 64;
const KEY_BYTES = 32;
export const MAC1_BYTES = 16;
/** Digest length, key length, fanout 1, depth 1: the first word of the parameter block. */
const PARAMETERS = MAC1_BYTES | (KEY_BYTES << 8) | (1 << 16) | (1 << 24);
// biome-ignore format: a row per four
const IV = Int32Array.from([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
// biome-ignore format: a row per round
const SIGMA = Uint8Array.from([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
  11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
  7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
  9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
  2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
  12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
  13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
  6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
  10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
]);

/** What mac1 for one receiver begins with. */
export type Mac1State = Int32Array;

/** For the holder of `publicKey`, 32 bytes. Once per device. */
export function mac1State(publicKey: Uint8Array): Mac1State {
  const key = createHash('blake2s256').update('mac1----').update(publicKey).digest();
  const state = Int32Array.from(IV);
  state[0] = (state[0] as number) ^ PARAMETERS;
  compress(state, wordsOf(key, 0, KEY_BYTES), BLOCK_BYTES, false);
  return state;
}

/** A message and its mac1, read once and compared with many receivers' keys. */
export class Mac1Message {
  readonly #blocks: Int32Array[] = [];
  readonly #mac: Int32Array;
  readonly #length: number;
  readonly #h = new Int32Array(8);

  /** The MAC stands at `macAt` and is over `bytes[start, macAt)`, which is not empty. */
  constructor(bytes: Uint8Array, start: number, macAt: number) {
    this.#length = macAt - start;
    for (let at = start; at < macAt; at += BLOCK_BYTES)
      this.#blocks.push(wordsOf(bytes, at, Math.min(macAt, at + BLOCK_BYTES)));
    this.#mac = wordsOf(bytes, macAt, macAt + MAC1_BYTES);
  }

  /** Is it for the key of `state`? No secret is compared: the time that it takes tells nothing. */
  isFor(state: Mac1State): boolean {
    const h = this.#h;
    h.set(state);
    const last = this.#blocks.length - 1;
    for (let i = 0; i <= last; i++) {
      const upTo = BLOCK_BYTES + (i === last ? this.#length : (i + 1) * BLOCK_BYTES);
      compress(h, this.#blocks[i] as Int32Array, upTo, i === last);
    }
    for (let i = 0; i < MAC1_BYTES / 4; i++) if (h[i] !== this.#mac[i]) return false;
    return true;
  }
}

/** `bytes[start, end)`, at most a block, as little-endian words, zeros behind. */
function wordsOf(bytes: Uint8Array, start: number, end: number): Int32Array {
  const words = new Int32Array(BLOCK_BYTES / 4);
  for (let i = start; i < end; i++) {
    const at = i - start;
    words[at >>> 2] = (words[at >>> 2] as number) | ((bytes[i] as number) << (8 * (at & 3)));
  }
  return words;
}

/** The word of the block that position `at` of the rounds calls for. */
function word(m: Int32Array, at: number): number {
  return m[SIGMA[at] as number] as number;
}

// biome-ignore format: a line per half of a mixing
/** One block `m` into `h`. `upTo`: bytes so far with this block, the key's among them; below 2^32. */
function compress(h: Int32Array, m: Int32Array, upTo: number, isLast: boolean): void {

  let v0 = h[0] as number, v1 = h[1] as number, v2 = h[2] as number, v3 = h[3] as number;
  let v4 = h[4] as number, v5 = h[5] as number, v6 = h[6] as number, v7 = h[7] as number;
  let v8 = IV[0] as number, v9 = IV[1] as number, v10 = IV[2] as number, v11 = IV[3] as number;
  let v12 = (IV[4] as number) ^ upTo, v13 = IV[5] as number, v15 = IV[7] as number;
  let v14 = isLast ? ~(IV[6] as number) : (IV[6] as number);
  for (let r = 0; r < SIGMA.length; r += 16) {
    v0 = (v0 + v4 + word(m, r + 0)) | 0; v12 ^= v0; v12 = (v12 >>> 16) | (v12 << 16); v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 12) | (v4 << 20);
    v0 = (v0 + v4 + word(m, r + 1)) | 0; v12 ^= v0; v12 = (v12 >>> 8) | (v12 << 24); v8 = (v8 + v12) | 0; v4 ^= v8; v4 = (v4 >>> 7) | (v4 << 25);
    v1 = (v1 + v5 + word(m, r + 2)) | 0; v13 ^= v1; v13 = (v13 >>> 16) | (v13 << 16); v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 12) | (v5 << 20);
    v1 = (v1 + v5 + word(m, r + 3)) | 0; v13 ^= v1; v13 = (v13 >>> 8) | (v13 << 24); v9 = (v9 + v13) | 0; v5 ^= v9; v5 = (v5 >>> 7) | (v5 << 25);
    v2 = (v2 + v6 + word(m, r + 4)) | 0; v14 ^= v2; v14 = (v14 >>> 16) | (v14 << 16); v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 12) | (v6 << 20);
    v2 = (v2 + v6 + word(m, r + 5)) | 0; v14 ^= v2; v14 = (v14 >>> 8) | (v14 << 24); v10 = (v10 + v14) | 0; v6 ^= v10; v6 = (v6 >>> 7) | (v6 << 25);
    v3 = (v3 + v7 + word(m, r + 6)) | 0; v15 ^= v3; v15 = (v15 >>> 16) | (v15 << 16); v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 12) | (v7 << 20);
    v3 = (v3 + v7 + word(m, r + 7)) | 0; v15 ^= v3; v15 = (v15 >>> 8) | (v15 << 24); v11 = (v11 + v15) | 0; v7 ^= v11; v7 = (v7 >>> 7) | (v7 << 25);
    v0 = (v0 + v5 + word(m, r + 8)) | 0; v15 ^= v0; v15 = (v15 >>> 16) | (v15 << 16); v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 12) | (v5 << 20);
    v0 = (v0 + v5 + word(m, r + 9)) | 0; v15 ^= v0; v15 = (v15 >>> 8) | (v15 << 24); v10 = (v10 + v15) | 0; v5 ^= v10; v5 = (v5 >>> 7) | (v5 << 25);
    v1 = (v1 + v6 + word(m, r + 10)) | 0; v12 ^= v1; v12 = (v12 >>> 16) | (v12 << 16); v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 12) | (v6 << 20);
    v1 = (v1 + v6 + word(m, r + 11)) | 0; v12 ^= v1; v12 = (v12 >>> 8) | (v12 << 24); v11 = (v11 + v12) | 0; v6 ^= v11; v6 = (v6 >>> 7) | (v6 << 25);
    v2 = (v2 + v7 + word(m, r + 12)) | 0; v13 ^= v2; v13 = (v13 >>> 16) | (v13 << 16); v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 12) | (v7 << 20);
    v2 = (v2 + v7 + word(m, r + 13)) | 0; v13 ^= v2; v13 = (v13 >>> 8) | (v13 << 24); v8 = (v8 + v13) | 0; v7 ^= v8; v7 = (v7 >>> 7) | (v7 << 25);
    v3 = (v3 + v4 + word(m, r + 14)) | 0; v14 ^= v3; v14 = (v14 >>> 16) | (v14 << 16); v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 12) | (v4 << 20);
    v3 = (v3 + v4 + word(m, r + 15)) | 0; v14 ^= v3; v14 = (v14 >>> 8) | (v14 << 24); v9 = (v9 + v14) | 0; v4 ^= v9; v4 = (v4 >>> 7) | (v4 << 25);
  }
  h[0] = (h[0] as number) ^ v0 ^ v8;
  h[1] = (h[1] as number) ^ v1 ^ v9;
  h[2] = (h[2] as number) ^ v2 ^ v10;
  h[3] = (h[3] as number) ^ v3 ^ v11;
  h[4] = (h[4] as number) ^ v4 ^ v12;
  h[5] = (h[5] as number) ^ v5 ^ v13;
  h[6] = (h[6] as number) ^ v6 ^ v14;
  h[7] = (h[7] as number) ^ v7 ^ v15;
}
