/** The REST API as an operator with a log-in uses it. */
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

/** Bounds a hang and checks no speed: beside another run of all tests a log-in takes ten seconds. */
const HANG_MS = 30_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export class Account {
  readonly apiUrl: string;
  /** Its access token. */
  readonly bearer: string;

  constructor(apiUrl: string, bearer: string) {
    this.apiUrl = apiUrl;
    this.bearer = bearer;
  }

  static async logIn(apiUrl: string, email: string, password: string): Promise<Account> {
    const { status, body } = await call(apiUrl, { method: 'POST', path: '/auth/login', body: { email, password } });
    if (status !== 200) throw new Error(`log-in answered ${status}: ${JSON.stringify(body)}`);
    return new Account(apiUrl, String(body['access_token']));
  }

  call(method: string, path: string, body?: object): Promise<ApiAnswer> {
    return call(this.apiUrl, { method, path, body, bearer: this.bearer });
  }

  /** A new key, without a bandwidth limit. Throws when it was refused. */
  async mint(input: object = { name: 'harness', tunnelQuota: 100, bandwidthLimitMbps: 10_000 }): Promise<string> {
    const { status, body } = await this.call('POST', '/tokens', input);
    if (status !== 201 && status !== 200) throw new Error(`minting answered ${status}: ${JSON.stringify(body)}`);
    return String(body['apiKey']);
  }
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly bearer?: string;
}

// A connection of its own per call, and not fetch: its pool would keep connections to servers that tests kill.
async function call(apiUrl: string, { method, path, body, bearer }: Call): Promise<ApiAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
  const sent = body === undefined ? '' : JSON.stringify(body);
  const url = new URL(path, apiUrl);
  const outgoing = (url.protocol === 'https:' ? requestTls : request)(url, {
    method,
    agent: false,
    timeout: HANG_MS,
    headers: {
      'content-type': 'application/json',
      // Said here: of the body of a DELETE, Node would say nothing.
      'content-length': Buffer.byteLength(sent),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
  });
  outgoing.on('error', reject);
  outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path} did not answer in ${HANG_MS / 1000} s`)));
  outgoing.on('response', (response) => {
    text(response).then((answer) => {
      const parsed: unknown = answer === '' ? {} : JSON.parse(answer);
      resolve({ status: response.statusCode ?? 0, body: parsed as Record<string, unknown> });
    }, reject);
  });
  outgoing.end(sent);
  return promise;
}
