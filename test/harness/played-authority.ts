/**
 * An ACME authority that a test plays: right in all it says until the test changes an answer. It checks no signatures and proves no names;
 * pebble does that. Knows renewal information (RFC 9773), which Debian's pebble does not.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CertificateOptions, keyInRequest, makeTestCa, type TestCa } from './ca.ts';
import type { Ends } from './ends.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Of the JWS, decoded. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export type Play = (asked: Asked, response: ServerResponse) => void | Promise<void>;

export interface PlayedAuthority {
  readonly url: string;
  readonly directoryUrl: string;
  readonly ca: TestCa;
  /** Path to what is answered instead. */
  readonly plays: Map<string, Play>;
  readonly asked: Asked[];
  /** Changes what is issued. */
  certificate: Partial<CertificateOptions> & { readonly chain?: (leaf: string) => string };
}

export interface PlayedOptions {
  /** By TLS, with a certificate of `ca` for localhost. */
  readonly tls?: boolean;
}

/** Ends with the test. */
export async function playAuthority(t: Ends, { tls = false }: PlayedOptions = {}): Promise<PlayedAuthority> {
  const ca = await makeTestCa('69885b6b87464041e1b37b847ba0ae2cde01c8d4');
  const listener: RequestListener = (request, response) => void answer(request, response);
  const served = tls ? await ca.issue({ names: ['localhost'] }) : undefined;
  const server = served === undefined ? createServer(listener) : createHttpsServer(served, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const url = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const plays = new Map<string, Play>();
  const self: PlayedAuthority = { url, directoryUrl: `${url}/dir`, ca, plays, asked: [], certificate: {} };

  let nonces = 0;
  let names: string[] = [];
  let proven = new Set<number>();
  let issued = '';
  const order = () => ({
    status: issued !== '' ? 'valid' : proven.size === names.length ? 'ready' : 'pending',
    authorizations: names.map((_, index) => `${url}/authz/${index}`),
    finalize: `${url}/finalize`,
    ...(issued === '' ? {} : { certificate: `${url}/cert` }),
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const asked = { method, path, headers, payload: payloadOf(await text(request)) };
    self.asked.push(asked);
    response.setHeader('replay-nonce', `nonce-${++nonces}`);
    const play = plays.get(path) ?? plays.get(path.replace(/\/[^/]*$/, '/*'));
    await (play ?? usual)(asked, response);
  };

  const usual: Play = async ({ path, payload }, response) => {
    const [, what = '', index = ''] = path.split('/');
    if (what === 'dir') {
      const paths = { newNonce: 'nonce', newAccount: 'account', newOrder: 'orders', renewalInfo: 'ari' };
      return sendJson(response, Object.fromEntries(Object.entries(paths).map(([key, to]) => [key, `${url}/${to}`])));
    }
    if (what === 'nonce') return void response.end();
    if (what === 'account') return sendJson(response.setHeader('location', `${url}/account/1`), { status: 'valid' });
    if (what === 'orders') {
      names = (payload['identifiers'] as { value: string }[]).map(({ value }) => value);
      proven = new Set();
      issued = '';
      return sendJson(response.setHeader('location', `${url}/order`), order(), 201);
    }
    if (what === 'order') return sendJson(response, order());
    if (what === 'authz') {
      const challenge = { type: 'http-01', url: `${url}/challenge/${index}`, token: `token-of-the-name-${index}` };
      const identifier = { type: 'dns', value: names[Number(index)] };
      return sendJson(response, {
        status: proven.has(Number(index)) ? 'valid' : 'pending',
        identifier,
        challenges: [challenge],
      });
    }
    if (what === 'challenge') {
      proven.add(Number(index));
      return sendJson(response, { status: 'processing' });
    }
    if (what === 'finalize') {
      issued = await certify(self, Buffer.from(String(payload['csr']), 'base64url'), names);
      return sendJson(response, order());
    }
    if (what === 'cert')
      return void response.setHeader('content-type', 'application/pem-certificate-chain').end(issued);
    return sendProblem(response, { status: 404, type: 'malformed', detail: 'no such thing' });
  };
  return self;
}

async function certify({ ca, certificate }: PlayedAuthority, csr: Buffer, names: readonly string[]): Promise<string> {
  const { chain, ...changes } = certificate;
  const { cert } = await ca.issue({ names, publicKey: keyInRequest(csr), ...changes });
  return chain === undefined ? `${cert}${ca.root}` : chain(cert);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export interface PlayedProblem {
  readonly status: number;
  /** Without prefix. */
  readonly type: string;
  readonly detail: string;
  readonly [more: string]: unknown;
}

export function sendProblem(response: ServerResponse, { type, ...more }: PlayedProblem): void {
  const body = { type: `urn:ietf:params:acme:error:${type}`, ...more };
  response.writeHead(more.status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
}

function payloadOf(body: string): Readonly<Record<string, unknown>> {
  if (body === '') return {};
  const { payload } = JSON.parse(body) as { payload: string };
  return payload === '' ? {} : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>);
}
