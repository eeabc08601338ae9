/**
 * A way through an HTTP proxy: CONNECT with Basic authentication. Node's own `proxyEnv` and `NODE_USE_ENV_PROXY` serve HTTP requests alone, know
 * no SOCKS and hand out no socket; the agent's session needs one. Node's parser does the work here, so that a package would save nothing.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { formatHostPort, type HostPort } from '../addr.ts';
import { type Proxy, ProxyError, unreachableProxy } from './proxy.ts';

/** What a proxy says when it is there and what is behind it is not. */
const NO_WAY_NOW: ReadonlySet<number> = new Set([502, 503, 504]);

export interface ConnectOptions {
  readonly signal: AbortSignal;
  /** Certificates that the TLS of an `https://` proxy is verified by; the usual ones when not given. */
  readonly ca?: string[] | undefined;
}

/** Resolves with the open way to `place`. @throws ProxyError, or the reason of `signal`. */
export function connectThrough(proxy: Proxy, place: HostPort, options: ConnectOptions): Promise<Socket> {
  const target = formatHostPort(place);
  return new Promise((resolve, reject) => {
    const asked = ask(proxy, target, options);
    asked.once('connect', (response: IncomingMessage, socket: Socket, head: Buffer) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) {
        socket.destroy();
        return reject(refusal(proxy, target, status));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.once('response', (response) => {
      response.destroy();
      reject(refusal(proxy, target, response.statusCode ?? 0));
    });
    asked.on('error', (cause) => reject(options.signal.aborted ? cause : unreachableProxy(proxy, cause)));
    asked.end();
  });
}

function ask(proxy: Proxy, target: string, { signal, ca }: ConnectOptions): ClientRequest {
  const { kind, host, port, user, password } = proxy;
  const login = Buffer.from(`${user}:${password.reveal()}`).toString('base64');
  const options: RequestOptions = {
    ...{ host, port, signal, method: 'CONNECT', path: target, agent: false, setHost: false },
    headers: { host: target, ...(user === undefined ? {} : { 'proxy-authorization': `Basic ${login}` }) },
  };
  if (kind !== 'https') return httpRequest(options);
  // Without it Node takes the name of the Host header, which is the target's.
  const name = { servername: isIP(host) === 0 ? host : '' };
  return httpsRequest({ ...options, ...name, ...(ca === undefined ? {} : { ca }) });
}

function refusal(proxy: Proxy, target: string, status: number): ProxyError {
  const why = `does not connect to ${target} (status ${status})`;
  if (NO_WAY_NOW.has(status)) return new ProxyError(proxy, why, { isPassing: true });
  return new ProxyError(proxy, reasonOf(proxy, target, status) ?? why, { isPassing: false });
}

function reasonOf({ user, namedBy }: Proxy, target: string, status: number): string | undefined {
  if (status === 407) {
    return user === undefined
      ? `requires a login (status 407). Put user and password into ${namedBy}: http://USER:PASSWORD@HOST:PORT`
      : `rejects the user or the password in ${namedBy} (status 407)`;
  }
  if (status === 403 || status === 405) {
    return `does not allow connections to ${target} (status ${status}). Ask its operator to allow them, or use port 443`;
  }
  return undefined;
}
