/**
 * One UDP socket of a relay to one address of the server: shows the server by the handshake of wire/relay-packets.ts that the socket is
 * this agent's, pings, and carries packets. Used by udp-path.ts, which decides when. The socket is connected, so the system keeps
 * all other packets out before the token and the MACs do.
 */
import { randomBytes } from 'node:crypto';
import { connectDatagrams, type DatagramSocket } from '../../base/udp/datagrams.ts';
import {
  CHALLENGE_BYTES,
  encodeSigned,
  HELLO_BYTES,
  hasRelayMac,
  hasRelayToken,
  MAC_BYTES,
  NONCE_BYTES,
  PING_BYTES,
  PING_NUMBER_BYTES,
  PROOF_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
} from '../../wire/relay-packets.ts';

/** Nonces of the server that this leg has proven and has no `ready` for: hellos that are under way together have one each. */
const MAX_PROVEN = 4;

/** What `attached` gave for the way by UDP. */
export interface RelayKeys {
  readonly token: Buffer;
  readonly key: Buffer;
}

export interface LegOwner {
  /** May this leg prove itself now? The server takes the last that does so for the agent, so one does at a time. */
  mayProve(leg: UdpLeg): boolean;
  /** The server takes this leg for the agent's from now on. */
  onReady(leg: UdpLeg): void;
  onPong(leg: UdpLeg, number: number): void;
  /** A `data` or `batch` packet with the right token, valid until it returns. */
  onPacket(bytes: Buffer, start: number, end: number): void;
  /** So many packets that `send` took did not leave. */
  onLost(count: number): void;
  /** A datagram is of another relay, or no packet at all. */
  onForeign(): void;
  /** The system reports no route, or no listener there. */
  onTrouble(error: Error): void;
}

export interface LegOptions {
  readonly address: string;
  readonly port: number;
  readonly keys: RelayKeys;
  readonly owner: LegOwner;
}

export class UdpLeg {
  readonly address: string;
  readonly #keys: RelayKeys;
  readonly #owner: LegOwner;
  readonly #nonce = randomBytes(NONCE_BYTES);
  readonly #proven: Buffer[] = [];
  #socket: DatagramSocket | undefined;
  #helloDue = false;
  #closed = false;

  /** Opens its socket; `hello` may be called at once. */
  constructor({ address, port, keys, owner }: LegOptions) {
    this.address = address;
    this.#keys = keys;
    this.#owner = owner;
    const onDatagram = (bytes: Buffer, start: number, end: number): void => this.#take(bytes, start, end);
    const onError = (error: Error): void => this.#trouble(error);
    const onLost = (count: number): void => owner.onLost(count);
    connectDatagrams({ host: address, port, onDatagram, onError, onLost }).then(
      (socket) => this.#opened(socket),
      (error: Error) => this.#trouble(error),
    );
  }

  /** Asks the server to take this leg. */
  hello(): void {
    this.#helloDue = this.#socket === undefined;
    if (!this.#helloDue) this.#say(RELAY_KIND.hello, this.#nonce, HELLO_BYTES);
  }

  /** `number` is higher than any before, on all legs of the attachment. */
  ping(number: number): void {
    const body = Buffer.alloc(PING_NUMBER_BYTES);
    body.writeUInt32BE(number);
    this.#say(RELAY_KIND.ping, body);
  }

  /** Sends a packet, now or not at all; false: not sent. */
  send(bytes: Buffer, start: number, end: number): boolean {
    return this.#socket?.send(bytes, start, end) ?? false;
  }

  /** May be called twice. */
  close(): void {
    this.#closed = true;
    this.#socket?.close();
    this.#socket = undefined;
  }

  #opened(socket: DatagramSocket): void {
    if (this.#closed) return socket.close();
    this.#socket = socket;
    if (this.#helloDue) this.hello();
  }

  #trouble(error: Error): void {
    if (!this.#closed) this.#owner.onTrouble(error);
  }

  #say(kind: number, body: Buffer, size?: number): void {
    const packet = encodeSigned({ kind, ...this.#keys, body, ...(size === undefined ? {} : { size }) });
    this.send(packet, 0, packet.length);
  }

  #take(bytes: Buffer, start: number, end: number): void {
    if (this.#closed) return;
    if (!hasRelayToken(bytes, this.#keys.token, start, end)) return this.#owner.onForeign();
    const kind = bytes[start];
    if (kind === RELAY_KIND.data || kind === RELAY_KIND.batch) return this.#owner.onPacket(bytes, start, end);
    this.#takeSigned(bytes.subarray(start, end));
  }

  #takeSigned(packet: Buffer): void {
    const length = packet.length;
    const wanted = SIGNED_BYTES.get(packet[0] as number);
    if (length !== wanted || !hasRelayMac(this.#keys.key, packet, length - MAC_BYTES)) return this.#owner.onForeign();
    const body = packet.subarray(RELAY_HEAD_BYTES, length - MAC_BYTES);
    switch (packet[0]) {
      case RELAY_KIND.challenge:
        return this.#challenged(body);
      case RELAY_KIND.ready:
        return this.#ready(body);
      default:
        return this.#owner.onPong(this, body.readUInt32BE());
    }
  }

  #challenged(body: Buffer): void {
    // Another's answer, or one to an earlier socket.
    if (!body.subarray(0, NONCE_BYTES).equals(this.#nonce)) return this.#owner.onForeign();
    if (!this.#owner.mayProve(this)) return;
    const nonce = Buffer.from(body.subarray(NONCE_BYTES));
    this.#proven.push(nonce);
    if (this.#proven.length > MAX_PROVEN) this.#proven.shift();
    this.#say(RELAY_KIND.proof, nonce);
  }

  #ready(nonce: Buffer): void {
    const at = this.#proven.findIndex((proven) => proven.equals(nonce));
    if (at < 0) return this.#owner.onForeign();
    // Each counts once: a repeated `ready` says nothing of what the server does now.
    this.#proven.splice(at, 1);
    this.#owner.onReady(this);
  }
}

const SIGNED_BYTES: ReadonlyMap<number, number> = new Map([
  [RELAY_KIND.challenge, CHALLENGE_BYTES],
  [RELAY_KIND.ready, PROOF_BYTES],
  [RELAY_KIND.pong, PING_BYTES],
]);
