/**
 * The HTTP listeners of the edge: accepts, admits, makes a Visitor per connection, and ends them all in good order. Raw sockets,
 * not node:http: that alone costs more processor time per request (11 us) than this edge with parser, policy and tunnel (8).
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { cutFaulty, Sweeper } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { Lifecycle } from '../../base/process/lifecycle.ts';
import type { Logger } from '../../base/log.ts';
import { type ListenAt, listenAt } from '../../base/net/listen.ts';
import { socketBelow } from '../../base/bytes/socket.ts';
import type { TunnelAnswer, TunnelRequest } from '../../plane/inspection.ts';
import type { RouteTable } from '../routing/table.ts';
import type { EdgeChallenge } from '../../plane/certificates.ts';
import { addressKey } from '../../base/net/address-key.ts';
import { ALPN as AGENT_PROTOCOL } from '../../wire/messages.ts';
import type { NodeSettings } from '../node-settings.ts';
import { ApiRelay } from './api-relay.ts';
import { peekHost } from './peek-host.ts';
import { ACME_PROTOCOL, HttpAnswers } from './tls/acme-answers.ts';
import { CertificateWaits, type WantCertificate } from './tls/certificate-waits.ts';
import type { Drops } from '../faults/drops.ts';
import type { Entered, Entrance } from '../entrance/entrance.ts';
import { type HandshakeLimits, HandshakeRate } from '../../base/net/handshake-rate.ts';
import { ConnectionNames } from '../entrance/connection-names.ts';
import { type EdgeConnection, type EdgeContext, type EdgeLimits, edgeContext } from './exchange/context.ts';
import type { FaultCounters } from '../faults/fault.ts';
import { EdgeHttp2Connection, http2Parts } from './h2/connection.ts';
import { NodeHttp2Connection } from './h2-node/connection.ts';
import { blockList } from './exchange/forwarded.ts';
import type { Holds } from './exchange/holds.ts';
import { HttpsRedirect } from './exchange/https-redirect.ts';
import { ServerHosts } from './exchange/server-hosts.ts';
import { VisitorCertificates, type VisitorTls } from './tls/tls.ts';
import { TunnelRequests } from './server-requests/tunnel-requests.ts';
import { dropStale } from './exchange/upstream.ts';
import { Visitor } from './h1/visitor.ts';

export interface HttpEdgeOptions {
  /** How often deadlines are looked at. */
  readonly sweepMs: number;
  readonly http: ListenAt | null;
  readonly https: ListenAt | null;
  /** The default certificate at the start. */
  readonly tls: VisitorTls | null;
  /** What speaks HTTP/2 with visitors of the TLS listener, where they choose it. */
  readonly http2: NodeSettings['edge']['http2'];
  /** Plain HTTP is sent to https on this port, 0: that of the listener; null: it is served. */
  readonly httpsRedirectPort: number | null;
  /** The API's hosts, served by the control plane's socket; null: not here. */
  readonly api: NodeSettings['edge']['api'];
  /** CIDRs whose X-Forwarded-… is believed. */
  readonly trustedProxies: readonly string[];
  readonly limits: EdgeLimits;
}

