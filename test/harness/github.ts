/**
 * A server that is to its clients what GitHub is: authorize page (the `current` user agrees at once), token endpoint with GitHub's
 * answers (errors with status 200; form-encoded unless JSON is asked for), and the two calls of the API. It checks client, secret,
 * redirect URI and PKCE as GitHub does, and takes each code once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ends } from './ends.ts';

const CLIENT = { id: 'Iv1.test', secret: 'github-secret-0123' };

export interface GithubPerson {
  readonly id: number;
  readonly login: string;
  readonly name: string | null;
  readonly emails: ReadonlyArray<{ email: string; primary: boolean; verified: boolean; visibility: string | null }>;
}

export interface Github {
  readonly url: string;
  /** A whole `[oauth.github]` table. */
  readonly settings: string;
  /** Who sits in front of the browser; null refuses. */
  current: GithubPerson | null;
  /** The `error` that the token endpoint answers, whatever is asked. */
  tokenError: string | undefined;
  /** What stands in for the answer of a path: to fail, to say nonsense, to say nothing. */
  readonly instead: Map<string, (response: ServerResponse) => void>;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

interface Grant {
  readonly person: GithubPerson;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** A person with one verified address. */
export function githubPerson(id: number, email: string, change: Partial<GithubPerson> = {}): GithubPerson {
  return {
    id,
    login: `user${id}`,
    name: `Person ${id}`,
    emails: [{ email, primary: true, verified: true, visibility: 'private' }],
    ...change,
  };
}

export async function startGithub(ends: Ends): Promise<Github> {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, GithubPerson>();
  const asked: string[] = [];

  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const redirectUri = query.get('redirect_uri') ?? '';
    const challenge = query.get('code_challenge') ?? '';
    const isRight = query.get('client_id') === CLIENT.id && query.get('code_challenge_method') === 'S256';
    if (!isRight || challenge === '' || !(query.get('scope') ?? '').split(' ').includes('user:email')) {
      response.writeHead(404).end('no such application');
      return;
    }
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    if (github.current === null) {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The user has denied your application access.');
    } else {
      const code = randomBytes(10).toString('hex');
      codes.set(code, { person: github.current, redirectUri, challenge });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  };

  const redeem = (form: URLSearchParams): Record<string, string> => {
    if (github.tokenError !== undefined) return { error: github.tokenError, error_description: 'as told' };
    if (form.get('client_id') !== CLIENT.id || form.get('client_secret') !== CLIENT.secret) {
      return {
        error: 'incorrect_client_credentials',
        error_description: 'The client_id and/or client_secret passed are incorrect.',
      };
    }
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge) {
      return { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
    }
    if (form.get('redirect_uri') !== grant.redirectUri) return { error: 'redirect_uri_mismatch' };
    const token = `gho_${randomBytes(18).toString('hex')}`;
    tokens.set(token, grant.person);
    return { access_token: token, token_type: 'bearer', scope: 'user:email' };
  };

  const api = (request: IncomingMessage, path: string, response: ServerResponse): void => {
    const person = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '');
    // GitHub refuses requests without a user agent.
    if (!request.headers['user-agent'])
      return send(response, 403, { message: 'Request forbidden by administrative rules.' });
    if (person === undefined) return send(response, 401, { message: 'Bad credentials' });
    const { emails, ...user } = person;
    if (path === '/api/user') return send(response, 200, { ...user, email: null });
    if (path === '/api/user/emails') return send(response, 200, emails);
    return send(response, 404, { message: 'Not Found' });
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://github.test');
    asked.push(pathname);
    const instead = github.instead.get(pathname);
    if (instead !== undefined) return instead(response);
    if (pathname === '/login/oauth/authorize') return authorize(searchParams, response);
    if (pathname !== '/login/oauth/access_token') return api(request, pathname, response);
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const answer = redeem(new URLSearchParams(body));
      if (request.headers.accept?.includes('application/json') === true) return send(response, 200, answer);
      response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' });
      response.end(new URLSearchParams(answer).toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  ends.after(close);
  const github: Github = {
    url,
    settings: `[oauth.github]
client_id = "${CLIENT.id}"
client_secret = "${CLIENT.secret}"
authorize_url = "${url}/login/oauth/authorize"
token_url = "${url}/login/oauth/access_token"
api_url = "${url}/api"
`,
    current: null,
    tokenError: undefined,
    instead: new Map(),
    asked,
    close,
  };
  return github;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
