/**
 * The fixtures of the advisory tests: one edge, or one whole server, for all tests of a file, with two tunnels of strangers in front of services
 * that remember what they were sent. Everything comes in by the public listeners.
 */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { after, before } from 'node:test';
import { httpOrigin, Rig, type RigOptions, Wire } from '../../src/data/edge/testing/rig.ts';
import { Account, type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { type Ends, inReverse } from '../harness/ends.ts';

/** A request as a service read it. */
export interface Seen {
  readonly service: string;
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service that remembers whole requests in `seen` and answers with the last one of them. */
function remembering(service: string, seen: Seen[]): RequestListener {
  return (request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const one = { service, line: `${request.method} ${request.url}`, headers: request.headers, body };
      seen.push(one);
      response.end(JSON.stringify(one));
    });
  };
}

export interface Edge {
  readonly rig: Rig;
  /** What the services behind `shop` and `shed` were sent; `take` empties it. */
  take(): Seen[];
}

/** An edge for `*.example.test` with live tunnels `shop` and `shed`. */
export function edgeFixture(options: RigOptions = {}): () => Edge {
  let edge: Edge;
  const ends = inReverse({ after });
  before(async () => {
    const rig = await Rig.start(ends, options);
    const seen: Seen[] = [];
    for (const name of ['shop', 'shed']) {
      const origin = await httpOrigin(ends, remembering(name, seen));
      origin.on('upgrade', (request, socket) => {
        seen.push({ service: name, line: `UPGRADE ${request.url}`, headers: request.headers, body: '' });
        socket.destroy();
      });
      await rig.serve(name, origin.port);
    }
    edge = { rig, take: () => seen.splice(0) };
  });
  return () => edge;
}

/** A request of the API as a stranger, without a bearer. Redirects are not followed. */
export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;

export interface Whole {
  readonly culvert: Culvert;
  /** The first owner, whose tunnel is `shop`. */
  readonly ann: Account;
  /** Of an organization of her own, whose tunnel is `shed`. */
  readonly eve: Account;
  take(): Seen[];
  /** The tunnel of this name. */
  tunnelOf(account: Account, name: string): Promise<string>;
  /** Text to the public HTTP listener, and all that comes back. */
  say(text: string): Promise<string>;
  readonly ask: Ask;
}

/** A whole server for `*.localhost` with the live tunnels `shop` of ann and `shed` of eve. `toml`: whole tables, or a promise of them. */
export function serverFixture(toml: (ends: Ends) => Promise<string> = async () => ''): () => Whole {
  let whole: Whole;
  const ends = inReverse({ after });
  before(async () => {
    const culvert = await startCulvert(ends, await toml(ends));
    const ann = culvert.account;
    const eve = await accountOf(ann, 'eve@example.test');
    const seen: Seen[] = [];
    for (const [name, token] of [
      ['shop', culvert.token],
      ['shed', await eve.mint({ name: 'shed', tunnelQuota: 20 })],
    ] as const) {
      const { port } = await startOrigin(ends, remembering(name, seen));
      await culvert.publish('http', port, { subdomain: name, token });
    }
    whole = {
      culvert,
      ann,
      eve,
      take: () => seen.splice(0),
      tunnelOf,
      say: (text) => say(culvert.httpPort, text),
      ask: (method, path, body, headers = {}) =>
        fetch(ann.apiUrl + path, {
          method,
          redirect: 'manual',
          headers: { 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
    };
  });
  return () => whole;
}

async function tunnelOf(account: Account, name: string): Promise<string> {
  const { body } = await account.call('GET', '/tunnels');
  const found = (body as unknown as Array<{ id: string; subdomain: string }>).find((one) => one.subdomain === name);
  if (found === undefined) throw new Error(`there is no tunnel ${name}`);
  return found.id;
}

/** A new account with an organization of its own. `by`: a superadmin. */
export async function accountOf(by: Account, email: string): Promise<Account> {
  const { status, body } = await by.call('POST', '/superadmin/users', { email, plan: 'enterprise' });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return Account.logIn(by.apiUrl, email, String(body['password']));
}

/** Writes this text (latin1) and an end; resolves with all that was answered. */
export async function say(port: number, text: string, options: { tls?: boolean } = {}): Promise<string> {
  const wire = await Wire.open(port, { ...options, allowHalfOpen: true });
  wire.socket.end(text, 'latin1');
  const all = await wire.all();
  wire.socket.destroy();
  return all;
}

/** A request of these lines; a Host unless they have one. */
export function request(line: string, ...fields: string[]): string {
  const host = fields.some((field) => /^host\b/i.test(field)) ? [] : ['Host: shop.example.test'];
  return [`${line} HTTP/1.1`, ...host, ...fields, '', ''].join('\r\n');
}

/** Status and code of each answer of the edge itself in this text: `403 denied`; of others the status alone. */
export function answersIn(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/g)].map(([head, status]) =>
    `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim(),
  );
}
