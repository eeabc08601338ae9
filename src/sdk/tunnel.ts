/**
 * A tunnel of a program's own: an agent with one tunnel, its events as those of the package. The agent is the one of the command line
 * (src/agent); a tunnel has a session of its own, so that one that ends takes no other with it.
 */
import { hostname, release } from 'node:os';
import { type Agent, startAgent } from '../agent/agent.ts';
import { makeConnector } from '../agent/connect/connect.ts';
import type { AgentEvent, ExitReason } from '../agent/events.ts';
import type { TunnelSpec } from '../agent/tunnel.ts';
import { messageOf } from '../base/errors.ts';
import { silentLog } from '../base/log.ts';
import { buildInfo } from '../base/process/version.ts';
import { CulvertError } from './error.ts';
import { type Connection, connectionOf } from './settings.ts';
import type { ErrorCode, Tunnel, TunnelEvents, TunnelOptions, TunnelStatus } from './types.ts';

const START_MS = 30_000;
/** As the command line gives running requests at Ctrl-C. */
const GRACE_MS = 2_000;
/** The agent's exit codes (src/agent/codes.ts) as the package names them. */
const CODES: Readonly<Record<number, ErrorCode>> = { 2: 'usage', 3: 'unauthorized', 4: 'refused' };

/** Resolves once the public URL works. @throws CulvertError as `ErrorCode` says. */
export async function openTunnel(spec: Omit<TunnelSpec, 'name'>, options: TunnelOptions): Promise<Tunnel> {
  if (options.signal?.aborted === true) throw new CulvertError('aborted', 'the tunnel was ended before it began');
  const connection = connectionOf(options);
  await connection.token(); // a missing key is the caller's mistake: said now, instead of tried again
  const tunnel = new AgentTunnel({ ...spec, name: 'tunnel' }, connection);
  try {
    await tunnel.online(options.timeoutMs ?? START_MS, options.signal);
  } catch (error) {
    tunnel.destroy();
    throw error;
  }
  return tunnel;
}

class AgentTunnel implements Tunnel {
  readonly #agent: Agent;
  readonly #listeners: { [Name in keyof TunnelEvents]: Set<(event: TunnelEvents[Name]) => void> } = {
    request: new Set(),
    status: new Set(),
  };
  readonly #over: Promise<void>;
  readonly #isOnline = Promise.withResolvers<void>();
  #cause = 'no connection yet';

  constructor(spec: TunnelSpec, { server, token, outbound }: Connection) {
    const connector = makeConnector({ server, log: silentLog, outbound });
    const { version } = buildInfo();
    this.#agent = startAgent({
      server: server.href,
      tunnels: [spec],
      identity: { version, os: `${process.platform} ${release()}`, hostname: hostname() },
      token,
      open: connector.open,
      reach: connector.reach,
      tryAnother: connector.tryAnother,
      log: silentLog,
      watch: true,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#over = this.#agent.done.then((reason) => {
      connector.close();
      this.#onOver(reason);
    });
  }

  get url(): string {
    return this.#view.url ?? '';
  }

  get id(): string {
    return this.#view.tunnelId ?? '';
  }

  get #view(): { readonly url: string | undefined; readonly tunnelId: string | undefined } {
    return this.#agent.view().tunnels[0] ?? { url: undefined, tunnelId: undefined };
  }

  on<Name extends keyof TunnelEvents>(name: Name, listener: (event: TunnelEvents[Name]) => void): () => void {
    this.#listeners[name].add(listener);
    return () => void this.#listeners[name].delete(listener);
  }

  async close(graceMs: number = GRACE_MS): Promise<void> {
    this.#agent.drain(graceMs);
    await this.#over;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  destroy(): void {
    this.#agent.destroy();
  }

  /** Resolves when the tunnel is online for the first time. @throws CulvertError */
  async online(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, reject } = this.#isOnline;
    const onAbort = (): void => {
      reject(new CulvertError('aborted', 'the tunnel was ended by its signal', { cause: signal?.reason }));
      void this.close(0);
    };
    const timer = setTimeout(() => {
      reject(new CulvertError('timeout', `no tunnel within ${timeoutMs} ms: ${this.#cause}`));
    }, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    void this.#over.then(() => signal?.removeEventListener('abort', onAbort));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #onEvent(event: AgentEvent): void {
    switch (event.kind) {
      case 'tunnel_online':
        this.#isOnline.resolve();
        return this.#emitStatus({ state: 'online' });
      case 'request': {
        const { at, method, path, status, ms } = event.request;
        return this.#emit('request', { at, method, path, status, ms });
      }
      case 'retrying':
        this.#cause = event.cause;
        return;
      case 'tunnel_refused':
        this.#cause = event.message;
        return event.final ? undefined : this.#emitStatus({ state: 'reconnecting', reason: event.message });
      case 'tunnel_offline':
        return this.#emitStatus({ state: 'reconnecting', reason: event.reason });
      default:
        return;
    }
  }

  #onOver({ code, message }: ExitReason): void {
    this.#isOnline.promise.catch(() => undefined); // the caller of `online` gets it
    this.#isOnline.reject(new CulvertError(CODES[code] ?? 'failure', message));
    this.#emitStatus({ state: 'closed', reason: message });
  }

  #emitStatus(status: TunnelStatus): void {
    this.#emit('status', status);
  }

  /** A listener that throws is the program's fault, not the tunnel's: it gets its own error, and the others their event. */
  #emit<Name extends keyof TunnelEvents>(name: Name, event: TunnelEvents[Name]): void {
    for (const listener of this.#listeners[name]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error instanceof Error ? error : new Error(messageOf(error));
        });
      }
    }
  }
}
