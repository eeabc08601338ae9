/**
 * Carries the datagrams of one private network between the server and the local WireGuard, by UDP where that gets through and by the
 * session's stream where it does not. Made by relay.ts for as long as the agent lasts; `attach` and `detach` follow the session.
 *
 *   server ─UDP: data, batch──► UdpPath ──┐            ┌── a socket for each flow ──► WireGuard
 *          ─stream: records───► StreamLeg ┴─► Carrier ─┴─► LocalFlows
 *
 * Both ways are heard at any time; what goes to the server takes one of them. One fault ends one datagram: calls from sockets and streams
 * are guarded where they come in.
 */
import type { Clock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Throttle } from '../../base/limits/throttle.ts';
import type { TurnEnd } from '../../base/process/turn.ts';
import type { MuxStream, StreamSink } from '../../mux/stream.ts';
import type { Attached } from '../../wire/messages.ts';
import {
  DATA_HEAD_BYTES,
  MAX_DATAGRAM_BYTES,
  RELAY_HEAD_BYTES,
  RELAY_KIND,
  WORDS_FLOW,
} from '../../wire/relay-packets.ts';
import { RelayBatch } from '../../wire/relay-batch.ts';
import { type OnRecord, readFlow, readRecords } from '../../wire/relay-records.ts';
import type { RelayPath, UdpState } from '../events.ts';
import type { Schedule } from '../schedule.ts';
import { type FlowOwner, LocalFlows } from './local-flows.ts';
import type { RelaySpec } from './spec.ts';
import { StreamLeg } from './stream-leg.ts';
import { UdpPath, type UdpPathOwner } from './udp-path.ts';

const BUG_LOG_MS = 60_000;
/** A socket that meets an error may meet it with each datagram. */
const TROUBLE_LOG_MS = 1_000;

export interface CarrierOwner {
  /** The way of datagrams is known or has changed. */
  onPath(path: RelayPath, why: string): void;
  onFault(fault: string | undefined): void;
}

/** What all relays of an agent share. */
export interface CarrierFloor {
  readonly log: Logger;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly turn: TurnEnd;
}

export class Carrier implements FlowOwner, UdpPathOwner {
  readonly #spec: RelaySpec;
  readonly #floor: CarrierFloor;
  readonly #owner: CarrierOwner;
  readonly #flows: LocalFlows;
  readonly #throttle: Throttle;
  readonly #troubles: Throttle;
  readonly #toFlow: OnRecord = (flow, bytes, start, end) => this.#toLocal(flow, bytes, start, end);
  /** Null: not attached, or UDP is not wanted. */
  #udp: UdpPath | null = null;
  #batch: RelayBatch | null = null;
  #stream: StreamLeg | null = null;
  #udpState: UdpState;
  #pathWhy: string | undefined;
  #epoch: number | undefined;
  #isAttached = false;
  #dropped = 0;
  packetsIn = 0;
  bytesIn = 0;
  packetsOut = 0;
  bytesOut = 0;

  constructor(spec: RelaySpec, floor: CarrierFloor, owner: CarrierOwner) {
    this.#spec = spec;
    this.#floor = floor;
    this.#owner = owner;
    this.#udpState = spec.udp ? 'trying' : 'off';
    this.#flows = new LocalFlows({ target: spec.target, owner: this, clock: floor.clock, schedule: floor.schedule });
    this.#throttle = new Throttle(BUG_LOG_MS, () => floor.clock.monotonic());
    this.#troubles = new Throttle(TROUBLE_LOG_MS, () => floor.clock.monotonic());
  }

