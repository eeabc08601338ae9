/** A visitor's request to a public name. Names are not resolved: the connection goes to loopback, the name is the Host. */
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  /** The edge's own error code, when it answered by itself. */
  readonly code: string | undefined;
  readonly body: string;
}

/** GET on a connection of its own, with the user name and password of the URL if it has any, or a bearer token. Rejects when there is no answer within `timeoutMs`. */
export async function get(url: string, port: number, timeoutMs = 10_000, bearer?: string): Promise<Answer> {
  const { host, hostname, pathname, search, protocol, username, password } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const open = protocol === 'https:' ? requestTls : request;
  const outgoing = open({
    host: '127.0.0.1',
    port,
    path: pathname + search,
    headers: { host, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) },
    agent: false,
    ...(username === '' ? {} : { auth: `${username}:${password}` }),
    ...(protocol === 'https:' ? { servername: hostname, rejectUnauthorized: false } : {}),
  });
  const timer = setTimeout(() => outgoing.destroy(new Error(`${url} did not answer in ${timeoutMs} ms`)), timeoutMs);
  outgoing.on('close', () => clearTimeout(timer));
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    const code = response.headers['culvert-error'];
    text(response).then(
      (body) => resolve({ status: response.statusCode ?? 0, code: typeof code === 'string' ? code : undefined, body }),
      reject,
    );
  });
  outgoing.end();
  return promise;
}
