/**
 * Messages with the form of WireGuard's, for tests of what a relay does with them: what a relay does not look at is random. The MAC is computed by
 * the text of RFC 7693, apart from the product's own code.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { RelayDevice } from '../../plane/relays.ts';

/** A device with a key of its own. */
export function deviceOf(deviceId: string, expiresAt: number | null = null): RelayDevice {
  return {
    deviceId,
    publicKey: createHash('sha256').update(deviceId).digest('base64'),
    allowedIps: ['10.80.0.2/32'],
    expiresAt,
  };
}

export interface Sessions {
  /** The number that who sends it gives the session. */
  readonly sender: number;
  readonly receiver?: number;
  /** The receiver; without it the MAC is random. */
  readonly to?: RelayDevice;
}

/** Type 1: the first message of a handshake. */
export function initiation({ sender, to }: Sessions): Buffer {
  const bytes = messageOf(1, 148);
  bytes.writeUInt32LE(sender, 4);
  return signed(bytes, to);
}

/** Type 2: the answer. */
export function response({ sender, receiver = 0, to }: Sessions): Buffer {
  const bytes = messageOf(2, 92);
  bytes.writeUInt32LE(sender, 4);
  bytes.writeUInt32LE(receiver, 8);
  return signed(bytes, to);
}

/** Type 4: a data packet of `size` bytes, 32 and a multiple of 16. */
export function dataPacket(receiver: number, size = 32): Buffer {
  const bytes = messageOf(4, size);
  bytes.writeUInt32LE(receiver, 4);
  return bytes;
}

function messageOf(type: number, size: number): Buffer {
  const bytes = randomBytes(size);
  bytes.writeUInt32LE(type, 0);
  return bytes;
}

function signed(bytes: Buffer, to: RelayDevice | undefined): Buffer {
  if (to === undefined) return bytes;
  const macAt = bytes.length - 32;
  mac1Of(Buffer.from(to.publicKey, 'base64'), bytes.subarray(0, macAt)).copy(bytes, macAt);
  return bytes;
}

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const SIGMA = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
];
const QUARTERS = ['048c', '159d', '26ae', '37bf', '05af', '16bc', '278d', '349e'];

/** mac1 over `message` for the holder of `publicKey`. */
export function mac1Of(publicKey: Uint8Array, message: Uint8Array): Buffer {
  const key = createHash('blake2s256').update('mac1----').update(publicKey).digest();
  const input = Buffer.concat([key, Buffer.alloc(32), message]);
  const h = Uint32Array.from(IV);
  h[0] = (h[0] as number) ^ 0x0101_2010;
  for (let at = 0; at < input.length; at += 64) {
    const block = Buffer.alloc(64);
    input.copy(block, 0, at, at + 64);
    mix(h, block, Math.min(input.length, at + 64), at + 64 >= input.length);
  }
  return Buffer.from(h.buffer, 0, 16);
}

function mix(h: Uint32Array, block: Buffer, count: number, isLast: boolean): void {
  const v = Uint32Array.from([...h, ...IV]);
  v[12] = (v[12] as number) ^ count;
  if (isLast) v[14] = ~(v[14] as number);
  const turn = (to: number, from: number, bits: number): void => {
    const value = ((v[to] as number) ^ (v[from] as number)) >>> 0;
    v[to] = (value >>> bits) | (value << (32 - bits));
  };
  const add = (to: number, from: number, more: number): void => {
    v[to] = (v[to] as number) + (v[from] as number) + more;
  };
  for (const order of SIGMA) {
    for (const [i, quarter] of QUARTERS.entries()) {
      const [a, b, c, d] = quarter.split('').map((digit) => Number.parseInt(digit, 16)) as [
        number,
        number,
        number,
        number,
      ];
      const wordAt = (at: number): number => block.readUInt32LE(4 * Number.parseInt(order.charAt(2 * i + at), 16));
      add(a, b, wordAt(0));
      turn(d, a, 16);
      add(c, d, 0);
      turn(b, c, 12);
      add(a, b, wordAt(1));
      turn(d, a, 8);
      add(c, d, 0);
      turn(b, c, 7);
    }
  }
  for (let i = 0; i < 8; i++) h[i] = (h[i] as number) ^ (v[i] as number) ^ (v[i + 8] as number);
}
