/** A tunnel whose requests are recorded, and the service behind it, which keeps what it was sent. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import type { Ends } from '../harness/ends.ts';

export interface InspectedService {
  readonly culvert: Culvert;
  /** What the service was sent. */
  readonly asked: Array<{
    readonly line: string;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly body: string;
  }>;
  readonly tunnelId: string;
  visit(method: string, path: string, options?: { headers?: Record<string, string>; body?: string }): Promise<number>;
}

export async function startInspectedService(t: Ends): Promise<InspectedService> {
  const culvert = await startCulvert(t);
  const asked: InspectedService['asked'] = [];
  const origin = await startOrigin(t, (incoming, response) => {
    void text(incoming).then((body) => {
      asked.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body });
      response.writeHead(incoming.url === '/missing' ? 404 : 200, {
        'content-type': 'application/json',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.end('{"ok":true}');
    });
  });
  await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const [tunnel] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const visit: InspectedService['visit'] = async (method, path, { headers = {}, body } = {}) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: culvert.httpPort,
      method,
      path,
      headers: { host: `shop.localhost:${culvert.httpPort}`, ...headers },
      agent: false,
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    await text(response);
    return response.statusCode;
  };
  return { culvert, asked, tunnelId: tunnel?.id ?? '', visit };
}
