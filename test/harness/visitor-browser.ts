/**
 * A browser of a tunnel's visitor. Public names are not resolved: connections go to loopback, the name is the Host. It asks for pages, as
 * browsers do where a person opens an address.
 */
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { Browser, type BrowserRequest } from './browser.ts';

export class VisitorBrowser extends Browser {
  /** Headers of every request. */
  readonly headers: Record<string, string> = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

  protected override async send(url: URL, init: BrowserRequest): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const form = init.body?.toString();
    const outgoing = (url.protocol === 'https:' ? requestTls : request)({
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname + url.search,
      method: init.method ?? 'GET',
      agent: false,
      headers: {
        ...this.headers,
        ...init.headers,
        host: url.host,
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(url.protocol === 'https:' ? { servername: url.hostname, rejectUnauthorized: false } : {}),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const headers = new Headers();
      for (let i = 0; i < response.rawHeaders.length; i += 2)
        headers.append(response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? '');
      const status = response.statusCode ?? 0;
      buffer(response).then((body) => resolve(new Response(status === 304 ? null : body, { status, headers })), reject);
    });
    outgoing.end(form);
    return promise;
  }
}
