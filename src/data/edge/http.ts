/**
 * The HTTP listeners of the edge: accepts, admits, makes a Visitor per connection, and ends them all in good order. Raw sockets,
 * not node:http: that alone costs more processor time per request (11 us) than this edge with parser, policy and tunnel (8).
 */
import { type AddressInfo, BlockList, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { Sweeper } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { Lifecycle } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/log.ts';
import type { RouteTable } from '../routing/table.ts';
import type { Admission } from './admission.ts';
import type { Drops } from './drops.ts';
import { type EdgeContext, type EdgeLimits, edgeContext } from './context.ts';
import type { FaultCounters } from './fault.ts';
import { isListed, plainAddress } from './forwarded.ts';
import { VisitorCertificates, type VisitorTls } from './tls.ts';
import { dropStale } from './upstream.ts';
import { Visitor } from './visitor.ts';

export interface HttpEdgeOptions {
  readonly http: { readonly host: string; readonly port: number } | null;
  readonly https: { readonly host: string; readonly port: number } | null;
  /** The default certificate at the start. */
  readonly tls: VisitorTls | null;
  /** CIDRs whose X-Forwarded-… is believed. */
  readonly trustedProxies: readonly string[];
  readonly limits: EdgeLimits;
}

export interface HttpEdgeDeps {
  readonly table: RouteTable;
  readonly admission: Admission;
  readonly drops: Drops;
  readonly log: Logger;
}

export interface HttpEdge {
  readonly http: AddressInfo | null;
  readonly https: AddressInfo | null;
  readonly faults: FaultCounters;
  /** Connections that are open now. */
  readonly connections: number;
  /** For handshakes from now on, see VisitorCertificates.replace; nothing where HTTPS is off. Throws with nothing changed. */
  setCertificates(list: readonly VisitorTls[]): void;
  /** Stops accepting; idle connections end, others get `graceMs` to finish. */
  drain(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

const BACKLOG = 4_096;
/** How often deadlines are looked at, how often the coarse clock moves, how often idle streams are. */
const SWEEP_MS = 1_000;
const TICK_MS = 250;
const STALE_MS = 5_000;

/** Starts the listeners. Throws when one can't be bound, with nothing left open. */
export async function startHttpEdge(options: HttpEdgeOptions, deps: HttpEdgeDeps): Promise<HttpEdge> {
  const lifecycle = new Lifecycle();
  const sweeper = new Sweeper<Visitor>(SWEEP_MS);
  const context = edgeContext({
    table: deps.table,
    limits: options.limits,
    sweeper,
    drops: deps.drops,
    log: deps.log,
    trusted: options.trustedProxies.length === 0 ? null : blockList(options.trustedProxies),
  });
  const timers = [
    setInterval(() => {
      context.nowMs = performance.now();
    }, TICK_MS),
    setInterval(() => dropStaleStreams(context), STALE_MS),
  ];
  for (const timer of timers) timer.unref();
  lifecycle.onClose('edge timers', () => {
    for (const timer of timers) clearInterval(timer);
    sweeper.close();
  });
  const raw = new Set<Socket>();
  try {
    const http = options.http === null ? null : plainServer(context, deps.admission);
    const certificates = options.https === null || options.tls === null ? null : new VisitorCertificates([options.tls]);
    const https = certificates === null ? null : tlsServer(context, deps, certificates, raw);
    for (const [server, listen] of [
      [http, options.http],
      [https, options.https],
    ] as const) {
      if (server === null || listen === null) continue;
      await listening(server, listen);
      lifecycle.onClose('edge listener', () => closed(server, sweeper, raw));
    }
    return edge({
      context,
      sweeper,
      lifecycle,
      servers: [http, https].filter((s) => s !== null),
      http,
      https,
      setCertificates: (list) => {
        if (certificates === null || https === null) return;
        certificates.replace(list);
        https.setSecureContext(certificates.defaultContext());
      },
    });
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function edge(of: {
  context: EdgeContext;
  sweeper: Sweeper<Visitor>;
  lifecycle: Lifecycle;
  servers: readonly Server[];
  http: Server | null;
  https: Server | null;
  setCertificates: HttpEdge['setCertificates'];
}): HttpEdge {
  const { context, sweeper } = of;
  return {
    http: (of.http?.address() as AddressInfo | undefined) ?? null,
    https: (of.https?.address() as AddressInfo | undefined) ?? null,
    faults: context.faults,
    setCertificates: of.setCertificates,
    get connections() {
      return sweeper.size;
    },
    drain: async (graceMs) => {
      context.draining = true;
      for (const server of of.servers) server.close();
      for (const visitor of [...sweeper.members()]) visitor.drain();
      const end = performance.now() + graceMs;
      while (sweeper.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    close: () => of.lifecycle.close(),
  };
}

function plainServer(context: EdgeContext, admission: Admission): Server {
  return createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    const ip = admitted(socket, admission, context.trusted);
    if (ip !== null) new Visitor(context, socket, { tls: false, ip });
  });
}

/** `shaking` gets the TCP sockets, which must be cut at the end also when no TLS connection has come of them. */
function tlsServer(
  context: EdgeContext,
  deps: HttpEdgeDeps,
  certificates: VisitorCertificates,
  shaking: Set<Socket>,
): TlsServer {
  const server = createTlsServer(
    { ...certificates.serverOptions(), allowHalfOpen: true, noDelay: true },
    (socket: TLSSocket) => {
      const ip = plainAddress(socket.remoteAddress ?? '');
      new Visitor(context, socket, { tls: true, ip });
    },
  );
  // Counted from the TCP connection on: a handshake costs more than a request.
  server.on('connection', (socket: Socket) => {
    if (admitted(socket, deps.admission, context.trusted) === null) return;
    shaking.add(socket);
    socket.once('close', () => shaking.delete(socket));
  });
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    // Who leaves by itself, as a health check does, is not counted.
    if (codeOf(error) !== 'ECONNRESET') deps.drops.add('tls_handshake');
    deps.log.debug({ err: error.message }, 'a TLS handshake with a visitor failed');
    socket.destroy();
  });
  return server;
}

/** Counts the connection in; null when it is over a limit and has been closed. */
function admitted(socket: Socket, admission: Admission, trusted: BlockList | null): string | null {
  const ip = plainAddress(socket.remoteAddress ?? '');
  if (ip === '' || !admission.admit(ip, trusted !== null && isListed(trusted, ip))) {
    socket.destroy();
    return null;
  }
  socket.once('close', () => admission.release(ip));
  return ip;
}

function dropStaleStreams(context: EdgeContext): void {
  for (const entry of context.table.entries()) if (entry.served !== null) dropStale(entry.served, context.nowMs);
}

function listening(server: Server, listen: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...listen, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closed(server: Server, sweeper: Sweeper<Visitor>, raw: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const visitor of [...sweeper.members()]) visitor.destroy();
    for (const socket of raw) socket.destroy();
  });
}

function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}
