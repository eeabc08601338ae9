/**
 * The listener for agents: TCP accept, TLS 1.3 handshake, ALPN. Nothing here waits for one peer: each handshake runs by itself, with a
 * deadline, and a peer that has not shown a good token is one of a bounded number (anonymous.ts). Made by gateway.ts.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { type ListenAt, listenAt } from '../../../base/net/listen.ts';
import type { Logger } from '../../../base/log.ts';
import { ALPN } from '../../../wire/messages.ts';
import { HandshakePace } from './handshake-pace.ts';
import { type AnonymousLimits, type AnonymousSocket, AnonymousSockets } from './anonymous.ts';

export interface AgentListenerOptions {
  /** null: there is none, and agents come by `adopt` alone. */
  readonly listen: ListenAt | null;
  readonly tls: AgentTls;
  readonly anonymous: AnonymousLimits;
}

/** PEM, chain included, and its key. */
export interface AgentTls {
  readonly cert: string;
  readonly key: string;
}

/** Makes a session of a finished handshake. Returns what to do when the deadline passes before `known` is called; `isGood`: with a good token. */
export type OnHandshake = (socket: TLSSocket, ip: string, known: (isGood: boolean) => void) => (() => void) | undefined;

/** AES-128-GCM first: with hardware support it is the cheapest per gigabyte. */
const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
const BACKLOG = 1024;

export class AgentListener {
  readonly #tcp: Server;
  readonly #tls: TlsServer;
  readonly #anonymous: AnonymousSockets;
  readonly #pace = new HandshakePace();
  /** Sockets in the handshake, found again by their peer's address and port when it is done. */
  readonly #shaking = new Map<string, AnonymousSocket>();
  readonly #options: AgentListenerOptions;
  readonly #onHandshake: OnHandshake;
  readonly #log: Logger;
  #isClosed = false;

  /** Throws when certificate and key do not fit. */
  constructor(options: AgentListenerOptions, onHandshake: OnHandshake, log: Logger) {
    this.#options = options;
    this.#onHandshake = onHandshake;
    this.#log = log;
    this.#anonymous = new AnonymousSockets(options.anonymous);
    this.#tls = createTlsServer({
      ...contextOptions(options.tls),
      ALPNProtocols: [ALPN],
      handshakeTimeout: options.anonymous.deadlineMs,
    });
    this.#tls.on('secureConnection', (socket: TLSSocket) => this.#secure(socket));
    this.#tls.on('tlsClientError', (error: Error, socket: TLSSocket) => {
      this.#log.debug(
        { remoteIp: socket.remoteAddress, code: codeOf(error), error: messageOf(error) },
        'a handshake failed',
      );
      socket.destroy();
    });
    this.#tcp = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Sockets that have not shown a good token yet. */
  get anonymous(): { readonly size: number; readonly queued: number; readonly refused: number } {
    return this.#anonymous;
  }

  /** Rejects when the address is taken or not ours. */
  async listen(): Promise<AddressInfo | null> {
    const { listen } = this.#options;
    if (listen === null) return null;
    const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
    this.#tcp.once('error', reject);
    this.#tcp.once('listening', () => {
      this.#tcp.off('error', reject);
      this.#tcp.on('error', (error) => this.#log.error({ error: messageOf(error) }, 'the agent listener failed'));
      resolve(this.#tcp.address() as AddressInfo);
    });
    listenAt(this.#tcp, listen, BACKLOG);
    return promise;
  }

  /** For handshakes from now on. Throws, with nothing changed, when certificate and key do not fit. */
  setCertificate(tls: AgentTls): void {
    const context = contextOptions(tls);
    createSecureContext(context);
    this.#tls.setSecureContext(context);
  }

  /** Takes an agent at `ip` whose handshake another listener has done. It waits and is refused as those of this one. */
  adopt(socket: TLSSocket, ip: string): void {
    socket.on('error', () => socket.destroy());
    if (this.#isClosed) return void socket.destroy();
    this.#anonymous.admit(socket, ip, (waiting) => {
      socket.once('close', () => this.#anonymous.release(waiting));
      this.#begin(socket, waiting);
    });
  }

  /** Accepts no more, and cuts who has not shown a token. Live sessions stay. */
  close(): void {
    this.#isClosed = true;
    this.#tcp.close();
    this.#pace.close();
    this.#anonymous.close();
  }

  #accept(socket: Socket): void {
    this.#anonymous.admit(socket, socket.remoteAddress ?? '', (waiting) => this.#shake(socket, waiting));
  }

  #shake(socket: Socket, waiting: AnonymousSocket): void {
    const peer = peerOf(socket);
    this.#shaking.set(peer, waiting);
    socket.once('close', () => {
      if (this.#shaking.get(peer) === waiting) this.#shaking.delete(peer);
      this.#anonymous.release(waiting);
    });
    // While it waits for its handshake nothing else handles its errors.
    socket.on('error', () => socket.destroy());
    this.#pace.run(() => {
      if (!socket.destroyed) this.#tls.emit('connection', socket);
    });
  }

  #secure(socket: TLSSocket): void {
    const peer = peerOf(socket);
    const waiting = this.#shaking.get(peer);
    this.#shaking.delete(peer);
    // No ALPN at all is let through by OpenSSL; a browser or a scanner that strayed here is not.
    if (waiting === undefined || socket.alpnProtocol !== ALPN) {
      socket.destroy();
      return;
    }
    this.#begin(socket, waiting);
  }

  #begin(socket: TLSSocket, waiting: AnonymousSocket): void {
    waiting.onDeadline = this.#onHandshake(socket, waiting.ip, (isGood) =>
      isGood ? this.#anonymous.known(waiting) : this.#anonymous.release(waiting),
    );
  }
}

function contextOptions({ cert, key }: AgentTls): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.3', ciphers: CIPHERS };
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
