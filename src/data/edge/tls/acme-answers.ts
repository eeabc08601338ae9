/**
 * Answers to a certificate authority that asks whether a name is served here: by HTTP (RFC 8555 §8.3) and by TLS (RFC 8737). There are some
 * while orders run, and none for most of the time. Fed by the node, asked by dispatch.ts and tls.ts.
 */
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { EdgeChallenge } from '../../../plane/certificates.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { Head } from '../../../http1/head.ts';

/** Nothing but a certificate is said in this protocol. */
export const ACME_PROTOCOL = 'acme-tls/1';
const PATH = Buffer.from('/.well-known/acme-challenge/');

/** Answers of orders that are under way now. */
export class HttpAnswers {
  readonly #answers: ReadonlyMap<string, EdgeRefusal>;

  constructor(list: ReadonlyArray<EdgeChallenge & { readonly type: 'http-01' }>) {
    this.#answers = new Map(
      list.map(({ name, token, keyAuthorization }) => [
        `${name} ${token}`,
        { code: 'acme_challenge', detail: keyAuthorization },
      ]),
    );
  }

  /** What the request is answered with by the edge itself; null: it is none of ours, and the tunnel's service may know the token. */
  find(bytes: Buffer, head: Head): EdgeRefusal | null {
    const from = head.pathStart + PATH.length;
    if (head.targetEnd <= from || bytes.compare(PATH, 0, PATH.length, head.pathStart, from) !== 0) return null;
    const host = bytes.toString('latin1', head.hostStart, head.hostEnd).toLowerCase().replace(/:\d*$/, '');
    return this.#answers.get(`${host} ${bytes.toString('latin1', from, head.targetEnd)}`) ?? null;
  }
}

/** Certificates that prove a name to clients of `acme-tls/1` alone. */
export class TlsAnswers {
  #contexts: ReadonlyMap<string, SecureContext> = new Map();
  /** Handshakes of authorities: they get no other certificate, and wait for none. */
  readonly #asking = new WeakSet<TLSSocket>();

  set(list: ReadonlyArray<EdgeChallenge & { readonly type: 'tls-alpn-01' }>): void {
    this.#contexts = new Map(
      list.map(({ name, certificate }) => [name, createSecureContext({ ...certificate, minVersion: 'TLSv1.2' })]),
    );
  }

  /** For a handshake that offers protocols: true when it is an authority's that is answered here. */
  answer(socket: TLSSocket, { servername, protocols }: { servername: string; protocols: readonly string[] }): boolean {
    if (this.#contexts.size === 0 || !protocols.includes(ACME_PROTOCOL)) return false;
    const context = this.#contexts.get(servername.toLowerCase());
    if (context === undefined) return false;
    this.#asking.add(socket);
    socket.setKeyCert(context);
    return true;
  }

  /** In TLS 1.2 the certificate is chosen before the protocol: it may be an authority's handshake, and must not wait for its own end. */
  mayAsk(socket: TLSSocket, serverName: string): boolean {
    return this.#contexts.has(serverName.toLowerCase()) && socket.getProtocol() === 'TLSv1.2';
  }

  isAsking(socket: TLSSocket): boolean {
    return this.#asking.has(socket);
  }
}
