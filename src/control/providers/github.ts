/**
 * GitHub, or a GitHub Enterprise server, as identity provider: OAuth 2 with PKCE, then two calls of its API. There is no ID token: what the
 * API answers to the fresh access token is the proof. The token is used for these two calls and then forgotten.
 */
import type { Configuration, CustomFetchOptions } from 'openid-client';
import { type Fetch, fetchFor } from './bounded-fetch.ts';
import {
  CALL_SECONDS,
  type ClientCredentials,
  type Finding,
  findingOf,
  type IdentityProvider,
  type LoginSecrets,
  refusalOf,
  type VouchedPerson,
} from './oauth.ts';

export interface GithubOptions extends ClientCredentials {
  /** Plain http is for servers on this machine: the settings refuse any other. */
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly apiUrl: string;
  /** The server must have public addresses. */
  readonly isPublic?: boolean;
}

/** The version of the API that these calls are written for; GitHub keeps old ones for two years. */
const API_VERSION = '2022-11-28';

/** What OAuth 2 itself defines. GitHub's own additions, an `iss` among them, mean nothing to this flow. */
const OAUTH_ANSWER: ReadonlySet<string> = new Set(['code', 'state', 'error', 'error_description']);

const loadClient = () => import('openid-client');

export class GithubProvider implements IdentityProvider {
  readonly name = 'GitHub';
  readonly #options: GithubOptions;
  /** Ids are unique per server: the web address tells servers apart, also once its API has moved. */
  readonly #issuer: string;
  #made: Promise<Configuration> | undefined;

  constructor(options: GithubOptions) {
    this.#options = options;
    this.#issuer = new URL(options.authorizeUrl).origin;
  }

  async start(login: LoginSecrets, how?: { readonly chooses: boolean }): Promise<URL> {
    const client = await loadClient();
    return client.buildAuthorizationUrl(await this.#config(), {
      redirect_uri: login.redirectUri,
      // Enough for the public profile and the addresses; asks for no right to change anything.
      scope: 'user:email',
      state: login.state,
      code_challenge: await client.calculatePKCECodeChallenge(login.verifier),
      code_challenge_method: 'S256',
      ...(how?.chooses === true ? { prompt: 'select_account' } : {}),
    });
  }

  async finish(login: LoginSecrets, answer: URLSearchParams): Promise<VouchedPerson> {
    const client = await loadClient();
    const config = await this.#config();
    const url = new URL(login.redirectUri);
    for (const [key, value] of answer) if (OAUTH_ANSWER.has(key)) url.searchParams.append(key, value);
    try {
      const { access_token } = await client.authorizationCodeGrant(config, url, {
        expectedState: login.state,
        pkceCodeVerifier: login.verifier,
      });
      const [user, emails] = await Promise.all([
        this.#ask(config, access_token, '/user'),
        this.#ask(config, access_token, '/user/emails?per_page=100'),
      ]);
      const { id, name, login: handle } = asRecord(user);
      if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw new Error('/user has no numeric id');
      const primary = primaryEmail(emails);
      return {
        issuer: this.#issuer,
        subject: String(id),
        ...primary,
        name: [name, handle].find((text) => typeof text === 'string' && text !== '')?.toString() ?? '',
      };
    } catch (error) {
      throw refusalOf(error, this.name);
    }
  }

  /** Asks about a code that is none. Never rejects. */
  async check({ redirectUri, verifier }: LoginSecrets): Promise<Finding> {
    const client = await loadClient();
    try {
      const asked = { code: 'culvert-test', redirect_uri: redirectUri, code_verifier: verifier };
      await client.genericGrantRequest(await this.#config(), 'authorization_code', asked);
      return { ok: false, detail: `${this.name} accepted a code that it did not issue. Check its URLs.` };
    } catch (error) {
      return findingOf(error, this.name);
    }
  }

  async #ask(config: Configuration, accessToken: string, path: string): Promise<unknown> {
    const client = await loadClient();
    const headers = new Headers({ accept: 'application/vnd.github+json', 'x-github-api-version': API_VERSION });
    const url = new URL(this.#options.apiUrl + path);
    const response = await client.fetchProtectedResource(config, accessToken, url, 'GET', undefined, headers);
    if (response.status !== 200) throw new Error(`${url.pathname} responded with ${response.status}`);
    return response.json();
  }

  #config(): Promise<Configuration> {
    this.#made ??= this.#makeConfig();
    return this.#made;
  }

  async #makeConfig(): Promise<Configuration> {
    const client = await loadClient();
    const { authorizeUrl, tokenUrl, apiUrl, clientId, clientSecret } = this.#options;
    const config = new client.Configuration(
      { issuer: this.#issuer, authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl },
      clientId,
      undefined,
      client.ClientSecretPost(clientSecret.reveal()),
    );
    config.timeout = CALL_SECONDS;
    config[client.customFetch] = fromGithub(fetchFor(this.#options));
    if ([authorizeUrl, tokenUrl, apiUrl].some((url) => url.startsWith('http:'))) client.allowInsecureRequests(config);
    return config;
  }
}

/** GitHub answers a refused code with 200 and `{error}`; RFC 6749 §5.2 and the library expect 400. */
function fromGithub(fetch: Fetch) {
  return async (url: string, options: CustomFetchOptions): Promise<Response> => {
    const response = await fetch(url, options);
    if (options.method !== 'POST' || response.status !== 200) return response;
    const body = await response.text();
    return new Response(body, { status: /"error"\s*:/.test(body) ? 400 : 200, headers: response.headers });
  };
}

/** The address that the person has made the primary one. GitHub never says that an address is verified unless it wrote to it. */
function primaryEmail(emails: unknown): { email: string | null; emailVerified: boolean } {
  const rows: readonly unknown[] = Array.isArray(emails) ? emails : [];
  const primary = rows.map(asRecord).find((row) => row['primary'] === true);
  const email = primary?.['email'];
  if (typeof email !== 'string' || email === '') return { email: null, emailVerified: false };
  return { email, emailVerified: primary?.['verified'] === true };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
