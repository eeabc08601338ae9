/**
 * One visitor of a `tcp` tunnel: a stream to the agent with the visitor's address in its preamble, the agent's reply taken off,
 * then raw bytes both ways. What the visitor sends travels behind the preamble at once; it waits for no reply. Made by edge/tcp/tcp.ts.
 */
import type { Socket } from 'node:net';
import type { AccessDraft } from '../../access-log/access-draft.ts';
import { CountedMeter } from '../../access-log/tcp-entry.ts';
import { Pipe, type PipeMeter } from '../../../base/bytes/pipe.ts';
import type { FaultCode } from '../../../base/codes/edge-faults.ts';
import type { SlabPool } from '../../../base/bytes/slab.ts';
import { readInto, sharedTarget } from '../../../base/bytes/socket.ts';
import type { TurnEnd } from '../../../base/process/turn.ts';
import type { MuxStream, StreamSink } from '../../../mux/stream.ts';
import { encodePreamble, REPLY } from '../../../wire/preamble.ts';
import type { RouteEntry, ServedTunnel, TunnelMeter } from '../../routing/entry.ts';
import type { Proxied } from '../../entrance/proxy-header.ts';
import { isOver } from '../../faults/refusal.ts';
import { hasItsShare } from '../exchange/upstream.ts';
import { visitorAddress } from '../../entrance/visitor-address.ts';

export interface TcpVisitorOptions {
  /** Who it is: of the socket, or as a load balancer says. */
  readonly from: Proxied;
  /** What the access log will say of it; null: nothing. */
  readonly access: AccessDraft | null;
  readonly slabs: SlabPool;
  readonly turn: TurnEnd;
  /** The agent's reply must be here by then. */
  readonly localTimeoutMs: number;
  /** Called once, when both directions are over or either side broke. */
  readonly onClose: (visitor: TcpVisitor) => void;
}

/** The pipe counts straight into the serving's meter, which the reporter reads and zeroes while bytes flow. */
class VisitorMeter implements PipeMeter {
  readonly #meter: TunnelMeter;

  constructor(meter: TunnelMeter) {
    this.#meter = meter;
  }

  get fromSocket(): number {
    return this.#meter.bytesIn;
  }

  set fromSocket(bytes: number) {
    this.#meter.bytesIn = bytes;
  }

  get toSocket(): number {
    return this.#meter.bytesOut;
  }

  set toSocket(bytes: number) {
    this.#meter.bytesOut = bytes;
  }
}

export class TcpVisitor implements StreamSink {
  readonly entry: RouteEntry;
  readonly #serving: ServedTunnel;
  readonly #pipe: Pipe;
  readonly #replyBy: number;
  #closed = false;
  /** Bytes of the reply seen so far, and how many it has once its length is known. */
  #replySeen = 0;
  #replySize = 2;
  #replied = false;
  readonly #access: AccessDraft | null;
  /** Why the edge has cut it. */
  #code: FaultCode | null = null;

  /** Whether the tunnel takes this visitor, whichever session serves it. */
  static mayEnter({ route, policy }: RouteEntry, from: Proxied): boolean {
    if (route.stopped || route.maintenance !== null) return false;
    return policy === null || !policy.keepsOut(from.ip);
  }

  /** For a visitor that may enter. Undefined when no agent serves the tunnel now, or its budget is spent: the caller closes the socket. */
  static open(socket: Socket, entry: RouteEntry, options: TcpVisitorOptions): TcpVisitor | undefined {
    const { served } = entry;
    if (served === null || served.draining) return undefined;
    if (served.payer.exhausted || hasItsShare(served)) return undefined;
    const address = visitorAddress(options.from.ip, options.from.port);
    if (address === undefined) return undefined;
    const stream = served.session.open();
    if (stream === null) return undefined;
    stream.write(encodePreamble(served.slot, address));
    served.meter.requests++;
    return new TcpVisitor(socket, stream, { ...options, entry, served });
  }

  private constructor(
    socket: Socket,
    stream: MuxStream,
    options: TcpVisitorOptions & { entry: RouteEntry; served: ServedTunnel },
  ) {
    this.entry = options.entry;
    this.#serving = options.served;
    this.#replyBy = performance.now() + options.localTimeoutMs;
    this.#serving.inFlight++;
    const { access } = options;
    this.#access = access;
    access?.carriedBy(this.#serving);
    const meter = new VisitorMeter(this.#serving.meter);
    const counted = access === null ? null : new CountedMeter(meter);
    this.#pipe = new Pipe(stream, socket, {
      turn: options.turn,
      slabs: options.slabs,
      tls: false,
      meter: counted ?? meter,
      onClose: () => {
        if (this.#closed) return;
        this.#closed = true;
        this.#serving.inFlight--;
        if (counted !== null)
          this.#access?.finish({ status: 0, code: this.#code, bytesIn: counted.bytesIn, bytesOut: counted.bytesOut });
        options.onClose(this);
      },
    });
    stream.sink = this;
    readInto(
      socket,
      sharedTarget(options.slabs.shared.bytes, (bytes, start, count) => this.#pipe.fromSocket(bytes, start, count)),
    );
  }

  destroy(): void {
    this.#pipe.destroy();
  }

  /** Ends what must not go on: a tunnel that was stopped or deleted, a budget that is spent, an agent that does not answer. */
  sweep(nowMs: number): void {
    const { cut, payer } = this.#serving;
    if (payer.exhausted) return this.#cut('budget_exhausted');
    if (cut || isOver(this.entry)) return this.#cut('tunnel_offline');
    if (!this.#replied && nowMs > this.#replyBy) this.#cut('local_timeout');
  }

  #cut(code: FaultCode): void {
    this.#code = code;
    this.destroy();
  }

  // ------------------------------------------------------------------ the agent's reply; then the pipe takes over

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && this.#replySeen < this.#replySize) {
      const byte = bytes[at++] as number;
      if (this.#replySeen === 0 && byte !== REPLY.connected) {
        // The service can't be reached: to the visitor that is a connection cut short, raw TCP has no words for it.
        return this.#cut('local_unreachable');
      }
      if (this.#replySeen === 1) this.#replySize = 2 + byte;
      this.#replySeen++;
    }
    stream.consumed(at - start);
    if (this.#replySeen < this.#replySize) return;
    this.#replied = true;
    this.#access?.answered(0);
    stream.sink = this.#pipe;
    if (at < end) this.#pipe.onData(stream, bytes, at, end);
  }

  onEnd(): void {
    // The agent ended the stream without a whole reply.
    this.#cut('local_closed');
  }

  onReset(): void {
    this.#cut('local_closed');
  }

  onDrain(): void {
    this.#pipe.onDrain();
  }
}
