/**
 * A tester of the API by its own document: sends requests that fit it and requests with one mistake, and holds every response to it. Used by
 * openapi.test.ts, and for longer by openapi.fuzz.ts.
 */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { Secret } from '../../src/base/secret.ts';
import { Plane, VISIT } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { Fixtures } from '../control/sweep-fixture.ts';
import type { Person } from '../../src/control/core/testing/team.ts';
import { type Document, type NamedOperation, operationsOf, type Response } from './document.ts';
import { type Caller, type Fitting, fittingOf } from './requests.ts';
import { Schemas } from './schema.ts';

/** Answers of every operation, said in the description of the document; 500 is one too, and never to be seen. */
const EVERYWHERE: ReadonlySet<number> = new Set([405]);
/** An organization has room for so many fixtures. */
const FIXTURES_PER_PERSON = 20;

export interface Sent extends Fitting {
  readonly method: string;
  readonly contentType?: string | undefined;
  /** In place of `body`: the bytes as they are. */
  readonly raw?: string;
}

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export class ApiTester {
  readonly plane: Plane;
  readonly api: PlaneApi;
  readonly #fixtures: Fixtures;
  readonly document: Document;
  readonly schemas: Schemas;
  readonly operations: readonly NamedOperation[];
  /** Requests that were sent. */
  sent = 0;
  #people = 0;
  #person: { readonly person: Person; fixtures: number } | undefined;
  #caller: Caller | undefined;

  private constructor(plane: Plane, api: PlaneApi, document: Document) {
    this.plane = plane;
    this.api = api;
    this.#fixtures = new Fixtures(plane);
    this.document = document;
    this.schemas = new Schemas(document);
    this.operations = operationsOf(document);
  }

  static async start(): Promise<ApiTester> {
    // No server listens there.
    const google = { clientId: 'id', clientSecret: new Secret('secret'), issuer: 'http://127.0.0.1:1' };
    const plane = new Plane(undefined, { udpPorts: { first: 30_000, last: 39_999 }, oauth: { google, github: null } });
    const server_id = plane.control.serverId;
    const at = { agent_address: 'a:1', agent_addresses: ['a:1'], api_url: 'http://a' };
    const discovery = () => ({ version: '1', ...at, edge_domain: 'localhost', server_id });
    const api = await servePlane(plane, { authLimit: { burst: 1_000_000, refillSeconds: 1 }, discovery });
    return ApiTester.over(plane, api);
  }

  /** On a server of the caller's. */
  static async over(plane: Plane, api: PlaneApi): Promise<ApiTester> {
    const document = (await api.call('GET', '/openapi.json')).body as unknown as Document;
    return new ApiTester(plane, api, document);
  }

  async close(): Promise<void> {
    await this.api.close();
    this.plane.close();
  }

  /** A superadmin who owns an organization, and one of each thing in it: the same until they are spent. */
  async caller(): Promise<Caller> {
    return (this.#caller ??= await this.#newCaller());
  }

  /** The next caller has new things. */
  spend(): void {
    this.#caller = undefined;
  }

  /** The next caller is another person: this one's session, account or organization is spent. */
  forget(): void {
    this.#person = undefined;
    this.#caller = undefined;
  }

  async #newCaller(): Promise<Caller> {
    if (this.#person === undefined || this.#person.fixtures >= FIXTURES_PER_PERSON)
      this.#person = { person: await this.#newPerson(), fixtures: 0 };
    this.#person.fixtures++;
    const { person } = this.#person;
    const fixture = await this.#fixtures.of(person);
    const { email, password } = person;
    const login = await this.api.call('POST', '/auth/login', { body: { email, password } });
    return { person, fixture, cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  }

  async #newPerson(): Promise<Person> {
    const email = `p${++this.#people}@example.test`;
    const { accounts, sessions } = this.plane.control;
    const made = await accounts.createUser({ email, name: '', plan: 'enterprise', superadmin: true });
    const password = made.password.reveal();
    const done = await sessions.login({ email, password }, VISIT);
    assert.ok('accessToken' in done);
    const person = { id: made.id, email, password, token: done.accessToken, home: done.activeOrg.id };
    return { ...person, call: (method, path, body) => this.api.call(method, path, { as: person.token, body }) };
  }

  fitting(operation: NamedOperation, caller: Caller): Sent {
    return { method: operation.method, ...fittingOf(operation, caller, this.schemas) };
  }

  /** Sends what fits the path of the operation, as the caller. */
  async send(
    { path, operation }: NamedOperation,
    sent: Sent,
    caller: { readonly person: Pick<Person, 'token'> },
  ): Promise<Got> {
    this.sent++;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(sent.params[name] ?? ''));
    const query = new URLSearchParams(sent.query).toString();
    const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const isOpen = operation.security?.length === 0;
    return this.request(sent.method, query === '' ? filled : `${filled}?${query}`, body, {
      ...(isOpen ? {} : { authorization: `Bearer ${caller.person.token}` }),
      ...(body === undefined ? {} : { 'content-type': sent.contentType ?? 'application/json' }),
      ...sent.headers,
    });
  }

  /** Any method: `fetch` does not send TRACE. */
  async request(
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Got> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { host: '127.0.0.1', port: this.api.port, method, path, headers: { ...headers, ...length } };
      const request = httpRequest(options, (response) => {
        text(response).then(
          (all) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: all }),
          reject,
        );
      });
      request.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
      });
      request.on('error', reject).end(body);
    });
  }

  /** What the document says otherwise about this response. */
  faults({ operation }: NamedOperation, got: Got): readonly string[] {
    const { status } = got;
    const documented = operation.responses[String(status)];
    if (documented === undefined) {
      if (EVERYWHERE.has(status)) return [];
      return [`${status} is not documented: ${got.text.slice(0, 200)}`];
    }
    return [...this.#bodyFaults(documented, got), ...headerFaults(documented, got)].map(
      (fault) => `${status}: ${fault}`,
    );
  }

  #bodyFaults({ content }: Response, got: Got): readonly string[] {
    const type = String(got.headers['content-type'] ?? '').split(';')[0] ?? '';
    if (content === undefined) return got.text === '' ? [] : [`a body of ${type}, none is documented`];
    const media = content[type] ?? content['*/*'];
    if (media === undefined) return [`${type || 'no type'} in place of ${Object.keys(content).join(', ')}`];
    if (type !== 'application/json' || media.schema === undefined) return [];
    const value: unknown = JSON.parse(got.text);
    const faults = [...this.schemas.faults(media.schema, value)];
    const code = got.status >= 400 ? (value as { error: string }).error : undefined;
    if (code !== undefined && !Object.hasOwn(media.examples ?? {}, code))
      faults.push(`the code ${code} is not documented`);
    return faults;
  }
}

function headerFaults({ headers = {} }: Response, got: Got): readonly string[] {
  const known = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return ['location', 'link', 'retry-after', 'allow', 'etag']
    .filter((name) => got.headers[name] !== undefined && !known.has(name))
    .map((name) => `the header ${name} is not documented`);
}
