/**
 * How many connections the API holds, in all and per source, so that one host can't block all others. Watches the server of listener.ts. At a
 * bound the connection that has been without a request for longest gives way to the new one; when every one is being served, the new one is cut.
 * Either way the log says so, once a minute.
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type NetworkSet, plainIp } from '../../../../base/net/addr.ts';
import { type HandshakeLimits, HandshakeRate } from '../../../../base/net/handshake-rate.ts';
import type { Logger } from '../../../../base/log.ts';
import { Throttle } from '../../../../base/limits/throttle.ts';
import { limitKey } from './client-ip.ts';

const MAX_TOTAL = 1_000;
/** Ten hosts at least must work together to take all there are. A browser has six, and an office behind one address has few at once. */
const MAX_PER_SOURCE = 100;
const WARN_EVERY_MS = 60_000;

export interface ConnectionRules {
  /** Sources without a bound of their own: this machine, and proxies that many people come through. */
  readonly exempt: NetworkSet;
  readonly monotonic: () => number;
  readonly log: Logger;
  /** TLS handshakes of a source; left out: any number. */
  readonly handshakes?: HandshakeLimits;
  /** Other bounds than 1,000 in all and 100 per source. */
  readonly max?: { readonly total: number; readonly perSource: number };
}

/** The connections of a source, or all of them. */
interface Group {
  readonly max: number;
  open: number;
  /** Those that are answering nothing; who has been so for longest is first. */
  readonly idle: Set<Socket>;
}

interface Connection {
  readonly key: string;
  readonly groups: readonly Group[];
  /** Requests whose answers have not left yet: a client may send several at once. */
  underWay: number;
}

export class ConnectionBound {
  readonly #rules: ConnectionRules;
  readonly #max: { readonly total: number; readonly perSource: number };
  readonly #all: Group;
  /** Those that have a connection: no more than there may be connections. */
  readonly #sources = new Map<string, Group>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #warnings: Throttle;
  readonly #warningsOfHandshakes: Throttle;

  constructor(rules: ConnectionRules) {
    this.#rules = rules;
    this.#max = rules.max ?? { total: MAX_TOTAL, perSource: MAX_PER_SOURCE };
    this.#all = newGroup(this.#max.total);
    this.#warnings = new Throttle(WARN_EVERY_MS, rules.monotonic);
    this.#warningsOfHandshakes = new Throttle(WARN_EVERY_MS, rules.monotonic);
  }

  watch(server: HttpServer | HttpsServer): void {
    // With TLS a connection counts once it has shaken hands: only then is it known which socket the requests come by.
    if (server instanceof HttpsServer) {
      server.maxConnections = 2 * this.#max.total;
      this.#paceHandshakes(server);
      server.on('secureConnection', (socket: Socket) => this.#admit(socket));
    } else server.on('connection', (socket) => this.#admit(socket));
    server.prependListener('request', (request, response) => this.#serve(request, response));
    // Answered until it is refused, which closes it, or accepted.
    server.prependListener('upgrade', ({ socket }: IncomingMessage) => this.#busy(socket));
  }

  /** In front of TLS's own listener: a handshake costs as much as a hundred requests, also for a client that sends none. */
  #paceHandshakes(server: HttpsServer): void {
    const { handshakes, exempt, monotonic } = this.#rules;
    if (handshakes === undefined) return;
    const rate = new HandshakeRate(handshakes, limitKey);
    const begin = server.listeners('connection') as ReadonlyArray<(socket: Socket) => void>;
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      const address = plainIp(socket.remoteAddress ?? '');
      if (exempt.has(address) || rate.take(address, monotonic())) for (const each of begin) each.call(server, socket);
      else this.#refuseHandshake(socket, limitKey(address));
    });
  }

  #refuseHandshake(socket: Socket, source: string): void {
    socket.resetAndDestroy();
    const passed = this.#warningsOfHandshakes.pass();
    const fields = { source, max_per_second: this.#rules.handshakes?.perSecond, ...passed };
    if (passed !== undefined)
      this.#rules.log.warn(
        fields,
        'an address starts too many TLS handshakes with the API: a new connection was closed',
      );
  }

  /** The connection has become a WebSocket: its owner counts it, by limits of its own. */
  letGo(socket: Socket): void {
    this.#release(socket);
  }

  #admit(socket: Socket): void {
    const address = plainIp(socket.remoteAddress ?? '');
    const key = limitKey(address);
    const source = this.#rules.exempt.has(address)
      ? undefined
      : (this.#sources.get(key) ?? newGroup(this.#max.perSource));
    const groups = source === undefined ? [this.#all] : [source, this.#all];
    // One that gives way for the source's sake leaves the room that the whole needs, too.
    for (const group of groups) {
      if (group.open < group.max) continue;
      const [longest] = group.idle;
      this.#warn(key, longest !== undefined);
      if (longest === undefined) return void socket.destroy();
      this.#release(longest);
      longest.destroy();
    }
    if (source !== undefined) this.#sources.set(key, source);
    for (const group of groups) {
      group.open++;
      group.idle.add(socket);
    }
    this.#connections.set(socket, { key, groups, underWay: 0 });
    socket.once('close', () => this.#release(socket));
  }

  #serve({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#busy(socket);
    if (connection === undefined) return;
    response.once('close', () => {
      connection.underWay--;
      if (connection.underWay > 0 || !this.#connections.has(socket)) return;
      for (const { idle } of connection.groups) idle.add(socket);
    });
  }

  #busy(socket: Socket): Connection | undefined {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return undefined;
    connection.underWay++;
    for (const { idle } of connection.groups) idle.delete(socket);
    return connection;
  }

  #release(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#connections.delete(socket);
    for (const group of connection.groups) {
      group.open--;
      group.idle.delete(socket);
      if (group.open === 0 && group !== this.#all) this.#sources.delete(connection.key);
    }
  }

  #warn(source: string, madeRoom: boolean): void {
    const passed = this.#warnings.pass();
    if (passed === undefined) return;
    const { open } = this.#sources.get(source) ?? { open: undefined };
    const fields = { source, open_of_source: open, open: this.#all.open, max: this.#max, ...passed };
    this.#rules.log.warn(
      fields,
      madeRoom
        ? 'the API reached its connection limit: the longest idle connection was closed'
        : 'the API reached its connection limit, and no connection is idle: a new connection was closed',
    );
  }
}

function newGroup(max: number): Group {
  return { max, open: 0, idle: new Set() };
}
