/**
 * A data node with its HTTP edge, a real agent's stream server over real TLS and a real multiplexer, and a visitor that writes
 * bytes. Everything of a request's way but the control plane and the command line. Used by tests alone.
 */
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { ServeFloor, StreamServer } from '../../../agent/serve.ts';
import { type LocalTarget, parseTarget } from '../../../agent/local/target.ts';
import type { PasswordHasher } from '../../../argon2/argon2-threads.ts';
import { systemClock } from '../../../base/clock.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import type { Route } from '../../../plane/routes.ts';
import type { Claim } from '../../../wire/messages.ts';
import { TestAgent } from '../../fixtures/agent.ts';
import { testCertificate } from '../../fixtures/certificate.ts';
import { FakeLink, idOf, testGrant, testRoute } from '../../fixtures/link.ts';
import { testSettings } from '../../fixtures/settings.ts';
import { type DataNode, startNode } from '../../node.ts';
import type { EdgeLimits, Http2Engine } from '../../node-settings.ts';
import type { AccessLogSettings } from '../../access-log/access-log.ts';
import type { InspectorSettings } from '../../inspect/recorder.ts';
import type { FetchRules } from '../../policy/jwt/key-fetch.ts';

/** What a thing that was opened lives in: a test, usually. */
export interface Scope {
  after(close: () => void | Promise<void>): void;
}

export interface RigOptions {
  readonly limits?: Partial<EdgeLimits>;
  /** What speaks HTTP/2: our own code where a test says nothing. */
  readonly http2?: Http2Engine | 'off';
  /** DNS names in the certificate; none: a common name alone. */
  readonly certificateNames?: readonly string[];
  readonly trustedProxies?: readonly string[];
  /** Plain HTTP is sent to https; 0: to the listener's own port. */
  readonly httpsRedirectPort?: number;
  /** Load balancers whose PROXY header is asked for. */
  readonly proxyProtocolFrom?: readonly string[];
  readonly issuerKeys?: FetchRules;
  readonly maxResponseHeadBytes?: number;
  readonly maxResponseFields?: number;
  /** Handshakes may wait for certificates: `link.onWanted` says what comes. */
  readonly certificatesOnDemand?: boolean;
  readonly log?: Logger;
  /** Passwords cost next to nothing without it. */
  readonly makeHasher?: () => PasswordHasher;
  /** How often deadlines of visitors are looked at: each second, unless a test waits for many of them. */
  readonly sweepMs?: number;
  readonly host?: string;
  /** Visitors wait so long for an agent that was lost; they don't without it. */
  readonly holdSeconds?: number;
  /** Routes that are there at the start, and whose agents are expected back. */
  readonly awaited?: readonly string[];
  /** What the access log hears of; nothing without it. */
  readonly accessLog?: AccessLogSettings;
  /** null: nothing is recorded; without it all is. */
  readonly inspector?: InspectorSettings | null;
  /** Of the agents. Long unless given: a busy machine takes its time for a handshake. */
  readonly tlsWaitMs?: number;
}

export class Rig {
  /** Where agents dial, when it is not the node itself. */
  agentPort: number | undefined;
  readonly link: FakeLink;
  readonly node: DataNode;
  readonly port: number;
  readonly httpsPort: number;
  /** What visitors of the TLS listener are shown, PEM. */
  readonly certificate: string;
  readonly #floor: ServeFloor;
  readonly #agents: TestAgent[] = [];

  constructor(link: FakeLink, node: DataNode, certificate: string, tlsWaitMs = 10_000) {
    this.#floor = new ServeFloor(systemClock, null, tlsWaitMs);
    this.certificate = certificate;
    this.link = link;
    this.node = node;
    const { http, https } = node.addresses();
    this.port = http?.port ?? 0;
    this.httpsPort = https?.port ?? 0;
  }

