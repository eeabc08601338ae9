/**
 * Opens a connection to a local target: each of its addresses in turn, TLS where asked, one deadline. The agent dials nothing
 * else, and only what its own settings name.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Sweeper } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { REPLY, type ReplyCode } from '../../wire/preamble.ts';
import type { LocalTarget, LocalWay } from './target.ts';

/** How long a service may take to accept. */
export const CONNECT_TIMEOUT_MS = 10_000;

export interface LocalFault {
  readonly code: ReplyCode;
  /** For the visitor's error page and the agent's screen. */
  readonly text: string;
}

export interface DialResult {
  onConnected(socket: Socket): void;
  /** Not called after `cancel`. */
  onFault(fault: LocalFault): void;
}

/** One attempt to reach a target. Swept for its deadline, so that a stream costs no timer. */
export class LocalDial {
  readonly #target: LocalTarget;
  readonly #result: DialResult;
  readonly #sweeper: Sweeper<LocalDial>;
  readonly #deadline: number;
  #socket: Socket | undefined;
  #giveUp: (() => void) | undefined;
  #hostIndex = 0;
  #over = false;

  constructor(target: LocalTarget, options: { result: DialResult; sweeper: Sweeper<LocalDial>; nowMs: number }) {
    this.#target = target;
    this.#result = options.result;
    this.#sweeper = options.sweeper;
    this.#deadline = options.nowMs + (target.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    this.#sweeper.add(this);
    this.#next();
  }

  sweep(nowMs: number): void {
    if (nowMs < this.#deadline) return;
    this.cancel();
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#target;
    const text = `${this.#target.text} did not respond within ${connectTimeoutMs / 1000} s`;
    this.#result.onFault({ code: REPLY.timeout, text });
  }

  /** Gives up; nothing is reported. */
  cancel(): void {
    if (this.#over) return;
    this.#leave();
    this.#giveUp?.();
    this.#socket?.on('error', ignoreLate);
    this.#socket?.destroy();
  }

  #next(): void {
    const { inProcess, way } = this.#target;
    if (inProcess !== undefined) return this.#join(inProcess);
    if (way !== undefined) return this.#goBy(way);
    const socket = this.#open(this.#target.hosts[this.#hostIndex++]);
    this.#socket = socket;
    const ready = this.#target.tls ? 'secureConnect' : 'connect';
    const onError = (error: Error): void => {
      if (this.#over) return;
      const refused = codeOf(error) === 'ECONNREFUSED';
      if (refused && this.#hostIndex < this.#target.hosts.length) return this.#next();
      this.#leave();
      this.#result.onFault(faultOf(error, this.#target));
    };
    socket.on('error', onError);
    socket.once(ready, () => {
      if (this.#over) return;
      this.#leave();
      socket.off('error', onError);
      this.#result.onConnected(socket);
    });
  }

  /** It can't fail. Not at once, as a dial never ends at once. */
  #join(inProcess: { connect(): Socket }): void {
    queueMicrotask(() => {
      if (this.#over) return;
      this.#leave();
      this.#result.onConnected(inProcess.connect());
    });
  }

  #goBy(way: LocalWay): void {
    this.#giveUp = way.connect({
      onConnected: (socket) => {
        if (this.#over) {
          socket.destroy();
          return;
        }
        this.#leave();
        this.#result.onConnected(socket);
      },
      onFault: (fault) => {
        if (this.#over) return;
        this.#leave();
        this.#result.onFault(fault);
      },
    });
  }

  /** `host`: undefined for a socket in the file system. */
  #open(host: string | undefined): Socket {
    const { port, socketPath, tls, verifyTls, serverName, secureContext, alpn = ['http/1.1'] } = this.#target;
    const place = socketPath === undefined ? { host: host as string, port } : { path: socketPath };
    if (!tls) return connectTcp({ ...place, allowHalfOpen: true, noDelay: true });
    // The certificate of a service is accepted unless the user asked for a check: it is on this side of the tunnel.
    const options = {
      ...place,
      allowHalfOpen: true, // Node takes it; its types don't list it
      rejectUnauthorized: verifyTls,
      ALPNProtocols: alpn,
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(secureContext === undefined ? {} : { secureContext }),
    };
    return connectTls(options).setNoDelay(true);
  }

  #leave(): void {
    this.#over = true;
    this.#sweeper.delete(this);
  }
}

const ignoreLate = (): void => {}; // the attempt was given up: what its socket still reports has no reader

function faultOf(error: Error, target: LocalTarget): LocalFault {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
      return { code: REPLY.refused, text: `${target.text} refused the connection` };
    case 'ENOENT':
      return { code: REPLY.refused, text: `${target.text}: there is no such socket` };
    case 'EACCES':
      return { code: REPLY.failed, text: `${target.text}: this user may not connect to it` };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { code: REPLY.failed, text: `the host name of ${target.text} can't be resolved` };
    case 'EMFILE':
    case 'ENFILE':
      return { code: REPLY.failed, text: `${target.text}: the agent has no free file descriptors (raise ulimit -n)` };
    case 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL':
      return noCommonProtocol(target);
    case 'ETIMEDOUT':
      return { code: REPLY.timeout, text: `${target.text} did not respond` };
    default:
      return { code: REPLY.failed, text: `${target.text}: ${messageOf(error)}` };
  }
}

/** The service's TLS has refused all protocols that were offered. */
function noCommonProtocol({ text, alpn }: LocalTarget): LocalFault {
  if (alpn !== undefined)
    return { code: REPLY.failed, text: `${text} does not offer HTTP/2: leave out --upstream-protocol` };
  return { code: REPLY.speaksHttp2, text: `${text} speaks HTTP/2 only: add --upstream-protocol http2` };
}
