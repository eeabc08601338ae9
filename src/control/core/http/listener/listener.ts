/**
 * The HTTP listener of the API: opened by server/start.ts, drained and closed by it.
 */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ListenAt, listenAt } from '../../../../base/net/listen.ts';
import { CIPHER_SUITES } from '../../../../base/net/tls-suites.ts';
import type { Api } from '../context.ts';
import { ConnectionBound, type ConnectionRules } from './connection-bound.ts';
import { answerMalformed, refuseUnroutable } from './malformed.ts';

/** Slow-loris bounds; bodies are at most 1 MiB. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
} as const;
const DRAIN_SWEEP_MS = 50;
/** As Node's own. */
const BACKLOG = 511;
const HANDSHAKE_MS = 10_000;

/** PEM both, the chain included. */
export interface ApiCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A request to become a WebSocket, on its socket. `accepted`: to be called once the socket is no longer the API's. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly accepted: () => void;
}

/** Takes over connections. */
export interface Upgrades {
  wants(request: IncomingMessage): boolean;
  take(upgrade: Upgrade): Promise<void>;
}

export interface ListenerRules extends ConnectionRules {
  /** Speaks TLS, and this certificate first; null or left out: plain HTTP. */
  readonly tls?: ApiCertificate | null;
  /** Takes what asks to become a WebSocket; left out: such a request is answered as if it had not asked. */
  readonly upgrades?: Upgrades;
  /** Counts the connections of several listeners together; left out: of this one alone. */
  readonly bound?: ConnectionBound;
}

export interface ApiListener {
  readonly address: AddressInfo;
  /** For handshakes from now on; without TLS it does nothing. */
  setCertificate(pair: ApiCertificate): void;
  /** Takes nothing new; ends when the requests under way have. */
  drain(): Promise<void>;
  /** Cuts what is left. May be called after `drain`, and twice. */
  close(): Promise<void>;
}

/** Binds and serves. Throws the system's error when the address can't be bound. */
export async function listenApi(app: Api, at: ListenAt, rules: ListenerRules): Promise<ApiListener> {
  const server = makeServer(app, rules);
  listenAt(server, at, BACKLOG);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the API listener has no address');
  return {
    address,
    setCertificate: (pair) => {
      if (server instanceof HttpsServer) server.setSecureContext(tlsOptions(pair));
    },
    ...endsOf(server),
  };
}

/** A server of the API that does not listen yet. */
export function makeServer(
  app: Api,
  { tls = null, upgrades, bound: shared, ...rules }: ListenerRules,
): HttpServer | HttpsServer {
  const options = {
    ...TIMEOUTS,
    // A missing Host is refused by the request listener, whose answer has a body; Node's own has none.
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => upgrades?.wants(request) === true,
  };
  const server = tls === null ? createServer(options) : createTlsServer({ ...options, ...tlsOptions(tls) });
  const answer = getRequestListener(app.fetch, { errorHandler: refuseUnroutable });
  // HTTP/1.0 knows no Host, and probes of load balancers speak it. No route looks at the name.
  const answerOld = getRequestListener(app.fetch, { errorHandler: refuseUnroutable, hostname: 'localhost' });
  server.on('request', (incoming, outgoing) => {
    void (incoming.httpVersion === '1.0' ? answerOld : answer)(incoming, outgoing);
  });
  answerMalformed(server);
  const bound = shared ?? new ConnectionBound(rules);
  bound.watch(server);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void upgrades?.take({ request, socket, head, accepted: () => bound.letGo(socket) });
  });
  return server;
}

/** How a server that listens ends. */
export function endsOf(server: HttpServer | HttpsServer): Pick<ApiListener, 'drain' | 'close'> {
  const closeIdle = (): void => server.closeIdleConnections();
  return {
    drain: () => {
      const ended = closed(server);
      closeIdle();
      // A connection whose answer was under way is kept open by its client: only the server ends it then.
      const sweep = setInterval(closeIdle, DRAIN_SWEEP_MS);
      return ended.finally(() => clearInterval(sweep));
    },
    close: () => {
      const ended = closed(server);
      server.closeAllConnections();
      return ended;
    },
  };
}

function tlsOptions({ cert, key }: ApiCertificate) {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers: CIPHER_SUITES,
    honorCipherOrder: true,
    // Of TLS 1.2: each costs a handshake that no limit counts, and nothing here asks for one.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: HANDSHAKE_MS,
  } as const;
}

function closed(server: HttpServer | HttpsServer): Promise<void> {
  return new Promise((resolve) => {
    // An error says that it is closed already: then there is nothing to wait for.
    server.close(() => resolve());
  });
}
