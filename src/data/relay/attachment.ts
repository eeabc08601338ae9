/**
 * One agent's carrying of one network, from `attached` to `unbound`: its two ways, which of them is taken now, and what passed.
 * Made by relay.ts; a newer one takes its place. From the agent, datagrams are taken from either way at any time.
 * Which way is taken to the agent: docs/decisions/0013-wireguard-relay.md.
 */
import { randomBytes } from 'node:crypto';
import type { Payer } from '../../base/limits/token-bucket.ts';
import type { TurnEnd } from '../../base/process/turn.ts';
import type { RelayPath } from '../../plane/relays.ts';
import { RelayBatch } from '../../wire/relay-batch.ts';
import {
  DATA_HEAD_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KEY_BYTES,
  RELAY_KIND,
  RELAY_TOKEN_BYTES,
  STREAM_PLEASE,
  WORDS_FLOW,
} from '../../wire/relay-packets.ts';
import { type OnRecord, readFlow, readRecords } from '../../wire/relay-records.ts';
import type { Carrier } from './carrier.ts';
import { Handshake } from './handshake/handshake.ts';
import type { RelayCounts } from './relay-counts.ts';
import { StreamLeg } from './stream-leg.ts';

/** The relay, as far as its agent's side needs it. */
export interface AttachmentHost {
  readonly turn: TurnEnd;
  readonly epoch: number;
  /** Counts what has passed and what was dropped. */
  readonly counts: RelayCounts;
  /** Sends a packet from the public port. */
  send(bytes: Buffer, start: number, end: number, port: number, address: string): boolean;
  /** The agent has a datagram for a client. */
  fromAgent: OnRecord;
  onPath(attachment: Attachment, path: RelayPath, why: string): void;
  nowMs(): number;
}

/** One direction, as the bandwidth limit sees it. It does not wait, so there is nothing to report. */
class Direction implements Payer {
  debt = 0;
  allowance = 0;
  paid(): void {}
}

export class Attachment {
  readonly carrier: Carrier;
  readonly token = randomBytes(RELAY_TOKEN_BYTES);
  readonly key = randomBytes(RELAY_KEY_BYTES);
  readonly epoch: number;
  readonly handshake: Handshake;
  readonly #host: AttachmentHost;
  readonly #batch: RelayBatch;
  readonly #stream: StreamLeg;
  readonly #in = new Direction();
  readonly #out = new Direction();
  /** The last datagram from the agent. */
  #cameByUdp = false;
  #path: RelayPath = 'stream';
  /** Why UDP is not taken while it is not. */
  #why = 'no UDP received from the agent yet';

  constructor(carrier: Carrier, host: AttachmentHost) {
    this.carrier = carrier;
    this.epoch = host.epoch;
    this.#host = host;
    this.handshake = new Handshake({ token: this.token, key: this.key, nowMs: host.nowMs() });
    this.#batch = new RelayBatch({
      token: this.token,
      turn: host.turn,
      send: (bytes, start, end) => host.send(bytes, start, end, this.handshake.port, this.handshake.address),
    });
    this.#stream = new StreamLeg({
      session: carrier.session,
      slot: carrier.slot,
      turn: host.turn,
      onRecord: (flow, bytes, start, end) => {
        this.#cameByUdp = false;
        if (flow === WORDS_FLOW) this.#onWord(bytes, start, end);
        else host.fromAgent(flow, bytes, start, end);
      },
      onMalformed: () => host.counts.drop('malformed'),
    });
  }

  get path(): RelayPath {
    return this.#path;
  }

  /** The agent has been notified. */
  begin(): void {
    this.#stream.open(this.#host.nowMs());
  }

  /** Takes a client's datagram for `flow`. */
  send(flow: number, bytes: Buffer, start: number, end: number): void {
    if (this.#path === 'udp') this.#batch.add(flow, bytes, start, end);
    else this.#stream.send(flow, bytes, start, end);
  }

  /** May so many bytes of an authenticated client pass under the key's bandwidth limit? What goes over the session pays for it at its socket. */
  mayGo(bytes: number): boolean {
    const { bucket } = this.carrier.shaper;
    return bucket === null || this.#path === 'stream' || bucket.trySpend(this.#in, bytes);
  }

  /** The same for an unauthenticated client: it has what the others leave of the rate, and of the ring before the stream. */
  maySpare(bytes: number): boolean {
    if (this.#path === 'stream') return this.#stream.hasSpare;
    const { bucket } = this.carrier.shaper;
    return bucket === null || bucket.trySpare(bytes);
  }

  /** The same of the datagram that has just come from the agent. */
  mayCome(bytes: number): boolean {
    const { bucket } = this.carrier.shaper;
    return bucket === null || !this.#cameByUdp || bucket.trySpend(this.#out, bytes);
  }

  /** A packet with the token, of kind `kind`. */
  onPacket(kind: number, bytes: Buffer, start: number, end: number, address: string, port: number): void {
    const { counts, fromAgent } = this.#host;
    if (kind === RELAY_KIND.data || kind === RELAY_KIND.batch) {
      if (!this.handshake.isAgent(address, port)) return counts.drop('wrong_source');
      this.#cameByUdp = true;
      if (kind === RELAY_KIND.batch) {
        if (!readRecords(bytes, start + RELAY_HEAD_BYTES, end, fromAgent)) counts.drop('malformed');
      } else if (end - start < DATA_HEAD_BYTES) counts.drop('malformed');
      else fromAgent(readFlow(bytes, start + RELAY_HEAD_BYTES), bytes, start + DATA_HEAD_BYTES, end);
      return;
    }
    const nowMs = this.#host.nowMs();
    const { answer, drop } = this.handshake.onPacket(bytes, start, end, address, port, nowMs);
    if (drop !== undefined) counts.drop(drop);
    // One that is lost is as good as one that the network lost: the agent asks again.
    if (answer !== undefined && !this.#host.send(answer, 0, answer.length, port, address)) counts.drop('send_failed');
    this.#choose(nowMs);
  }

  /** About once a second. */
  sweep(nowMs: number): void {
    this.#choose(nowMs);
    this.#stream.sweep(nowMs);
    this.takeLost();
  }

  /** Counts what the two ways have dropped since the last call. */
  takeLost(): void {
    const { counts } = this.#host;
    counts.drop('send_failed', this.#batch.lost);
    this.#batch.lost = 0;
    counts.drop('queue_full', this.#stream.takeDropped());
  }

  close(): void {
    this.#batch.flush();
    this.#stream.close();
    this.takeLost();
    const { bucket } = this.carrier.shaper;
    bucket?.forget(this.#in);
    bucket?.forget(this.#out);
  }

  /** The agent's word to the server: a record of flow 0. */
  #onWord(bytes: Buffer, start: number, end: number): void {
    if (end - start !== 1 || bytes[start] !== STREAM_PLEASE) return this.#host.counts.drop('malformed');
    this.#why = 'the agent receives no UDP from the server';
    this.handshake.agentLost(this.#host.nowMs());
    this.#choose(this.#host.nowMs());
  }

  #choose(nowMs: number): void {
    const path = this.handshake.isOpen(nowMs) ? 'udp' : 'stream';
    if (path === this.#path) return;
    // What waits for the end of the turn goes first, for the agent takes it from either way.
    this.#batch.flush();
    this.#path = path;
    this.#host.onPath(this, path, path === 'udp' ? 'the address of the agent is confirmed' : this.#why);
    this.#why = 'no UDP received from the agent';
  }
}