  get path(): RelayPath | undefined {
    if (!this.#isAttached) return undefined;
    return this.#udpState === 'up' ? 'udp' : 'stream';
  }

  get udpState(): UdpState {
    return this.#udpState;
  }

  get pathWhy(): string | undefined {
    return this.#pathWhy;
  }

  get clients(): number {
    return this.#flows.size;
  }

  /** Datagrams of both directions that went no further, and packets that were not ours. */
  get dropped(): number {
    this.#gather();
    return this.#dropped;
  }

  /** The server has attached the network to this agent. `remote`: the address of the session's far end. */
  attach(attached: Attached, remote: string | undefined): void {
    this.detach();
    if (attached.epoch !== this.#epoch) this.#flows.clear();
    this.#epoch = attached.epoch;
    this.#isAttached = true;
    if (!this.#spec.udp) return this.#went('stream', 'UDP to the server is turned off');
    const { clock, schedule, turn } = this.#floor;
    const keys = { token: Buffer.from(attached.token, 'base64url'), key: Buffer.from(attached.key, 'base64url') };
    const host = hostOf(attached.endpoint);
    const udp = new UdpPath({ keys, port: attached.port, remote, host, clock, schedule, owner: this });
    this.#udp = udp;
    this.#batch = new RelayBatch({
      token: keys.token,
      turn,
      send: (bytes, start, end) => udp.send(bytes, start, end),
    });
  }

  /** The session is gone, or the server has taken the network away. The local sockets stay, for the next `attach`. May be called twice. */
  detach(): void {
    this.#isAttached = false;
    this.#udpState = this.#spec.udp ? 'trying' : 'off';
    this.#pathWhy = undefined;
    this.#batch?.flush();
    this.#udp?.close();
    this.#stream?.close();
    this.#gather();
    this.#udp = null;
    this.#batch = null;
    this.#stream = null;
  }

  /** For good. May be called twice. */
  close(): void {
    this.detach();
    this.#flows.clear();
  }

  /** A person asked to try again now. */
  tryNow(): void {
    this.#udp?.tryNow();
  }

  /** The server has opened a stream to the relay's slot. The latest counts. */
  take(stream: MuxStream): StreamSink {
    this.#stream?.close();
    this.#gather();
    const leg = new StreamLeg({
      stream,
      onRecord: this.#toFlow,
      onGone: () => {
        if (this.#stream !== leg) return;
        this.#gather();
        this.#stream = null;
      },
      onMalformed: () => this.onForeign(),
    });
    this.#stream = leg;
    return leg;
  }

  // --- from the server

  onPacket(bytes: Buffer, start: number, end: number): void {
    if (bytes[start] === RELAY_KIND.batch) {
      if (!readRecords(bytes, start + RELAY_HEAD_BYTES, end, this.#toFlow)) this.#dropped++;
    } else if (end - start < DATA_HEAD_BYTES) {
      this.#dropped++;
    } else {
      this.#toLocal(readFlow(bytes, start + RELAY_HEAD_BYTES), bytes, start + DATA_HEAD_BYTES, end);
    }
  }

  onLost(count: number): void {
    this.#dropped += count;
  }

  onForeign(): void {
    this.#dropped++;
  }

  onUp(address: string): void {
    this.#went('udp', `UDP to ${address} works`);
  }

  onSilent(why: string): void {
    this.#stream?.pleaseStream();
    this.#went('stream', why);
  }

  #toLocal(flow: number, bytes: Buffer, start: number, end: number): void {
    if (flow === WORDS_FLOW) return; // a word of the server, of which there are none yet
    this.packetsIn++;
    this.bytesIn += end - start;
    this.#flows.toLocal(flow, bytes, start, end);
  }

  // --- from the service

  fromLocal(flow: number, bytes: Buffer, start: number, end: number): void {
    if (end - start > MAX_DATAGRAM_BYTES) {
      this.#dropped++;
      return;
    }
    this.packetsOut++;
    this.bytesOut += end - start;
    if (this.#udp?.isUp === true) this.#batch?.add(flow, bytes, start, end);
    else if (this.#stream !== null) this.#stream.send(flow, bytes, start, end);
    else this.#dropped++;
  }

  onFault(fault: string | undefined): void {
    this.#owner.onFault(fault);
  }

  onTrouble(error: Error): void {
    const pass = this.#troubles.pass();
    if (pass === undefined) return;
    const fields = { relay: this.#spec.name, code: codeOf(error), cause: messageOf(error), ...pass };
    this.#floor.log.debug(fields, 'this machine has no UDP route to the server');
  }

  onThrow(error: Error): void {
    this.#dropped++;
    const pass = this.#throttle.pass();
    if (pass === undefined) return;
    const fields = { relay: this.#spec.name, cause: messageOf(error), err: error, ...pass };
    this.#floor.log.error(fields, 'internal error while handling a datagram');
  }

  /** What the parts have counted, before one of them is let go. */
  #gather(): void {
    this.#dropped += this.#flows.lost + (this.#batch?.lost ?? 0) + (this.#stream?.takeDropped() ?? 0);
    this.#flows.lost = 0;
    if (this.#batch !== null) this.#batch.lost = 0;
  }

  #went(path: RelayPath, why: string): void {
    this.#udpState = path === 'udp' ? 'up' : this.#spec.udp ? 'silent' : 'off';
    this.#pathWhy = path === 'udp' ? undefined : why;
    this.#owner.onPath(path, why);
  }
}

/** The host of `host:port`. */
function hostOf(endpoint: string): string {
  const host = endpoint.slice(0, Math.max(0, endpoint.lastIndexOf(':')));
  return host.replace(/^\[(.*)\]$/, '$1');
}
