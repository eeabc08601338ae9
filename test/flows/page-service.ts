/** A service behind an agent that shows its own page, and visitors of its public name. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ends } from '../harness/ends.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

interface Got {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Visit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

export interface PageService {
  readonly culvert: SpawnedCulvert;
  readonly origin: Server;
  /** What the service was sent. */
  readonly got: readonly Got[];
  readonly pageUrl: string;
  /** A visitor's request by the public name; the body of its answer. */
  visit(path: string, options?: Visit): Promise<Buffer>;
  /** What the page's own API answers. */
  api(path: string): Promise<Record<string, unknown>>;
}

export async function startPageService(ends: Ends): Promise<PageService> {
  const got: Got[] = [];
  const origin = createServer((asked, answer) => {
    const parts: Buffer[] = [];
    asked.on('data', (part: Buffer) => parts.push(part));
    asked.on('end', () => {
      const body = Buffer.concat(parts);
      got.push({ line: `${asked.method} ${asked.url}`, headers: asked.headers, body });
      respond(asked.url ?? '', body, answer);
    });
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  ends.after(() => {
    origin.close();
    origin.closeAllConnections();
  });
  const culvert = await spawnCulvert(ends);
  const port = String((origin.address() as AddressInfo).port);
  const agent = culvert.agent(['http', port, '--subdomain', 'shop', '--json', '--inspect-port', '0']);
  await agent.printed(/"tunnel_online"/);
  const pageUrl = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1] ?? '';
  const api: PageService['api'] = async (path) =>
    (await (await fetch(pageUrl + path)).json()) as Record<string, unknown>;
  return { culvert, origin, got, pageUrl, visit: (path, options) => visit(culvert, path, options), api };
}

function respond(path: string, body: Buffer, answer: ServerResponse): void {
  const type = new URL(path, 'http://x').searchParams.get('type');
  if (type !== null) answer.setHeader('Content-Type', type);
  if (path.startsWith('/echo')) answer.end(body);
  else if (path.startsWith('/missing')) answer.writeHead(404).end('no');
  else answer.end('fine');
}

function visit(
  culvert: SpawnedCulvert,
  path: string,
  { method = 'GET', headers = {}, body }: Visit = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: culvert.ports.http, path, method, agent: false as const };
    const asked = request({ ...options, headers: { host: 'shop.localhost', ...headers } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve(Buffer.concat(parts)));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
