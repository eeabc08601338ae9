/**
 * The three words that this page and a terminal show for one device code, computed here: nothing goes to the server, and a stranger's page could
 * not borrow them. The contract is in wire/check-phrase.ts. Browsers have a SHA-256 of their own on https and on this machine only, and servers in a
 * local network have neither; a code is 43 signs, which is one block of the hash.
 */
import { DEVICE_CODE, WORDS } from '../../../wire/check-words.ts';

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const K = Uint32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
);
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19] as const;

/** The phrase of a device code: `acorn-lemon-piano`; undefined for what is none. */
export function checkPhrase(deviceCode: string): string | undefined {
  if (!DEVICE_CODE.test(deviceCode)) return undefined;
  const first = firstWordOfHash(new TextEncoder().encode(deviceCode));
  return [24, 16, 8].map((shift) => WORDS[(first >>> shift) & 0xff]).join('-');
}

/** The first 32 bits of the SHA-256 of up to 55 bytes. */
function firstWordOfHash(text: Uint8Array): number {
  const block = new DataView(new ArrayBuffer(64));
  for (const [at, byte] of text.entries()) block.setUint8(at, byte);
  block.setUint8(text.length, 0x80);
  block.setUint32(60, text.length * 8);
  const w = new Uint32Array(64);
  const word = (at: number): number => w[at] ?? 0;
  for (let i = 0; i < 16; i++) w[i] = block.getUint32(i * 4);
  for (let i = 16; i < 64; i++) {
    const [early, late] = [word(i - 15), word(i - 2)];
    const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    w[i] = word(i - 16) + s0 + word(i - 7) + s1;
  }
  let [a, b, c, d, e, f, g, h]: [number, number, number, number, number, number, number, number] = [...START];
  for (let i = 0; i < 64; i++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] ?? 0) + word(i)) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  return (a + START[0]) >>> 0;
}

/** Rotates 32 bits to the right. */
function turn(bits: number, by: number): number {
  return (bits >>> by) | (bits << (32 - by));
}