export interface HttpEdgeDeps extends Pick<EdgeContext, 'recorder' | 'latency' | 'accessLog'> {
  readonly table: RouteTable;
  readonly entrance: Entrance;
  readonly drops: Drops;
  readonly holds: Holds;
  /** Asks for certificates of names that visitors want; null: there are none but those that are set. */
  readonly wantCertificate: WantCertificate | null;
  /** Takes an agent that came by the TLS listener, from its address. */
  readonly adoptAgent: (socket: TLSSocket, ip: string) => void;
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
  /** What agents are shown from now on; nothing where HTTPS is off. Throws with nothing changed. */
  setAgentCertificate(tls: VisitorTls): void;
  /** What certificate authorities are answered from now on. Throws, with nothing changed, when a certificate does not fit. */
  setChallenges(list: readonly EdgeChallenge[]): void;
  /** Carries out a request of the control plane. Never rejects. */
  send(request: TunnelRequest): Promise<TunnelAnswer>;
  /**
   * Stops accepting. Idle connections end; those that were in use within the last second end with their next request. Resolves when none is left on
   * which one may come: after a second at the latest, and after `graceMs`.
   */
  leave(graceMs: number): Promise<void>;
  /** What is under way gets `graceMs` to finish. */
  drain(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

const BACKLOG = 4_096;
/** How often the coarse clock moves, how often idle streams are looked at. */
const TICK_MS = 250;
const STALE_MS = 5_000;
/** At a drain: how often connections are looked at; how long one that was in use may bring its last request; how long visitors may take to close theirs. */
const DRAIN_LOOK_MS = 20;
const LAST_REQUEST_MS = 1_000;
const LAST_LINGER_MS = 250;

/** Starts the listeners. Throws when one can't be bound, with nothing left open. */
export async function startHttpEdge(options: HttpEdgeOptions, deps: HttpEdgeDeps): Promise<HttpEdge> {
  const lifecycle = new Lifecycle();
  const { table, drops, holds, recorder, accessLog, latency, log } = deps;
  const sweeper = new Sweeper<EdgeConnection>(options.sweepMs, { onFault: cutFaulty(deps.log, 'a visitor') });
  const redirectPort = options.httpsRedirectPort;
  let ownPort = 443;
  const context = edgeContext({
    ...{ table, drops, holds, recorder, accessLog, latency, log },
    limits: options.limits,
    sweeper,
    trusted: options.trustedProxies.length === 0 ? null : blockList(options.trustedProxies),
    redirect: redirectPort === null ? null : new HttpsRedirect(() => redirectPort || ownPort),
    ownHosts: options.api === null ? null : new ServerHosts(options.api.hosts, options.api.httpsPort),
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
  try {
    const http = options.http === null ? null : plainServer(context, deps.entrance);
    const certificates =
      options.https === null || options.tls === null
        ? null
        : new VisitorCertificates([options.tls], {
            handshakeMs: options.limits.tlsHandshakeTimeoutMs,
            waits: waitsFor(deps, options.api),
          });
    const tls = certificates === null ? null : tlsServer(context, deps, certificates, options);
    if (certificates !== null && tls !== null)
      lifecycle.onClose('ticket keys', certificates.rotateTicketKeys(tls.server));
    const https = tls === null ? null : tlsListener(tls, deps, options.limits.tlsHandshakes);
    for (const [server, listen] of [
      [http, options.http],
      [https, options.https],
    ] as const) {
      if (server === null || listen === null) continue;
      await listening(server, listen);
      if (server === https) ownPort = (server.address() as AddressInfo).port;
      lifecycle.onClose('edge listener', () => closed(server, sweeper, server === https ? tls : null, deps.entrance));
    }
    return edge({
      context,
      sweeper,
      lifecycle,
      servers: [http, https].filter((s) => s !== null),
      shaking: tls?.shaking ?? new Set(),
      http,
      https,
      setCertificates: (list) => {
        if (certificates === null || tls === null) return;
        certificates.replace(list);
        tls.server.setSecureContext(certificates.defaultContext());
      },
      setAgentCertificate: (pair) => certificates?.agents.setCertificate(pair),
      setChallenges: (list) => {
        certificates?.answers.set(list.filter((one) => one.type === 'tls-alpn-01'));
        const http = list.filter((one) => one.type === 'http-01');
        context.challenges = http.length === 0 ? null : new HttpAnswers(http);
      },
    });
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

function edge(of: {
  context: EdgeContext;
  sweeper: Sweeper<EdgeConnection>;
  lifecycle: Lifecycle;
  servers: readonly Server[];
  shaking: ReadonlySet<Socket>;
  http: Server | null;
  https: Server | null;
  setCertificates: HttpEdge['setCertificates'];
  setAgentCertificate: HttpEdge['setAgentCertificate'];
  setChallenges: HttpEdge['setChallenges'];
}): HttpEdge {
  const { context, sweeper } = of;
  const requests = new TunnelRequests(context);
  return {
    http: (of.http?.address() as AddressInfo | undefined) ?? null,
    https: (of.https?.address() as AddressInfo | undefined) ?? null,
    faults: context.faults,
    setCertificates: of.setCertificates,
    setAgentCertificate: of.setAgentCertificate,
    setChallenges: of.setChallenges,
    get connections() {
      return sweeper.size - requests.count;
    },
    send: (request) => requests.send(request),
    leave: async (graceMs) => {
      context.draining = true;
      for (const server of of.servers) server.close();
      drainAll(of, false);
      const end = performance.now() + Math.min(graceMs, LAST_REQUEST_MS);
      const mayAsk = (): boolean => of.shaking.size > 0 || hasStage(sweeper, 'open');
      while (mayAsk() && performance.now() < end) await pause(DRAIN_LOOK_MS);
      drainAll(of, true);
    },
    drain: async (graceMs) => {
      const end = performance.now() + graceMs;
      while (hasStage(sweeper, 'busy', 'open') && performance.now() < end) await pause(DRAIN_LOOK_MS);
      const lingerEnd = Math.min(end, performance.now() + LAST_LINGER_MS);
      while (sweeper.size > 0 && performance.now() < lingerEnd) await pause(DRAIN_LOOK_MS);
    },
    close: () => of.lifecycle.close(),
  };
}

function drainAll(
  { context, sweeper }: { context: EdgeContext; sweeper: Sweeper<EdgeConnection> },
  isLast: boolean,
): void {
  for (const visitor of [...sweeper.members()]) {
    try {
      visitor.drain(isLast);
    } catch (error) {
      // The others get the event all the same.
      cutFaulty(context.log, 'a visitor')(visitor, error);
    }
  }
}

function hasStage(sweeper: Sweeper<EdgeConnection>, ...stages: ReadonlyArray<EdgeConnection['stage']>): boolean {
  for (const { stage } of sweeper.members()) if (stages.includes(stage)) return true;
  return false;
}

function waitsFor(
  { table, wantCertificate: want, drops }: HttpEdgeDeps,
  api: HttpEdgeOptions['api'],
): CertificateWaits | null {
  if (want === null) return null;
  const onFull = (): void => drops.add('certificate_wait_full');
  return new CertificateWaits({ table, ownHosts: api?.hosts ?? [], want, onFull });
}

function plainServer(context: EdgeContext, entrance: Entrance): Server {
  return createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    entrance.enter(socket, (from) => new Visitor(context, socket, { ...from, tls: false, names: null }));
  });
}

/** TLS behind the listener that accepts for it. */
interface TlsFront {
  readonly server: TlsServer;
  /** Whose TCP connection it is. */
  readonly visitors: WeakMap<Socket, Entered>;
  /** TCP connections whose handshake is under way. */
  readonly shaking: Set<Socket>;
  /** TCP connections, which must be cut at the end also when no TLS connection has come of them. */
  readonly raw: Set<Socket>;
}

/**
 * Accepts for `tls`, which does not listen by itself: a PROXY header comes before the handshake, and a connection is counted from there on,
 * for a handshake costs more than a request.
 */
function tlsListener(
  tls: TlsFront,
  { entrance, drops }: Pick<HttpEdgeDeps, 'entrance' | 'drops'>,
  limits: HandshakeLimits,
): Server {
  const rate = new HandshakeRate(limits, addressKey);
  return createServer({ noDelay: true }, (socket) => {
    entrance.enter(socket, (from) => {
      // Who speaks for many has no load of its own, and no rate.
      if (from.load !== null && !rate.take(from.ip, performance.now())) {
        drops.add('tls_rate');
        socket.resetAndDestroy();
        return;
      }
      tls.visitors.set(socket, from);
      tls.raw.add(socket);
      tls.shaking.add(socket);
      socket.once('close', () => {
        tls.raw.delete(socket);
        tls.shaking.delete(socket);
      });
      tls.server.emit('connection', socket);
    });
  });
}

function tlsServer(
  context: EdgeContext,
  deps: HttpEdgeDeps,
  certificates: VisitorCertificates,
  { http2, api }: Pick<HttpEdgeOptions, 'http2' | 'api'>,
): TlsFront {
  const visitors = new WeakMap<Socket, Entered>();
  const shaking = new Set<Socket>();
  const raw = new Set<Socket>();
  const { ownHosts } = context;
  const parts = http2 === 'own' ? http2Parts(context) : null;
  const relay = api === null ? null : new ApiRelay(api.socket, deps.log);
  const fromOf = (socket: TLSSocket): Entered | undefined => {
    const below = socketBelow(socket);
    return below === undefined ? undefined : visitors.get(below);
  };
  const addressOf = (socket: TLSSocket): string => addressKey(fromOf(socket)?.ip ?? '');
  const options = certificates.serverOptions(
    http2 !== 'off',
    addressOf,
    (name) => ownHosts !== null && (!name || ownHosts.has(name)),
  );
  const server = createTlsServer({ ...options, noDelay: true }, (socket: TLSSocket) => {
    const below = socketBelow(socket);
    const from = fromOf(socket);
    if (below !== undefined) shaking.delete(below);
    if (below === undefined || from === undefined) return void socket.destroy();
    if (socket.alpnProtocol === ACME_PROTOCOL) return leave(socket);
    if (socket.alpnProtocol === AGENT_PROTOCOL) {
      // From here on it is the gateway's, which has limits of its own.
      raw.delete(below);
      from.leave();
      return deps.adoptAgent(socket, from.ip);
    }
    // From here on: who ends its direction in the middle of a handshake has left, and must not be waited for.
    below.allowHalfOpen = true;
    socket.allowHalfOpen = true;
    const visit = (): void => {
      const origin = { ...from, tls: true, names: new ConnectionNames(socket) };
      if (socket.alpnProtocol !== 'h2') new Visitor(context, socket, origin);
      else if (parts === null) new NodeHttp2Connection(context, socket, { ...origin, isHttp2: true });
      else new EdgeHttp2Connection(context, parts, socket, { ...origin, isHttp2: true });
    };
    if (relay === null || ownHosts === null) return visit();
    const handOn = (host: string): void => (ownHosts.has(host) ? relay.take(socket, from.ip) : visit());
    if (socket.servername) handOn(socket.servername);
    else peekHost(socket, { ...context.limits, headBytes: context.limits.head.headBytes }, handOn);
  });
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    // Who leaves by itself, as a health check does, is not counted.
    if (codeOf(error) !== 'ECONNRESET') deps.drops.add('tls_handshake');
    deps.log.debug({ err: error.message }, 'a TLS handshake with a visitor failed');
    socket.destroy();
  });
  return { server, visitors, shaking, raw };
}

/** An authority has seen all that it wanted to see, once the end of the handshake has left. */
function leave(socket: TLSSocket): void {
  socket.on('error', () => socket.destroy());
  socket.destroySoon();
}

function dropStaleStreams(context: EdgeContext): void {
  for (const entry of context.table.entries()) if (entry.served !== null) dropStale(entry.served, context.nowMs);
}

function listening(server: Server, at: ListenAt): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    listenAt(server, at, BACKLOG);
  });
}

function closed(
  server: Server,
  sweeper: Sweeper<EdgeConnection>,
  tls: TlsFront | null,
  entrance: Entrance,
): Promise<void> {
  const all = new Promise<void>((resolve) => void server.close(() => resolve()));
  // Agents that came by it go on: the gateway says goodbye to them.
  const own = tls === null ? all : Promise.all(Array.from(tls.raw, ended)).then(() => undefined);
  entrance.close();
  for (const visitor of [...sweeper.members()]) visitor.destroy();
  for (const socket of tls?.raw ?? []) socket.destroy();
  return Promise.race([all, own]);
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}
