/**
 * Connections for the API that come to the edge: bytes both ways between the client and the control plane's socket in the data folder. HTTP is
 * parsed there, once. Used by http.ts.
 */
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../../base/log.ts';
import { relayedHeader } from '../../plane/relayed.ts';

const AWAY_BODY = `${JSON.stringify({ error: 'unavailable', message: 'The server is starting or stopping. Try again in a few seconds.' })}\n`;
/** Before the control plane listens, and once it has stopped. */
const AWAY =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nRetry-After: 2\r\n' +
  `Connection: close\r\nContent-Length: ${Buffer.byteLength(AWAY_BODY)}\r\n\r\n${AWAY_BODY}`;

/** A client that reads nothing any more must not keep its place among the visitors. */
const END_MS = 10_000;

export class ApiRelay {
  readonly #path: string;
  readonly #log: Logger;

  /** `path`: of the control plane's socket. */
  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Takes over a connection after its handshake. `ip`: the client's. */
  take(client: TLSSocket, ip: string): void {
    const api = connect({ path: this.#path, allowHalfOpen: true });
    let hasConnected = false;
    api.once('connect', () => (hasConnected = true));
    api.on('error', (error) => {
      if (hasConnected) {
        client.destroy();
        return;
      }
      this.#log.debug({ error: error.message }, 'the API does not take connections');
      sayAway(client);
    });
    client.on('error', () => client.destroy());
    api.once('close', () => {
      if (hasConnected) endSoon(client);
    });
    client.once('close', () => api.destroy());
    api.write(relayedHeader(ip));
    client.pipe(api);
    api.pipe(client);
  }
}

/** What was written still goes out, to a client that reads it in time. */
function endSoon(client: Socket): void {
  client.destroySoon();
  setTimeout(() => client.destroy(), END_MS).unref();
}

function sayAway(client: Socket): void {
  client.unpipe();
  client.resume();
  client.end(AWAY);
  // It may go on sending; the response must reach it first.
  setTimeout(() => client.destroy(), 1_000).unref();
}
