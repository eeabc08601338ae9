/**
 * The datagrams that agent and server exchange for a private network: UDP from the agent's socket to the network's public port and back.
 * Both planes' relays use it; `RELAY_KEY_BYTES` and the token come with `attached` over the agent's session, which is TLS.
 *
 *   0      1                  8
 *   +------+------------------+---------------------------------------------------------------
 *   | kind | token, 7 bytes   | by kind; all numbers big-endian
 *   +------+------------------+---------------------------------------------------------------
 *   data        flow uint32, then one datagram to the end
 *   batch       records to the end: flow uint32, length uint16, one datagram
 *   hello       nonce 16, MAC 16, zeros to 72 bytes     agent → server: this is my address
 *   challenge   the agent's nonce 16, nonce 16, MAC 16  server → agent: prove that you hear me (56 bytes: never more than it came with)
 *   proof       the server's nonce 16, MAC 16           agent → server
 *   ready       the server's nonce 16, MAC 16           server → agent: datagrams go to that address from now on
 *   ping        number uint32, MAC 16                   agent → server, each RELAY_PING_MS, also when there is traffic
 *   pong        number uint32, MAC 16                   server → agent
 *
 * A MAC is the first 16 bytes of HMAC-SHA-256 with the key of the attachment over all that stands before it. Data carries the token alone: 56
 * random bits keep out a peer that is not on the path. A flow is a number from 1 that the server gives a client's address and port; flow 0 is
 * the agent's word to the server: a record of it with the one byte STREAM_PLEASE says that UDP was lost. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const RELAY_KIND = {
  data: 0xd0,
  batch: 0xd1,
  hello: 0xd2,
  challenge: 0xd3,
  proof: 0xd4,
  ready: 0xd5,
  ping: 0xd6,
  pong: 0xd7,
} as const;

export const RELAY_TOKEN_BYTES = 7;
export const RELAY_KEY_BYTES = 32;
/** No client's: what agent and server say to each other, in records on the stream. */
export const WORDS_FLOW = 0;
/** The one byte of the agent's word that UDP was lost. */
export const STREAM_PLEASE = 0;
/** Kind and token. */
export const RELAY_HEAD_BYTES = 1 + RELAY_TOKEN_BYTES;
/** Before the datagram in `data`. 1,452 bytes of WireGuard at its usual MTU make 1,492 with this, UDP and IPv4: no fragment, also over PPPoE. */
export const DATA_HEAD_BYTES = RELAY_HEAD_BYTES + 4;
/** Before each datagram in `batch`, and on the stream. */
export const RECORD_HEAD_BYTES = 6;
export const NONCE_BYTES = 16;
export const MAC_BYTES = 16;
/** Small datagrams of one turn go out together up to this: what every path carries in one piece (1,280 of IPv6, less 48). */
export const BATCH_BYTES = 1_232;
/** Longest datagram that passes: the longest of UDP over IPv4, less DATA_HEAD_BYTES. */
export const MAX_DATAGRAM_BYTES = 65_495;
/** Whole packets of the handshake and of pings, which have no other length. */
export const HELLO_BYTES = 72;
export const CHALLENGE_BYTES = RELAY_HEAD_BYTES + 2 * NONCE_BYTES + MAC_BYTES;
/** Of `proof` and `ready`. */
export const PROOF_BYTES = RELAY_HEAD_BYTES + NONCE_BYTES + MAC_BYTES;
export const PING_NUMBER_BYTES = 4;
/** Of `ping` and `pong`. */
export const PING_BYTES = RELAY_HEAD_BYTES + PING_NUMBER_BYTES + MAC_BYTES;

/** NATs forget UDP after 30 s at the least (RFC 4787 asks for 2 minutes); three lost in a row are noticed within 15 s. */
export const RELAY_PING_MS = 5_000;
/** Nothing valid from the other side for so long: the session's stream carries datagrams until it is heard again. */
export const RELAY_SILENT_MS = 3 * RELAY_PING_MS;
/** A client that has been silent for so long is forgotten, on both sides: WireGuard's own keepalive, where one is set, is 25 s. */
export const FLOW_IDLE_MS = 180_000;

/** MAC over `bytes[0, end)`. Allocates: for the handshake and pings, a few in a second. */
export function relayMac(key: Uint8Array, bytes: Uint8Array, end: number): Buffer {
  return createHmac('sha256', key).update(bytes.subarray(0, end)).digest().subarray(0, MAC_BYTES);
}

/** Does the MAC at `at` belong to what stands before it? In constant time. */
export function hasRelayMac(key: Uint8Array, bytes: Uint8Array, at: number): boolean {
  if (bytes.length < at + MAC_BYTES) return false;
  return timingSafeEqual(relayMac(key, bytes, at), bytes.subarray(at, at + MAC_BYTES));
}

/** A packet of the handshake or a ping: head, `body`, MAC, zeros up to `size` bytes. */
export function encodeSigned(of: {
  kind: number;
  token: Uint8Array;
  key: Uint8Array;
  body: Uint8Array;
  size?: number;
}): Buffer {
  const macAt = RELAY_HEAD_BYTES + of.body.length;
  const out = Buffer.alloc(Math.max(of.size ?? 0, macAt + MAC_BYTES));
  out[0] = of.kind;
  out.set(of.token, 1);
  out.set(of.body, RELAY_HEAD_BYTES);
  relayMac(of.key, out, macAt).copy(out, macAt);
  return out;
}

/** Is the packet `bytes[start, end)` ours: long enough, and with this token? Says nothing of who sent it. */
export function hasRelayToken(bytes: Uint8Array, token: Uint8Array, start = 0, end: number = bytes.length): boolean {
  if (end - start < RELAY_HEAD_BYTES) return false;
  let differs = 0;
  for (let i = 0; i < RELAY_TOKEN_BYTES; i++) differs |= (bytes[start + i + 1] as number) ^ (token[i] as number);
  return differs === 0;
}