  static async start(t: Scope, options: RigOptions = {}): Promise<Rig> {
    const link = new FakeLink();
    const tls = await testCertificate(options.certificateNames);
    link.grants.set('good', testGrant('token-1', { tunnelQuota: 50 }));
    const settings = testSettings(tls, options.limits);
    const listen = { host: options.host ?? '127.0.0.1', port: 0 };
    const { httpsRedirectPort, trustedProxies, proxyProtocolFrom, issuerKeys } = { ...settings.edge, ...options };
    const { maxResponseHeadBytes, maxResponseFields } = { ...settings.edge, ...options };
    const certificatesOnDemand = options.certificatesOnDemand ?? false;
    const listening = { http: listen, https: listen, tls, http2: options.http2 ?? 'own', certificatesOnDemand };
    const edge = {
      ...{ ...settings.edge, ...listening, httpsRedirectPort },
      ...{ trustedProxies, proxyProtocolFrom, issuerKeys, holdSeconds: options.holdSeconds ?? 0 },
      ...{ maxResponseHeadBytes, maxResponseFields },
    };
    const { inspector = settings.inspector, accessLog = null, log = silentLog, makeHasher = makeQuickHasher } = options;
    const sweeps = options.sweepMs === undefined ? {} : { sweepMs: options.sweepMs };
    const awaited = (options.awaited ?? []).map(idOf);
    for (const name of options.awaited ?? []) link.routes.set(idOf(name), testRoute(name));
    const node = await startNode(
      { ...settings, edge, inspector, accessLog, awaited },
      { link, log, makeHasher, ...sweeps },
    );
    const rig = new Rig(link, node, tls.cert, options.tlsWaitMs);
    t.after(() => rig.close());
    return rig;
  }

  /**
   * An agent that serves `name`.example.test from a port of this machine, or from another target. `over`: what else its claim says; `ports`: of its
   * routes.
   */
  async serve(
    name: string,
    to: number | LocalTarget,
    protocol: 'http' | 'https' = 'http',
    over: Partial<Claim> = {},
    ports: readonly number[] = [],
  ): Promise<TestAgent> {
    const agent = await TestAgent.enter(this.agentPort ?? this.node.addresses().agents.port, 'good');
    this.#agents.push(agent);
    const target = typeof to === 'number' ? parseTarget(`127.0.0.1:${to}`, protocol).target : to;
    const targets = ports.map((each) => parseTarget(`127.0.0.1:${each}`, protocol).target);
    const server = new StreamServer(this.#floor, {
      // Visitors that have waited come right behind `bound`.
      targetOf: (_slot, route) => (route === undefined ? target : targets[route]),
      takerOf: () => undefined,
      onTarget: () => {},
      onIdle: () => {},
    });
    agent.onStream = (stream) => server.accept(stream);
    await agent.bind(name, { protocol, ...over });
    return agent;
  }

  /** Puts a route without an agent, or changes one. */
  route(name: string, over: Partial<Route> = {}): void {
    this.link.change({ kind: 'put', route: testRoute(name, over) });
  }

  remove(name: string): void {
    this.link.change({ kind: 'remove', tunnelId: idOf(name), code: 'tunnel_deleted', message: 'gone' });
  }

  visit(options: { tls?: boolean; host?: string; allowHalfOpen?: boolean } = {}): Promise<Wire> {
    return Wire.open(options.tls === true ? this.httpsPort : this.port, options);
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
    await this.node.close();
    this.#floor.close();
  }
}

