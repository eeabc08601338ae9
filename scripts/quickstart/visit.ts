/** A visitor's request to a name that this machine may not resolve: to the edge's own port, with the public name as Host. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Visit {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

/** GET of a public URL by way of 127.0.0.1. Browsers resolve `*.localhost` by themselves; Node and curl ask the system, which may not. */
export async function visit(publicUrl: string, httpPort: number): Promise<Visit> {
  const { host, pathname } = new URL(publicUrl);
  const start = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Visit>();
  const outgoing = request({ host: '127.0.0.1', port: httpPort, path: pathname, headers: { host }, agent: false });
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    text(response).then(
      (body) => resolve({ status: response.statusCode ?? 0, body, ms: performance.now() - start }),
      reject,
    );
  });
  outgoing.setTimeout(10_000, () => outgoing.destroy(new Error(`${publicUrl} did not answer in 10 s`)));
  outgoing.end();
  return promise;
}
