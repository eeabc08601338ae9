/**
 * The TLS connection from the agent to the server's agent listener. TLS 1.3 only, ALPN `culvert/1`; a self-signed server is
 * known by the fingerprint of its key. Nothing is sent before the peer is proven, for the next thing sent is the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { ProxyError } from '../../base/net/outbound/proxy.ts';
import { ALPN } from '../../wire/messages.ts';
import type { AgentAddress } from './discovery.ts';
import { UnreachableError } from './reachability.ts';
import { connectFault } from '../lost.ts';

const TIMEOUT_MS = 10_000;

/** Resolves with an open, verified connection; rejects with a message for people. Through a proxy the TLS session is inside of its tunnel. */
export async function dialServer(
  address: AgentAddress,
  signal?: AbortSignal,
  outbound: Outbound = new Outbound(),
): Promise<TLSSocket> {
  const proxy = outbound.proxyFor(address);
  const ca = outbound.ca === undefined ? {} : { ca: outbound.ca };
  // A name may have several addresses, of both families: Node dials them one after the other, 250 ms apart (RFC 8305).
  if (proxy === undefined) return handshake(address, { host: address.host, port: address.port, ...ca }, signal);
  try {
    const socket = await outbound.through(proxy, address, signal);
    // With its host: Node would verify an address by the name of what the socket is connected to, which is the proxy.
    return await handshake(address, { socket, host: address.host, ...ca }, signal);
  } catch (error) {
    if (!(error instanceof ProxyError) || !error.isPassing) throw error;
    throw new UnreachableError(error.message, address, { cause: error });
  }
}

function handshake(address: AgentAddress, way: ConnectionOptions, signal?: AbortSignal): Promise<TLSSocket> {
  const where = `${address.host}:${address.port}`;
  const pinned = address.fingerprint !== undefined;
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...way,
      ...(isIP(address.host) === 0 ? { servername: address.host } : {}),
      ALPNProtocols: [ALPN],
      minVersion: 'TLSv1.3',
      // With a pin the key itself is the identity; names and chains say nothing more.
      rejectUnauthorized: !pinned,
    });
    socket.setNoDelay(true);
    const timer = setTimeout(() => fail(`no response within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
    const onAbort = (): void => fail('canceled');
    const onError = (cause: Error): void => fail(connectFault(cause, Date.now()), cause);
    const onClose = (): void => fail('the connection closed during the TLS handshake');
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      socket.off('close', onClose);
    };
    let connected = way.socket !== undefined;
    socket.once('connect', () => (connected = true));
    const fail = (why: string, cause?: Error): void => {
      settle();
      socket.on('error', () => undefined); // a destroyed socket may still report; the reason is already told
      socket.destroy();
      const options = cause === undefined ? undefined : { cause };
      const message = `${where}: ${why}`;
      reject(connected ? new Error(message, options) : new UnreachableError(message, address, options));
    };
    socket.on('error', onError);
    socket.on('close', onClose);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) return fail('canceled');
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== ALPN) return fail('this is not a Culvert agent listener (no ALPN culvert/1)');
      if (address.fingerprint !== undefined && !hasKey(socket, address.fingerprint)) {
        return fail('the TLS key does not match the one that the server announced. Check for a TLS proxy in between');
      }
      settle();
      resolve(socket);
    });
  });
}

function hasKey(socket: TLSSocket, fingerprint: string): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return false;
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  const found = createHash('sha256').update(spki).digest();
  const expected = Buffer.from(fingerprint.slice('sha256:'.length), 'hex');
  return expected.length === found.length && timingSafeEqual(found, expected);
}
