/**
 * Which hosts a TLS connection may be asked for: the server name that its visitor gave, and all that its certificate names. A request for
 * another one came by mistake (RFC 9110 §15.5.20): a browser that reuses one connection for several sites, where one of them was
 * moved or got a certificate of its own, or a visitor that shows a proxy in front one name and the edge another.
 */
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Asked per connection and change of host, not per request. */
export class ConnectionNames {
  readonly #socket: TLSSocket;
  /** Lower case, without final dot; null: the visitor gave none, or resumes a session of TLS 1.2, and there is nothing to compare with. */
  readonly #serverName: string | null;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    const given = typeof socket.servername === 'string' ? plain(socket.servername) : '';
    // An address is no name (RFC 6066 §3), and some programs give the one that they dial.
    this.#serverName = given === '' || isIP(given) !== 0 ? null : given;
  }

  /** `host`: of a request, without port. */
  allow(host: string): boolean {
    const name = plain(host);
    if (this.#serverName === null || name === this.#serverName) return true;
    return (
      this.#socket.getX509Certificate()?.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined
    );
  }
}

function plain(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
