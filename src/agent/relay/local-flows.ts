/**
 * The local side of a relay: a UDP socket for each flow, connected to the network's WireGuard, so that it sees each client as another source
 * and answers each by itself. Used by carrier.ts. Sockets outlive the session: an agent that attaches again goes on with those that it has,
 * and WireGuard notices nothing.
 */
import type { Clock } from '../../base/clock.ts';
import { connectDatagrams, type DatagramSocket } from '../../base/udp/datagrams.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { FLOW_IDLE_MS } from '../../wire/relay-packets.ts';
import { FORM, formOf, isPadded } from '../../wire/wireguard.ts';
import type { Cancel, Schedule } from '../schedule.ts';
import type { DatagramTarget } from './spec.ts';

/**
 * As many as the server has of a network; those that it has displaced are among them until they are idle. At the bound the one that was silent for
 * longest goes, of those that are not proven where there are any, as at the server: or who forges addresses would take clients' sockets from them.
 */
export const MAX_FLOWS = 1_024;
const SWEEP_MS = 5_000;
/** The server forgets a client first, by a little: so its number is not met by a new socket. */
const IDLE_MS = FLOW_IDLE_MS + SWEEP_MS;
/** What may wait until a socket is open, which takes less than a millisecond unless the target's name is looked up. The first always may. */
const MAX_WAITING = 16;
const MAX_WAITING_BYTES = 16_384;
/** After a socket could not be opened none is tried for so long. */
const RETRY_MS = 1_000;
/** A target that was sent to for so long and refused nothing listens again. */
const FORGIVE_MS = 15_000;

export interface FlowOwner {
  /** A datagram of the service for the client of `flow`, valid until it returns. */
  fromLocal(flow: number, bytes: Buffer, start: number, end: number): void;
  /** Whether the service can be reached changed; `fault` says why not. */
  onFault(fault: string | undefined): void;
  /** A mistake of this program: what one datagram threw. */
  onThrow(error: Error): void;
}

export interface LocalFlowsOptions {
  readonly target: DatagramTarget;
  readonly owner: FlowOwner;
  readonly clock: Clock;
  readonly schedule: Schedule;
}

interface LocalFlow {
  readonly number: number;
  socket: DatagramSocket | undefined;
  waiting: Buffer[];
  waitingBytes: number;
  /** When its client was heard last, as of the latest sweep. */
  heardMs: number;
  /** The service has sent it a data packet of WireGuard, which only an authenticated client gets. */
  isProven: boolean;
  gone: boolean;
}

export class LocalFlows {
  /** Datagrams for the service that it did not get: refused, no socket, or no room. */
  lost = 0;
  readonly #options: LocalFlowsOptions;
  readonly #flows = new Map<number, LocalFlow>();
  #sweep: Cancel | undefined;
  /** The time, in steps of a sweep: the clock is not asked for each datagram. */
  #nowMs = 0;
  /** Which of the target's hosts is tried. */
  #host = 0;
  #refusals = 0;
  #refusedMs = 0;
  #sentMs = 0;
  #noneBeforeMs = 0;
  #fault: string | undefined;

  constructor(options: LocalFlowsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#flows.size;
  }

  /** Sends `bytes[start, end)` to the service, from the socket of `flow`. */
  toLocal(flow: number, bytes: Buffer, start: number, end: number): void {
    const found = this.#flows.get(flow) ?? this.#open(flow);
    if (found === undefined) {
      this.lost++;
      return;
    }
    found.heardMs = this.#nowMs;
    this.#sentMs = this.#nowMs;
    if (found.socket === undefined) this.#wait(found, bytes, start, end);
    else if (!found.socket.send(bytes, start, end)) this.lost++;
  }

