/**
 * The way out of this machine for everything that talks to a Culvert server: through a proxy or directly, and the certificates that are trusted.
 * Made once per command (cli/client/outbound.ts).
 */
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect as tlsConnect, getCACertificates, type TLSSocket } from 'node:tls';
import type { Duplex } from 'node:stream';
import type { HostPort } from '../addr.ts';
import { connectThrough } from './http-connect.ts';
import type { Proxy } from './proxy.ts';
import type { ProxyRules } from './proxy-rules.ts';
import { socksThrough } from './socks5.ts';

/** Until the proxy has opened a way. */
const TIMEOUT_MS = 10_000;

export interface OutboundOptions {
  readonly rules?: ProxyRules;
  /** Certificates (PEM) that are trusted beside the usual ones. */
  readonly extraCa?: string | undefined;
}

export class Outbound {
  /** For TLS to a server; undefined: Node's own, with `NODE_EXTRA_CA_CERTS` and the system's where they are in use. */
  readonly ca: string[] | undefined;
  readonly #rules: ProxyRules;
  readonly #agents = new Map<string, HttpAgent>();

  /** Without options: directly, with the usual trust. */
  constructor({ rules = { proxyFor: () => undefined }, extraCa }: OutboundOptions = {}) {
    this.#rules = rules;
    this.ca = extraCa === undefined ? undefined : [...getCACertificates('default'), extraCa];
  }

  /** The proxy on the way to a place; undefined: directly. */
  proxyFor(place: HostPort, protocol: 'http:' | 'https:' = 'https:'): Proxy | undefined {
    return this.#rules.proxyFor(place, protocol);
  }

  /** What the first connection on the way to a place is made to. */
  firstHop(place: HostPort): HostPort {
    return this.proxyFor(place) ?? place;
  }

  /** An open way through `proxy`. @throws ProxyError */
  through(proxy: Proxy, place: HostPort, signal?: AbortSignal): Promise<Socket> {
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    if (proxy.kind === 'http' || proxy.kind === 'https') {
      return connectThrough(proxy, place, { signal: either, ca: this.ca });
    }
    return socksThrough(proxy, place, either);
  }

  /** For `http.request` and `https.request`; connections are kept for the next request. */
  agent(protocol: string): HttpAgent {
    const found = this.#agents.get(protocol) ?? this.newAgent(protocol, { keepAlive: true });
    this.#agents.set(protocol, found);
    return found;
  }

  /** The same for one request. */
  newAgent(protocol: string, options: AgentOptions = {}): HttpAgent {
    if (protocol !== 'https:') return new OutboundHttp(this, options);
    return new OutboundHttps(this, { ...options, ...(this.ca === undefined ? {} : { ca: this.ca }) });
  }
}

type Created = (error: Error | null, stream: Duplex) => void;
type Wanted = Parameters<HttpAgent['createConnection']>[0];

function placeOf(options: Wanted, usual: number): HostPort {
  const { host, port } = options as { host?: string | null; port?: string | number | null };
  return { host: (host ?? 'localhost').replace(/^\[(.*)\]$/, '$1'), port: Number(port ?? usual) };
}

class OutboundHttp extends HttpAgent {
  readonly #outbound: Outbound;

  constructor(outbound: Outbound, options: AgentOptions) {
    super(options);
    this.#outbound = outbound;
  }

  override createConnection(options: Wanted, created?: Created): Duplex | null | undefined {
    const place = placeOf(options, 80);
    const proxy = this.#outbound.proxyFor(place, 'http:');
    if (proxy === undefined) return super.createConnection(options, created);
    hand(this.#outbound.through(proxy, place), created);
    return undefined;
  }
}

class OutboundHttps extends HttpsAgent {
  readonly #outbound: Outbound;

  constructor(outbound: Outbound, options: ConstructorParameters<typeof HttpsAgent>[0]) {
    super(options);
    this.#outbound = outbound;
  }

  override createConnection(options: Wanted, created?: Created): Duplex | null | undefined {
    const place = placeOf(options, 443);
    const proxy = this.#outbound.proxyFor(place, 'https:');
    if (proxy === undefined) return super.createConnection(options, created);
    hand(
      this.#outbound.through(proxy, place).then((socket) => tlsOver(socket, place, this.#outbound.ca)),
      created,
    );
    return undefined;
  }
}

/** An error of the handshake comes by the socket, as without a proxy. */
function tlsOver(socket: Socket, { host }: HostPort, ca: string[] | undefined): TLSSocket {
  const name = isIP(host) === 0 ? { servername: host } : { host };
  return tlsConnect({ socket, ...name, ...(ca === undefined ? {} : { ca }), ALPNProtocols: ['http/1.1'] });
}

function hand(socket: Promise<Duplex>, created: Created | undefined): void {
  socket.then(
    (open) => created?.(null, open),
    // Of a failure there is no stream; Node's type has it all the same.
    (error: unknown) => created?.(error as Error, undefined as unknown as Duplex),
  );
}
