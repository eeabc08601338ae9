/** A server, a tunnel and its service for tests of the inspector. The service answers with what it was asked, or with JSON or a picture. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { Ends } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { type Fixture, startFixture } from './fixture.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Inspected {
  readonly fixture: Fixture;
  /** Of the tunnel `shop`, which refuses what is below /admin. */
  readonly tunnel: string;
  /** Resolves with the status. */
  readonly ask: (path: string, asking?: Asking) => Promise<number>;
}

export async function startInspected(ends: Ends): Promise<Inspected> {
  const fixture = await startFixture(ends, { toml: '[inspector]\nreplay = true\n' });
  const { port } = await startOrigin(ends, answer);
  const agent = fixture.culvert.agent(['http', String(port), '--subdomain', 'shop']);
  await agent.printed(/shop\.localhost/);
  const { body } = await fixture.culvert.account.call('GET', '/tunnels');
  const tunnel = String((body as unknown as { id: string }[])[0]?.id);
  const policy = { actions: [{ kind: 'deny', path_prefix: '/admin' }] };
  await fixture.culvert.account.call('PUT', `/tunnels/${tunnel}/policy`, policy);
  const ask = asking(fixture.culvert.ports.http);
  await until(async () => (await ask('/admin/first')) === 403);
  return { fixture, tunnel, ask };
}

function asking(port: number): Inspected['ask'] {
  return (path, { method = 'GET', headers = {}, body = '' } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const outgoing = request({
      host: '127.0.0.1',
      port,
      agent: false,
      path,
      method,
      headers: { host: 'shop.localhost', 'content-length': Buffer.byteLength(body), ...headers },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => void text(response).then(() => resolve(response.statusCode ?? 0), reject));
    outgoing.end(body);
    return promise;
  };
}

/** The row of the list whose name holds this. */
export function option(page: Page, name: string) {
  return page.getByRole('option', { name }).first();
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.url === '/json') {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    incoming.resume().on('end', () => outgoing.end(gzipSync('{"ok":true}')));
  } else if (incoming.url === '/picture') {
    outgoing.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64'));
  } else {
    outgoing.writeHead(200, { 'content-type': 'text/plain' });
    void text(incoming).then((body) => outgoing.end(`${incoming.method} ${body}`));
  }
}
