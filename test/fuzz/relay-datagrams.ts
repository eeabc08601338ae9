/**
 * Datagrams for the relay's fuzzer. Those of 48 bytes and more carry a stamp that says whose they are, so that one that reaches a client
 * else is seen wherever it turns up.
 */
import { dataPacket, initiation, mac1Of, response } from '../../src/data/relay/testing.ts';
import { MAX_DATAGRAM_BYTES } from '../../src/wire/relay-packets.ts';
import type { Random } from './cases.ts';

/** Where the stamp is: behind what the relay looks at. */
const STAMP_AT = 16;
const STAMP_BYTES = 8;
const MIN_STAMPED = 48;

export interface Stamp {
  readonly network: number;
  /** Of a client: its place among all. Of a server: the flow's number. */
  readonly who: number;
}

export type Form = 'data' | 'initiation' | 'response' | 'other';

export interface Made {
  readonly bytes: Buffer;
  readonly form: Form;
}

export const below = (random: Random, limit: number): number => Math.floor(random() * limit);
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

/** `session`: what the message names. `to`: the public key that a handshake message is for. */
export function datagramOf(random: Random, stamp: Stamp, of: { session: number; other: number; to?: Buffer }): Made {
  const chance = random();
  const form: Form = chance < 0.45 ? 'data' : chance < 0.55 ? 'initiation' : chance < 0.7 ? 'response' : 'other';
  const bytes = formed(random, form, of);
  if (bytes.length >= MIN_STAMPED) {
    bytes.writeUInt32BE(stamp.network, STAMP_AT);
    bytes.writeUInt32BE(stamp.who, STAMP_AT + 4);
  }
  if (of.to !== undefined && (form === 'initiation' || form === 'response')) {
    const macAt = bytes.length - 32;
    mac1Of(of.to, bytes.subarray(0, macAt)).copy(bytes, macAt);
  }
  return { bytes, form };
}

function formed(random: Random, form: Form, { session, other }: { session: number; other: number }): Buffer {
  switch (form) {
    case 'data':
      return dataPacket(session, oneOf(random, [32, 32, 48, 96, 1_424, 16_384]));
    case 'initiation':
      return initiation({ sender: session });
    case 'response':
      return response({ sender: session, receiver: other });
    default: {
      const size = oneOf(random, [0, 1, 8, 12, 31, 72, 148, 500, 1_400, 9_000, MAX_DATAGRAM_BYTES]);
      // Nothing of WireGuard begins so, and no packet of an agent.
      return Buffer.alloc(size, 0x41 + below(random, 20));
    }
  }
}

/** Undefined: too short for one. */
export function stampOf(bytes: Buffer, start: number, end: number): Stamp | undefined {
  if (end - start < MIN_STAMPED) return undefined;
  const at = start + STAMP_AT;
  return { network: bytes.readUInt32BE(at), who: bytes.readUInt32BE(at + STAMP_BYTES / 2) };
}

/** The same bytes with something wrong: bits, length, a piece of another packet, another kind. */
export function damaged(random: Random, packet: Buffer, other: Buffer): Buffer {
  const out = Buffer.from(packet);
  switch (below(random, 6)) {
    case 0:
      return out.subarray(0, below(random, out.length + 1));
    case 1:
      return Buffer.concat([out, Buffer.alloc(1 + below(random, 40), below(random, 256))]);
    case 2:
      if (out.length > 0) other.copy(out, below(random, out.length), 0, below(random, other.length + 1));
      return out;
    case 3:
      if (out.length > 0) out[0] = 0xcf + below(random, 10);
      return out;
    default:
      for (let i = 1 + below(random, 4); i > 0 && out.length > 0; i--) {
        const at = random() < 0.5 ? below(random, Math.min(16, out.length)) : below(random, out.length);
        out[at] = (out[at] as number) ^ (1 << below(random, 8));
      }
      return out;
  }
}