/** A visitor that writes bytes and reads bytes. */
export class Wire {
  readonly socket: Socket;
  /** All that was read, latin1. Cut by `take`. */
  text = '';
  /** How the other side left: an end in good order, or a cut. */
  readonly closed: Promise<'end' | 'cut'>;
  #over = false;
  #ended = false;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      let failed = false;
      socket.on('error', () => {
        failed = true;
      });
      socket.on('end', () => {
        this.#ended = true;
        if (!socket.allowHalfOpen) return;
        this.#over = true;
        socket.emit('moved');
        resolve('end');
      });
      socket.on('close', () => {
        this.#over = true;
        socket.emit('moved');
        resolve(failed || !this.#ended ? 'cut' : 'end');
      });
    });
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
      socket.emit('moved');
    });
  }

  static async open(
    port: number,
    options: { tls?: boolean; host?: string; allowHalfOpen?: boolean } = {},
  ): Promise<Wire> {
    const to = { port, host: options.host ?? '127.0.0.1', allowHalfOpen: options.allowHalfOpen ?? false };
    const socket =
      options.tls === true ? connectTls({ ...to, rejectUnauthorized: false }) : connect({ ...to, noDelay: true });
    const wire = new Wire(socket);
    await once(socket, options.tls === true ? 'secureConnect' : 'connect');
    return wire;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Sends a request of these lines, with Host. */
  ask(line: string, ...fields: string[]): void {
    const host = fields.some((field) => /^host:/i.test(field)) ? [] : ['Host: shop.example.test'];
    this.send([`${line} HTTP/1.1`, ...host, ...fields, '', ''].join('\r\n'));
  }

  /** Waits until what was read matches; throws when the connection ends before. */
  async until(pattern: string | RegExp): Promise<string> {
    while (!(typeof pattern === 'string' ? this.text.includes(pattern) : pattern.test(this.text))) {
      if (this.#over) throw new Error(`the connection ended before ${String(pattern)}:\n${this.text.slice(0, 2_000)}`);
      await once(this.socket, 'moved');
    }
    return this.text;
  }

  /** Everything up to the end. */
  async all(): Promise<string> {
    await this.closed;
    return this.text;
  }

  /** One response with Content-Length, or without body when `bodiless`; it is taken off the text. */
  async response(bodiless = false): Promise<Reply> {
    const head = /^[^]*?\r\n\r\n/.exec(await this.until('\r\n\r\n'))?.[0] ?? '';
    const length = bodiless ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    while (this.text.length < head.length + length) {
      if (this.#over) throw new Error(`the body was cut short after ${this.text.length - head.length} of ${length}`);
      await once(this.socket, 'moved');
    }
    const body = this.text.slice(head.length, head.length + length);
    this.text = this.text.slice(head.length + length);
    return { status: Number(head.slice(9, 12)), head, body };
  }
}

export interface Reply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A service on node:http. */
export async function httpOrigin(t: Scope, listener: RequestListener): Promise<HttpServer & { port: number }> {
  const server = createHttpServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

export interface RawOrigin {
  readonly server: Server;
  readonly port: number;
  /** All connections so far. */
  readonly sockets: Socket[];
  /** What each of them has sent, latin1. */
  readonly texts: string[];
  /** Waits until connection `index` has sent what matches. */
  arrived(pattern: RegExp, index?: number): Promise<string>;
}

/** A service that gets bytes: `onText` is called with all that a connection has sent so far, whenever more comes. */
export async function rawOrigin(
  t: Scope,
  onText: (socket: Socket, text: string, index: number) => void,
): Promise<RawOrigin> {
  const sockets: Socket[] = [];
  const texts: string[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const index = sockets.push(socket) - 1;
    texts.push('');
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => {
      texts[index] += chunk.toString('latin1');
      onText(socket, texts[index] as string, index);
      server.emit('moved');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const arrived = async (pattern: RegExp, index = 0): Promise<string> => {
    while (!pattern.test(texts[index] ?? '')) await once(server, 'moved');
    return texts[index] as string;
  };
  return { server, port: (server.address() as AddressInfo).port, sockets, texts, arrived };
}

/** Runs `answer` once per complete head that arrives; bodies are not looked at. */
export function perHead(
  answer: (socket: Socket, head: string, count: number) => void,
): (socket: Socket, text: string) => void {
  const seen = new Map<Socket, number>();
  let count = 0;
  return (socket, text) => {
    for (;;) {
      const from = seen.get(socket) ?? 0;
      const end = text.indexOf('\r\n\r\n', from);
      if (end < 0) return;
      seen.set(socket, end + 4);
      answer(socket, text.slice(from, end + 4), ++count);
    }
  };
}
