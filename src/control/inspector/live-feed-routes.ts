/**
 * `GET /inspector/ws`: requests as they are recorded, by WebSocket on the API's own listener. One JSON message per request, the item
 * of `GET /inspector`. inspector/live-feed.ts decides who may listen, and how much is sent. The access token comes as a
 * subprotocol (`bearer.<token>`), the one header that browsers can set; the response selects `culvert.inspector` where it is
 * offered, for browsers fail otherwise (RFC 6455 §4.1). The token is in no log.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { FeedItem, LiveFeed } from './live-feed.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import type { ClientIps } from '../core/http/listener/client-ip.ts';
import { isOwnOrigin } from '../core/http/listener/cross-site.ts';
import { presentItem } from './schemas.ts';
import { refuseUpgrade } from '../core/http/listener/upgrade-refusal.ts';

/** What the answer selects where the client offers it. */
const PROTOCOL = 'culvert.inspector';
const BEARER = /^bearer\.([A-Za-z0-9._~+/=-]{1,4096})$/;
const PATH = /^(?:\/api)?\/inspector\/ws$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What waits for a subscriber; with more than this it is cut off. For all together there is a bound beside it (feed-waiting.ts). */
export const MAX_WAITING_BYTES = 1024 * 1024;
/** Subscribers have nothing to say. */
const MAX_MESSAGE_BYTES = 1_024;
const PING_MS = 30_000;
/** The session is looked at again at every second ping: expiry has no event. Other ends are reported at once. */
const PINGS_PER_LOOK = 2;
/** For the other side to answer a close. */
const CLOSE_MS = 5_000;

export const CLOSE_CODES = { stopping: 1001, sessionEnded: 4401, tooSlow: 4408 } as const;

export interface LiveFeedDeps {
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly feed: LiveFeed;
  readonly clientIps: ClientIps;
  readonly publicUrl: () => string;
  readonly corsOrigins: readonly string[];
  readonly log: Logger;
  /** Other than 30 s, for tests. */
  readonly pingMs?: number;
}

/** A request to upgrade, as node:http hands it over. `accepted`: from here on the connection is counted by this file alone. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly accepted: () => void;
}

/** The WebSocket server of the live feeds. */
export class LiveFeedServer {
  readonly #deps: LiveFeedDeps;
  readonly #server: WebSocketServer;
  readonly #open = new Set<WebSocket>();
  /** Items are the same object for all subscribers, and so is the message. */
  readonly #texts = new WeakMap<FeedItem, Buffer>();
  #isOver = false;

