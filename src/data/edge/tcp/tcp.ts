/**
 * The public ports of `tcp` tunnels: one listener per routed port for as long as the route exists, one stream per visitor. Made by data/node-parts.ts;
 * the gateway asks it whether a port is open before it binds a claim. A port that can't be opened (another program has it) is logged; claims of
 * its tunnel are refused with `no_port_free`, and each claim tries the port again. It does not stop the server: the other tunnels are none of its
 * business.
 */
import { listenAt } from '../../../base/net/listen.ts';
import { createServer, type Server, type Socket } from 'node:net';
import type { Sweeper } from '../../../base/clock.ts';
import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { SlabPool } from '../../../base/bytes/slab.ts';
import type { TurnEnd } from '../../../base/process/turn.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { RouteTable, TableListener } from '../../routing/table.ts';
import type { AccessLog } from '../../access-log/access-log.ts';
import { beginTcp, refusedTcp } from '../../access-log/tcp-entry.ts';
import type { Drops } from '../../faults/drops.ts';
import type { Entrance } from '../../entrance/entrance.ts';
import type { Proxied } from '../../entrance/proxy-header.ts';
import type { LatencyRecorder } from '../../latency/latency-recorder.ts';
import type { Holds } from '../exchange/holds.ts';
import { holdSocket } from './hold.ts';
import { TcpVisitor } from './visitor.ts';

/** Connections that the kernel holds for one port until they are accepted. */
const BACKLOG = 511;

export interface TcpEdgeDeps {
  readonly table: RouteTable;
  readonly entrance: Entrance;
  readonly drops: Drops;
  readonly holds: Holds;
  readonly latency: Pick<LatencyRecorder, 'of'>;
  readonly accessLog: AccessLog;
  readonly sweeper: Sweeper<TcpVisitor>;
  readonly slabs: SlabPool;
  readonly turn: TurnEnd;
  readonly log: Logger;
}

export interface TcpEdgeOptions {
  /** Address that the public ports are bound on. */
  readonly host: string;
  /** The agent must have reached the service by then. */
  readonly localTimeoutMs: number;
}

interface PublicPort {
  readonly port: number;
  readonly entry: RouteEntry;
  readonly server: Server;
  ready: Promise<boolean>;
}

export class TcpEdge implements TableListener {
  readonly #options: TcpEdgeOptions;
  readonly #deps: TcpEdgeDeps;
  readonly #ports = new Map<number, PublicPort>();
  readonly #byEntry = new Map<RouteEntry, PublicPort>();
  readonly #visitors = new Set<TcpVisitor>();
  readonly #unsubscribe: () => void;
  #closing = false;
  #whenIdle: (() => void) | undefined;

  /** Opens the ports of all routes in the table, and from then on those that come. */
  constructor(options: TcpEdgeOptions, deps: TcpEdgeDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#unsubscribe = deps.table.subscribe(this);
    for (const entry of deps.table.entries()) this.onPut(entry);
  }

  /** Visitors that are connected now. */
  get visitors(): number {
    return this.#visitors.size;
  }

  /** Resolves whether this node listens on `port`, once that is decided. Tries again if it could not before. */
  ready(port: number): Promise<boolean> {
    const listening = this.#ports.get(port);
    if (listening === undefined) return Promise.resolve(false);
    listening.ready = listening.ready.then((open) => (open ? true : this.#listen(listening)));
    return listening.ready;
  }

  onPut(entry: RouteEntry): void {
    const port = entry.route.tcpPort;
    const before = this.#byEntry.get(entry);
    if (before?.port === port) return;
    if (before !== undefined) this.#shut(before);
    if (port === null || this.#closing) return;
    // Two routes with one port are a fault of the control plane: the newer one has it, as in the table.
    const other = this.#ports.get(port);
    if (other !== undefined) this.#shut(other);
    const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    const made: PublicPort = { port, entry, server, ready: Promise.resolve(false) };
    this.#ports.set(port, made);
    this.#byEntry.set(entry, made);
    made.ready = this.#listen(made);
  }

  onRemove(entry: RouteEntry): void {
    const listening = this.#byEntry.get(entry);
    if (listening !== undefined) this.#shut(listening);
    for (const visitor of [...this.#visitors]) if (visitor.entry === entry) visitor.destroy();
  }

  /** Accepts no more visitors; resolves when those connected have left, or cuts them after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.stopListening();
    if (this.#visitors.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenIdle = resolve;
    const timer = setTimeout(resolve, graceMs);
    await promise;
    clearTimeout(timer);
    this.close();
  }

  /** Cuts all visitors. */
  close(): void {
    this.stopListening();
    this.#deps.entrance.close();
    for (const visitor of [...this.#visitors]) visitor.destroy();
  }

  /** Accepts no more visitors. */
  stopListening(): void {
    this.#closing = true;
    this.#unsubscribe();
    for (const listening of [...this.#ports.values()]) this.#shut(listening);
  }

  #listen(on: PublicPort): Promise<boolean> {
    const { server, port } = on;
    if (this.#ports.get(port) !== on) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    server.removeAllListeners();
    server.on('connection', (socket: Socket) =>
      this.#deps.entrance.enter(socket, (from) => this.#accept(on, socket, from)),
    );
    server.on('error', (error) => {
      this.#deps.log.error({ port, code: codeOf(error), error: messageOf(error) }, 'could not open a public port');
      resolve(false);
    });
    server.on('close', () => resolve(false));
    server.once('listening', () => resolve(true));
    listenAt(server, { host: this.#options.host, port }, BACKLOG);
    return promise;
  }

  #shut(listening: PublicPort): void {
    if (this.#ports.get(listening.port) === listening) this.#ports.delete(listening.port);
    this.#byEntry.delete(listening.entry);
    listening.server.close();
  }

  #accept(on: PublicPort, socket: Socket, from: Proxied): void {
    const { entry } = on;
    if (!TcpVisitor.mayEnter(entry, from)) return this.#refuse(on, socket, from);
    if ((entry.served !== null && !entry.served.draining) || !this.#deps.holds.isAwaited(entry))
      return this.#open(on, socket, from);
    const isHeld = holdSocket(socket, entry, this.#deps.holds, (why) => {
      // The tunnel may have changed meanwhile, and its policy with it.
      if (why === 'served' && TcpVisitor.mayEnter(entry, from)) this.#open(on, socket, from);
      else this.#refuse(on, socket, from);
    });
    if (!isHeld) this.#refuse(on, socket, from);
  }

  #refuse({ entry, port }: PublicPort, socket: Socket, from: Proxied): void {
    this.#deps.drops.add('tcp_refused');
    refusedTcp(this.#deps.accessLog, entry, { ip: from.ip, port });
    socket.resetAndDestroy();
  }

  #open(on: PublicPort, socket: Socket, from: Proxied): void {
    const { entry, port } = on;
    const visitor = TcpVisitor.open(socket, entry, {
      from,
      access: beginTcp(this.#deps.accessLog, entry, { ip: from.ip, port }),
      slabs: this.#deps.slabs,
      turn: this.#deps.turn,
      localTimeoutMs: this.#options.localTimeoutMs,
      onClose: (closed) => this.#forget(closed),
    });
    if (visitor === undefined) return this.#refuse(on, socket, from);
    this.#deps.latency.of(on.entry).connected();
    this.#visitors.add(visitor);
    this.#deps.sweeper.add(visitor);
  }

  #forget(visitor: TcpVisitor): void {
    this.#visitors.delete(visitor);
    this.#deps.sweeper.delete(visitor);
    if (this.#visitors.size === 0) this.#whenIdle?.();
  }
}
