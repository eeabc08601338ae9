/**
 * Handshakes of agents on the listener for visitors. An agent that pins a key gets the certificate of the agent listener, so that one pin holds on
 * both; with any other it gets the one for the name that it dials. Used by tls.ts.
 */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { isSelfSigned } from '../../../base/net/self-signed.ts';
import { ALPN } from '../../../wire/messages.ts';

interface Shown {
  readonly context: SecureContext;
  readonly leaf: X509Certificate;
  readonly isPinned: boolean;
}

export class AgentHandshakes {
  #shown: Shown | null = null;
  readonly #served = new WeakSet<TLSSocket>();

  /** The certificate of the agent listener, for handshakes from now on. Throws, with nothing changed, when the two do not fit. */
  setCertificate({ cert, key }: { readonly cert: string; readonly key: string }): void {
    const context = createSecureContext({ cert, key, minVersion: 'TLSv1.3' });
    this.#shown = { context, leaf: new X509Certificate(cert), isPinned: isSelfSigned(cert) };
  }

  /** For a handshake that offers protocols: true when it is an agent's. Before `setCertificate` no agents are taken. */
  answer(socket: TLSSocket, { servername, protocols }: { servername: string; protocols: readonly string[] }): boolean {
    const shown = this.#shown;
    // Of TLS 1.2 the certificate would be readable on the way, and no agent speaks it.
    if (shown === null || !protocols.includes(ALPN) || socket.getProtocol() !== 'TLSv1.3') return false;
    if (shown.isPinned || (servername !== '' && shown.leaf.checkHost(servername) !== undefined)) {
      this.#served.add(socket);
      socket.setKeyCert(shown.context);
    }
    return true;
  }

  /** It has got the certificate of the agent listener, and needs no other. */
  hasCertificate(socket: TLSSocket): boolean {
    return this.#served.has(socket);
  }
}
