/** A page with an agent beside it that is not connected to anything, and requests as they would pass. Used by the tests of this folder. */
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import type { TestContext } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { AgentView } from '../events.ts';
import type { LocalFault } from '../local/local.ts';
import { type LocalTarget, parseTarget } from '../local/target.ts';
import type { TunnelSpec } from '../tunnel.ts';
import { type AgentPage, startPage } from './page-server.ts';

export interface Said {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export interface PageFixture {
  readonly page: AgentPage;
  readonly port: number;
  readonly specs: readonly TunnelSpec[];
  /** What the agent is said to be; changed by tests. */
  view: AgentView;
  ask(path: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Said>;
  /** Lets a request and its answer pass on a stream of a tunnel. */
  pass(head: string, answer: string, tunnel?: string): void;
  /** The service of a tunnel can't be reached, two seconds after a request has come. */
  miss(head: string, fault: LocalFault, tunnel?: string): void;
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello';

export function getHead(target: string, ...fields: string[]): string {
  return [`GET ${target} HTTP/1.1`, 'Host: shop.test', 'X-Forwarded-For: 192.0.2.7', ...fields, '', ''].join('\r\n');
}

export async function startPageFixture(
  t: TestContext,
  localPort = 9,
  shop?: { readonly target: LocalTarget },
): Promise<PageFixture> {
  const of = (name: string, protocol: 'http' | 'tcp', more = {}): TunnelSpec => {
    return { name, ...parseTarget(`127.0.0.1:${localPort}`, protocol), ...more };
  };
  const specs = [of('shop', 'http', shop), of('quiet', 'http', { inspect: false }), of('db', 'tcp')];
  const page = await startPage({ port: 0, tunnels: specs, version: '1.2.3', log: silentLog });
  if (page === undefined) throw new Error('the page did not start');
  t.after(() => page.close());
  const port = Number(new URL(page.url).port);
  const fixture: PageFixture = {
    page,
    port,
    specs,
    view: viewOf('online', specs),
    ask: (path, options) => ask(port, path, options),
    pass: (head, answer, tunnel = 'shop') => {
      const target = specs.find(({ name }) => name === tunnel)?.target;
      const watched = target === undefined ? null : page.watch.joined(target);
      const [request, response] = [Buffer.from(head, 'latin1'), Buffer.from(answer, 'latin1')];
      watched?.tap?.request(request, 0, request.length);
      watched?.tap?.answer(response, 0, response.length);
      watched?.close();
    },
    miss: (head, fault, tunnel = 'shop') => {
      const target = specs.find(({ name }) => name === tunnel)?.target;
      const half = Math.floor(head.length / 2);
      const parts = [head.slice(0, half), head.slice(half)].map((part) => Buffer.from(part, 'latin1'));
      if (target !== undefined) page.watch.missed(target, parts, { fault, agoMs: 2_000 });
    },
  };
  page.attach({ view: () => fixture.view }, { meter: { fromSocket: 7, toSocket: 3 } });
  return fixture;
}

export function viewOf(state: AgentView['state'], specs: readonly TunnelSpec[]): AgentView {
  return {
    state,
    server: 'https://culvert.test',
    account: 'Ann',
    rttMs: 3,
    inFlight: 2,
    cause: undefined,
    retryAt: undefined,
    tunnels: specs.map(({ name, protocol, target }) => {
      const url = protocol === 'tcp' ? 'tcp://culvert.test:20001' : `https://${name}.culvert.test`;
      const id = `id-of-${name}`;
      return {
        name,
        protocol,
        target: target.text,
        state: 'online',
        url,
        tunnelId: id,
        expiresAt: null,
        reason: undefined,
        fault: undefined,
      };
    }),
    relays: [],
  };
}

function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Said> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const isJson = answer.headers['content-type']?.startsWith('application/json') === true && text !== '';
        const parsed = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, body: parsed });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Takes a port of 127.0.0.1 for itself. */
export async function takePort(t: TestContext, port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  return server;
}
