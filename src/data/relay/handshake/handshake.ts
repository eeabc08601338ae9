/**
 * The server's side of how an agent makes its address known and keeps it alive: hello, challenge, proof, ready, ping, pong
 * (`wire/relay-packets`). One per attachment. It sends nothing and keeps no time. A challenge is not stored; its nonce is:
 * | number, 6 bytes | tag: HMAC-SHA-256 of number, address and port with a secret of this side, 10 bytes |
 * A proof counts only while its number is above that of the last proof seen. Reasons: docs/decisions/0013-wireguard-relay.md.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Allowance } from '../../../base/limits/allowance.ts';
import {
  encodeSigned,
  HELLO_BYTES,
  hasRelayMac,
  hasRelayToken,
  NONCE_BYTES,
  PING_BYTES,
  PING_NUMBER_BYTES,
  PROOF_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
  RELAY_PING_MS,
  RELAY_SILENT_MS,
} from '../../../wire/relay-packets.ts';
import { StrangerMacs } from './stranger-macs.ts';

const NUMBER_BYTES = 6;
const TAG_BYTES = NONCE_BYTES - NUMBER_BYTES;

/** Longer than any round trip; a proof that comes later is of a hello that the agent has given up. */
const CHALLENGE_MS = 10_000;
/** MACs at the agent's own address: pings each 5 s, and hellos while the agent is not sure. */
const AGENT_MACS = { perSecond: 20, burst: 40 };

/** What became of a packet. `answer` goes to where the packet came from. */
export interface HandshakeVerdict {
  readonly answer?: Buffer;
  /** Why it counts for nothing. */
  readonly drop?: 'malformed' | 'wrong_source';
  /** The agent has proven an address that it had not before. For tests, which hold every move against it. */
  readonly moved?: true;
}

export interface HandshakeOptions {
  readonly token: Uint8Array;
  readonly key: Uint8Array;
  readonly nowMs: number;
}

/** The server's side of one agent's UDP handshake. */
export class Handshake {
  readonly #token: Uint8Array;
  readonly #key: Uint8Array;
  readonly #secret = randomBytes(32);
  readonly #strangerMacs: StrangerMacs;
  readonly #agentMacs: Allowance;

  /** Number of the last challenge made, and of the last whose proof has come. */
  #issued = 0;
  #spent = 0;

  /** Where the agent has proven to be; port 0: nowhere yet. */
  #address = '';
  #port = 0;
  #spentHere = 0;
  #lastPing = -1;
  #heardMs = -Infinity;
  /** When the agent said that it does not hear us. */
  #lostMs: number | undefined;

  constructor({ token, key, nowMs }: HandshakeOptions) {
    this.#token = token;
    this.#key = key;
    this.#strangerMacs = new StrangerMacs(nowMs);
    this.#agentMacs = new Allowance(AGENT_MACS, nowMs);
  }

  /** Where the agent is; '' and 0 before it has proven it. */
  get address(): string {
    return this.#address;
  }

  get port(): number {
    return this.#port;
  }

