/**
 * The agent's own page: a small HTTP server on 127.0.0.1 and nowhere else, with what the agent has seen of its latest requests. Started by
 * cli/agent/run-agent.ts before the agent connects. Nothing that goes wrong here, a port that is taken least of all, ends or slows the agent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PipeMeter } from '../../base/bytes/pipe.ts';
import type { AgentEvent } from '../events.ts';
import type { TunnelSpec } from '../tunnel.ts';
import { AgentSource, type ShownAgent } from './agent-source.ts';
import { EventFeed } from './event-feed.ts';
import { GUARD_FIELDS, refusalOf } from './guard.ts';
import { answerPage, refuse, statusOf } from './page-routes.ts';
import { Replays } from './replay.ts';
import { StartedTunnels, type TunnelList } from './started-tunnels.ts';
import { Watch } from './watch.ts';

/** Scripts that were written for ngrok look here. */
export const USUAL_PORT = 4_040;
/** Ports that are tried: a second agent on the machine finds the next one free. */
const TRIED_PORTS = 21;
/** Browsers open no page there, and fetch() rejects: of https://fetch.spec.whatwg.org/#bad-port those that need no privilege. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([
  ...[1_719, 1_720, 1_723, 2_049, 3_659, 4_045, 4_190, 5_060, 5_061, 6_000, 6_566],
  ...[6_665, 6_666, 6_667, 6_668, 6_669, 6_679, 6_697, 10_080],
]);
const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 128;
const REQUEST_MS = 10_000;

export interface PageOptions {
  /** The first port that is tried; 0: the system chooses. */
  readonly port: number;
  readonly tunnels: readonly TunnelSpec[];
  readonly version: string;
  readonly log: Logger;
}

export interface AgentPage {
  readonly url: string;
  /** For the connector: told of each connection to a service. */
  readonly watch: Watch;
  /** Without `list`, programs can't start or stop tunnels. */
  attach(agent: ShownAgent, parts: { readonly meter: PipeMeter; readonly list?: TunnelList }): void;
  onEvent(event: AgentEvent): void;
  close(): void;
}

/** Starts the page. Undefined: it could not, and the log says why. Never rejects. */
export async function startPage(options: PageOptions): Promise<AgentPage | undefined> {
  const { port, log } = options;
  const last = port === 0 ? 0 : Math.min(65_535, port + TRIED_PORTS - 1);
  const page = new Page(options);
  for (let at = port; at <= last; at++) {
    if (REFUSED_PORTS.has(at)) continue;
    try {
      await page.listen(at);
      log.info({ url: page.url }, 'local inspector started');
      return page;
    } catch (error) {
      // Some systems keep ports for themselves and say so by EACCES.
      if (codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES') continue;
      log.warn({ cause: messageOf(error) }, 'the local inspector could not start; the tunnels are not affected');
      page.close();
      return undefined;
    }
  }
  page.close();
  const hint = 'the local inspector could not start: no port is free. The tunnels are not affected';
  log.warn({ from: port, to: last }, `${hint}. Set another port with --inspect-port, or use --no-inspect`);
  return undefined;
}

class Page implements AgentPage {
  readonly watch: Watch;
  readonly #log: Logger;
  readonly #server: Server;
  readonly #source: AgentSource;
  readonly #feed: EventFeed;
  readonly #replays: Replays;
  #started: StartedTunnels | undefined;
  #port = 0;

  constructor({ tunnels, version, log }: PageOptions) {
    this.#log = log;
    this.#source = new AgentSource(version);
    this.watch = new Watch(tunnels, { log });
    this.#replays = new Replays(this.watch);
    this.#feed = new EventFeed(this.watch.ring, this.watch.tally, () => statusOf(this.#source));
    const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_MS };
    this.#server = createServer(limits, (request, response) => this.#answer(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  get url(): string {
    return `http://${HOST}:${this.#port}`;
  }

  /** May be called again when it has rejected: nothing of a try stays. */
  listen(port: number): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const refused = (error: Error): void => {
        server.off('listening', listening);
        reject(error);
      };
      const listening = (): void => {
        server.off('error', refused);
        server.on('error', (error) =>
          this.#log.warn({ cause: messageOf(error) }, 'the listener of the local inspector failed'),
        );
        this.#port = (server.address() as AddressInfo).port;
        resolve();
      };
      server.once('error', refused).once('listening', listening);
      server.listen({ port, host: HOST, exclusive: true });
    });
  }

  attach(agent: ShownAgent, { meter, list }: { readonly meter: PipeMeter; readonly list?: TunnelList }): void {
    this.#source.attach(agent, meter);
    this.#started = list === undefined ? undefined : new StartedTunnels(list);
  }

  onEvent(event: AgentEvent): void {
    this.#source.onEvent(event);
    this.#started?.onEvent(event);
    if (event.kind !== 'request') this.#feed.tellFacts();
  }

  close(): void {
    this.#feed.close();
    this.#replays.close();
    this.watch.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    for (const [name, value] of Object.entries(GUARD_FIELDS)) response.setHeader(name, value);
    const url = URL.parse(request.url ?? '', this.url);
    const path = url?.pathname ?? '';
    const refusal = refusalOf({ method: request.method, path, headers: request.headers }, this.#port);
    if (refusal !== undefined) return refuse(response, 403, refusal);
    if (url === null || !(request.url ?? '').startsWith('/'))
      return refuse(response, 400, 'the request path is invalid');
    const parts = {
      source: this.#source,
      watch: this.watch,
      feed: this.#feed,
      replays: this.#replays,
      started: this.#started,
    };
    answerPage(parts, { request, response, url }).catch((error: unknown) => {
      this.#log.error({ err: error, path }, 'a request to the local inspector failed');
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'the local inspector failed; see the log of the agent');
    });
  }
}