  constructor(deps: LiveFeedDeps) {
    this.#deps = deps;
    // `closeTimeout` is younger than the types of ws.
    const options: ServerOptions & { readonly closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      closeTimeout: CLOSE_MS,
      handleProtocols: selectProtocol,
    };
    this.#server = new WebSocketServer(options);
    this.#server.on('wsClientError', (error, socket) =>
      refuseUpgrade(socket, new AppError('invalid_request', `The WebSocket handshake is invalid: ${error.message}.`)),
    );
  }

  /** Is this an upgrade that belongs here? Everything else is answered as if it asked for none. */
  wants(request: IncomingMessage): boolean {
    const [path = ''] = (request.url ?? '').split('?', 1);
    return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && PATH.test(path);
  }

  /** Answers an upgrade: refused before the switch, or a subscriber from then on. */
  async take(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade;
    // Without a listener an error of the socket would end the process; the close that follows says all there is to do.
    socket.on('error', () => socket.destroy());
    try {
      this.#refuseOver();
      this.#refuseForeign(request);
      const actor = await this.#authenticate(request);
      this.#refuseOver();
      this.#subscribe(upgrade, actor);
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.log.error({ err: error, path: PATH.source }, 'a live feed failed');
      refuseUpgrade(
        socket,
        error instanceof AppError
          ? error
          : new AppError('internal', 'The server had an internal error. The reason is in its log.'),
      );
    }
  }

  /** Takes none any more, and tells those who listen that the server stops. Resolves once they are gone, or cut. */
  async end(): Promise<void> {
    this.#isOver = true;
    const gone = [...this.#open].map((socket) => {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.close(CLOSE_CODES.stopping, 'the server is stopping');
      return closed;
    });
    await Promise.all(gone);
  }

  /** Cuts those who listen. */
  cut(): void {
    this.#isOver = true;
    for (const socket of this.#open) socket.terminate();
  }

  #refuseOver(): void {
    if (this.#isOver) throw new AppError('unavailable', 'The server is stopping. Try again in a few seconds.');
  }

  /** A page of another site must not listen with a token that it came by. Programs send no Origin. */
  #refuseForeign({ headers }: IncomingMessage): void {
    const { publicUrl, corsOrigins } = this.#deps;
    const { origin, host = '' } = headers;
    if (origin === undefined || corsOrigins.includes(origin) || isOwnOrigin(origin, host, publicUrl())) return;
    throw new AppError(
      'forbidden',
      'The page belongs to another site, which has no access to this feed. An operator can allow it in api.cors_origins.',
    );
  }

  async #authenticate({ headers, socket }: IncomingMessage): Promise<UserActor> {
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((text) => text.trim());
    const [jwt] = offered.flatMap((text) => BEARER.exec(text)?.[1] ?? []);
    const forwardedFor = headers['x-forwarded-for'];
    const ip = this.#deps.clientIps.find(
      socket.remoteAddress ?? '',
      Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
    );
    const actor = jwt === undefined ? undefined : await this.#deps.sessions.authenticate(jwt, ip);
    if (actor !== undefined) return actor;
    throw new AppError(
      'unauthorized',
      `The handshake has no valid access token. Log in and send Sec-WebSocket-Protocol: ${PROTOCOL}, bearer.<access token>.`,
    );
  }

  #subscribe({ request, socket, head, accepted }: Upgrade, actor: UserActor): void {
    // It has gone while its token was looked at: its end would go unnoticed.
    if (socket.destroyed) return;
    const { feed } = this.#deps;
    // So may the session have: from `join` on its end is reported.
    feed.recheck(actor);
    const tunnelId = tunnelIn(request.url ?? '');
    let client: WebSocket | undefined;
    let isCorked = false;
    // Joined before the switch, for a refusal must come before it. Both are in one turn of the loop, so nothing comes in between.
    const take = (item: FeedItem): void => {
      if (client === undefined) return;
      // Messages of one turn of the loop leave in one write: a write each costs ten times as much.
      if (!isCorked) {
        isCorked = true;
        socket.cork();
        process.nextTick(() => {
          isCorked = false;
          socket.uncork();
        });
      }
      this.#send(client, item);
    };
    const leave = feed.join(actor, tunnelId, { take, look: () => client && this.#look(client, actor) });
    socket.once('close', leave);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      accepted();
      client = opened;
      this.#open.add(opened);
      opened.on('close', () => {
        this.#open.delete(opened);
        this.#deps.feed.waiting.forget(opened);
      });
      // What ends a connection in disorder (a frame too long, one that is none) closes it: that is all there is to do.
      opened.on('error', () => opened.terminate());
      this.#watch(opened, actor);
    });
    // Of a connection that nothing can be written to any more `ws` lets go without a word.
    if (client === undefined) leave();
  }

  #send(client: WebSocket, item: FeedItem): void {
    if (client.readyState !== client.OPEN) return;
    if (client.bufferedAmount > MAX_WAITING_BYTES) {
      this.#deps.feed.countTooSlow();
      client.close(CLOSE_CODES.tooSlow, 'too slow: more than 1 MB waited');
      return;
    }
    let text = this.#texts.get(item);
    if (text === undefined) this.#texts.set(item, (text = Buffer.from(JSON.stringify(presentItem(item)))));
    const { waiting } = this.#deps.feed;
    const { length } = text;
    client.send(text, { binary: false }, () => waiting.take(client, length));
    waiting.add(client, length);
  }

  /** Pings clients, cuts the silent ones, and ends those whose session has expired. */
  #watch(client: WebSocket, actor: UserActor): void {
    let pings = 0;
    let isHeard = true;
    client.on('pong', () => (isHeard = true));
    const timer = setInterval(() => {
      if (!isHeard) return client.terminate();
      isHeard = false;
      pings += 1;
      client.ping();
      if (pings % PINGS_PER_LOOK === 0) this.#look(client, actor);
    }, this.#deps.pingMs ?? PING_MS);
    client.on('close', () => clearInterval(timer));
  }

  #look(client: WebSocket, actor: UserActor): void {
    try {
      this.#deps.feed.recheck(actor);
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.log.error({ err: error }, 'could not check a session');
      // Fail closed: a client with a valid session comes back.
      client.close(CLOSE_CODES.sessionEnded, 'the session has ended');
    }
  }
}

function selectProtocol(offered: Set<string>): string | false {
  if (offered.has(PROTOCOL)) return PROTOCOL;
  return [...offered].find((text) => BEARER.test(text)) ?? false;
}

/** Throws `not_found` for what is no id: there is no such tunnel. */
function tunnelIn(url: string): string | undefined {
  const start = url.indexOf('?');
  const id = start < 0 ? null : new URLSearchParams(url.slice(start + 1)).get('tunnel_id');
  if (id === null) return undefined;
  if (!UUID.test(id)) throw new AppError('not_found', 'Your organization has no tunnel with this id. Check the id.');
  return id.toLowerCase();
}