  /** Closes all: their numbers mean other clients from now on. */
  clear(): void {
    for (const flow of this.#flows.values()) this.#close(flow);
    this.#sweep?.();
    this.#sweep = undefined;
  }

  /** Undefined: a socket could not be opened a moment ago. */
  #open(number: number): LocalFlow | undefined {
    const now = this.#options.clock.monotonic();
    if (now < this.#noneBeforeMs) return undefined;
    this.#nowMs = now;
    if (this.#flows.size >= MAX_FLOWS) this.#closeOldest();
    const flow = {
      number,
      socket: undefined,
      waiting: [],
      waitingBytes: 0,
      heardMs: now,
      isProven: false,
      gone: false,
    };
    this.#flows.set(number, flow);
    this.#connect(flow);
    this.#sweep ??= this.#options.schedule.after(SWEEP_MS, () => this.#sweepNow());
    return flow;
  }

  #connect(flow: LocalFlow): void {
    const { target } = this.#options;
    const host = target.hosts[this.#host % target.hosts.length] as string;
    connectDatagrams({
      host,
      port: target.port,
      onDatagram: (bytes, start, end) => this.#heard(flow, bytes, start, end),
      onError: (error) => this.#troubled(flow, error),
      onLost: (count) => {
        this.lost += count;
      },
    }).then(
      (socket) => this.#connected(flow, socket),
      (error: Error) => {
        if (flow.gone) return;
        this.#noneBeforeMs = this.#options.clock.monotonic() + RETRY_MS;
        this.#failed(flow, error);
      },
    );
  }

  #connected(flow: LocalFlow, socket: DatagramSocket): void {
    if (flow.gone) return socket.close();
    flow.socket = socket;
    for (const bytes of flow.waiting) if (!socket.send(bytes, 0, bytes.length)) this.lost++;
    flow.waiting = [];
  }

  #wait(flow: LocalFlow, bytes: Buffer, start: number, end: number): void {
    const isOver = flow.waiting.length >= MAX_WAITING || flow.waitingBytes + end - start > MAX_WAITING_BYTES;
    if (isOver && flow.waiting.length > 0) {
      this.lost++;
      return;
    }
    flow.waiting.push(Buffer.from(bytes.subarray(start, end)));
    flow.waitingBytes += end - start;
  }

  #heard(flow: LocalFlow, bytes: Buffer, start: number, end: number): void {
    if (flow.gone) return;
    this.#refusals = 0;
    if (!flow.isProven) flow.isProven = formOf(bytes, start, end) === FORM.data && isPadded(start, end);
    if (this.#fault !== undefined) this.#tell(undefined);
    this.#options.owner.fromLocal(flow.number, bytes, start, end);
  }

  #troubled(flow: LocalFlow, error: Error): void {
    if (flow.gone) return;
    const code = codeOf(error);
    if (code === undefined) return this.#options.owner.onThrow(error);
    // A datagram that is too long for the way says nothing of the service.
    if (code !== 'EMSGSIZE') this.#failed(flow, error);
  }

  /** Where the target has another host, the next datagram of the client opens a socket to that. */
  #failed(flow: LocalFlow, error: Error): void {
    const { target, clock } = this.#options;
    if (flow.socket === undefined || target.hosts.length > 1) this.#close(flow);
    this.lost += flow.waiting.length;
    this.#refusedMs = clock.monotonic();
    this.#host++;
    this.#refusals++;
    if (this.#refusals >= target.hosts.length) this.#tell(faultOf(error, target.text));
  }

  #tell(fault: string | undefined): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#options.owner.onFault(fault);
  }

  #sweepNow(): void {
    const now = this.#options.clock.monotonic();
    this.#nowMs = now;
    for (const flow of this.#flows.values()) if (now - flow.heardMs >= IDLE_MS) this.#close(flow);
    const isForgiven = now - this.#refusedMs >= FORGIVE_MS && this.#sentMs > this.#refusedMs;
    if (this.#fault !== undefined && isForgiven) {
      this.#refusals = 0;
      this.#tell(undefined);
    }
    const goesOn = this.#flows.size > 0 || this.#fault !== undefined;
    this.#sweep = goesOn ? this.#options.schedule.after(SWEEP_MS, () => this.#sweepNow()) : undefined;
  }

  #closeOldest(): void {
    let oldest: LocalFlow | undefined;
    for (const flow of this.#flows.values()) if (oldest === undefined || goesBefore(flow, oldest)) oldest = flow;
    if (oldest !== undefined) this.#close(oldest);
  }

  #close(flow: LocalFlow): void {
    flow.gone = true;
    flow.socket?.close();
    flow.socket = undefined;
    this.#flows.delete(flow.number);
  }
}

/** Which of two makes room. */
function goesBefore(flow: LocalFlow, other: LocalFlow): boolean {
  return flow.isProven === other.isProven ? flow.heardMs < other.heardMs : other.isProven;
}

function faultOf(error: Error, text: string): string {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
      return `nothing listens on UDP ${text}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name of ${text} can't be resolved`;
    default:
      return `${text}: ${messageOf(error)}`;
  }
}