  /** The kind of `bytes[start, end)`, a RELAY_KIND, when it shows the token; 0: it is a client's. For each datagram. */
  kindOf(bytes: Buffer, start: number, end: number): number {
    const kind = bytes[start] as number;
    if (end - start < RELAY_HEAD_BYTES || kind < RELAY_KIND.data || kind > RELAY_KIND.pong) return 0;
    return hasRelayToken(bytes, this.#token, start, end) ? kind : 0;
  }

  /** Has the agent proven that it is there? Only from there are `data` and `batch` taken. For each packet. */
  isAgent(address: string, port: number): boolean {
    return port === this.#port && port !== 0 && address === this.#address;
  }

  /** May datagrams go to the agent's address now? Not before it was proven, after its word that UDP was lost, or when it is silent. */
  isOpen(nowMs: number): boolean {
    return this.#lostMs === undefined && nowMs - this.#heardMs < RELAY_SILENT_MS;
  }

  /** The agent says, over its session, that it does not hear us by UDP: closed until it has proven an address again. */
  agentLost(nowMs: number): void {
    this.#lostMs = nowMs;
  }

  /** Takes `bytes[start, end)`, a packet that `kindOf` knows, other than `data` and `batch`. */
  onPacket(bytes: Buffer, start: number, end: number, address: string, port: number, nowMs: number): HandshakeVerdict {
    const kind = bytes[start];
    const size = end - start;
    const drop = this.isAgent(address, port) ? 'malformed' : 'wrong_source';
    const isWhole =
      (kind === RELAY_KIND.hello && size === HELLO_BYTES) ||
      (kind === RELAY_KIND.proof && size === PROOF_BYTES) ||
      (kind === RELAY_KIND.ping && size === PING_BYTES);
    if (!isWhole || (kind === RELAY_KIND.ping && drop === 'wrong_source')) return { drop };
    if (drop === 'wrong_source' ? !this.#strangerMacs.take(address, nowMs) : !this.#agentMacs.hasOne(nowMs))
      return { drop };
    if (drop === 'malformed') this.#agentMacs.spend();
    const packet = bytes.subarray(start, end);
    const bodyEnd = RELAY_HEAD_BYTES + (kind === RELAY_KIND.ping ? PING_NUMBER_BYTES : NONCE_BYTES);
    if (!hasRelayMac(this.#key, packet, bodyEnd)) return { drop };
    const body = packet.subarray(RELAY_HEAD_BYTES, bodyEnd);
    if (kind === RELAY_KIND.hello) return { answer: this.#challenge(body, address, port, nowMs) };
    return (kind === RELAY_KIND.ping ? this.#ping(body, nowMs) : this.#proof(body, address, port, nowMs)) ?? { drop };
  }

  #challenge(agentNonce: Buffer, address: string, port: number, nowMs: number): Buffer {
    // A number is also the time, so that it says by itself when it is too old. More than a thousand a second are not made.
    this.#issued = Math.max(this.#issued + 1, Math.floor(nowMs));
    const nonce = Buffer.alloc(NONCE_BYTES);
    nonce.writeUIntBE(this.#issued, 0, NUMBER_BYTES);
    this.#tag(nonce, address, port).copy(nonce, NUMBER_BYTES);
    return this.#signed(RELAY_KIND.challenge, Buffer.concat([agentNonce, nonce]));
  }

  #proof(nonce: Buffer, address: string, port: number, nowMs: number): HandshakeVerdict | undefined {
    const number = nonce.readUIntBE(0, NUMBER_BYTES);
    const isHere = this.isAgent(address, port);
    // Our `ready` was lost, or the network brought the proof twice.
    const isRepeated = isHere && number === this.#spentHere;
    if (!isRepeated) {
      if (number <= this.#spent || number > this.#issued || nowMs - number > CHALLENGE_MS) return undefined;
      this.#spent = number;
    }
    if (!timingSafeEqual(this.#tag(nonce, address, port), nonce.subarray(NUMBER_BYTES))) return undefined;
    const answer = this.#signed(RELAY_KIND.ready, nonce);
    if (isRepeated) return { answer };
    this.#address = address;
    this.#port = port;
    this.#spentHere = number;
    this.#lastPing = -1;
    this.#heardMs = nowMs;
    this.#lostMs = undefined;
    return isHere ? { answer } : { answer, moved: true };
  }

  #ping(body: Buffer, nowMs: number): HandshakeVerdict | undefined {
    const number = body.readUInt32BE(0);
    // Numbers rise from one `ready` to the next: an overheard ping, sent again, keeps no agent alive.
    if (number <= this.#lastPing) return undefined;
    this.#lastPing = number;
    this.#heardMs = nowMs;
    // An agent that has given UDP up sends no pings: its word was late, and came behind the proof that made it obsolete.
    if (this.#lostMs !== undefined && nowMs - this.#lostMs >= RELAY_PING_MS) this.#lostMs = undefined;
    return { answer: this.#signed(RELAY_KIND.pong, body) };
  }

  #tag(nonce: Buffer, address: string, port: number): Buffer {
    return createHmac('sha256', this.#secret)
      .update(nonce.subarray(0, NUMBER_BYTES))
      .update(`${address} ${port}`)
      .digest()
      .subarray(0, TAG_BYTES);
  }

  #signed(kind: number, body: Uint8Array): Buffer {
    return encodeSigned({ kind, token: this.#token, key: this.#key, body });
  }
}
