/**
 * A real OpenID provider for tests: npm `oidc-provider` on loopback, in this process, with its own pages to log in and to consent, which
 * `logIn` clicks through. It demands PKCE.
 *
 *   const oidc = await startOidc(ends);
 *   const harness = await startHarness(`${LOOSE}\n${oidc.settings}`);
 *   oidc.register(`${harness.server.apiUrl}/auth/oauth/google/callback`);
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Browser, Page } from './browser.ts';
import type { Ends } from './ends.ts';

/** Of the one client that the provider knows. */
export const OIDC_CLIENT = { id: 'culvert-test', secret: 'a secret with / and + and %' };

export interface OidcPerson {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export interface OidcOptions {
  /** The path of the issuer, for providers that live below one: `/realms/x/`. */
  readonly path?: string;
  /** True puts e-mail and name into the ID token, as Google does; else they are at the userinfo endpoint. */
  readonly claimsInIdToken?: boolean;
}

export interface Oidc {
  readonly issuer: string;
  /** A whole `[oauth.google]` table. */
  readonly settings: string;
  /** What is said about people, by the name that they log in with, which is also their subject. */
  readonly people: Map<string, OidcPerson>;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  register(redirectUri: string): void;
  /** From `url` (the start of a log-in) through log-in and consent; ends at the redirect back to the client, which is not followed. */
  logIn(browser: Browser, url: string | URL, login: string): Promise<URL>;
  /** The same for a user who clicks on "cancel". */
  cancel(browser: Browser, url: string | URL): Promise<URL>;
  close(): Promise<void>;
}

export async function startOidc(ends: Ends, options: OidcOptions = {}): Promise<Oidc> {
  const people = new Map<string, OidcPerson>();
  const asked: string[] = [];
  let answer: ReturnType<Provider['callback']> | undefined;
  const path = options.path ?? '';
  const mount = path.replace(/\/$/, '');
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (answer === undefined || request.url?.startsWith(mount) !== true) {
      response.writeHead(404).end();
      return;
    }
    Object.assign(request, { originalUrl: request.url, url: request.url.slice(mount.length) });
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  ends.after(close);
  let callback = '';

  const backAt = (url: URL): boolean => url.href.startsWith(callback);
  const submit = async (browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> => {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
    assert.ok(action !== undefined, `no form at ${page.url.href}: ${page.status} ${page.text.slice(0, 300)}`);
    return browser.open(new URL(action, page.url), backAt, new URLSearchParams(fields));
  };
  return {
    issuer,
    settings: `[oauth.google]\nclient_id = "${OIDC_CLIENT.id}"\nclient_secret = "${OIDC_CLIENT.secret}"\nissuer = "${issuer}"\n`,
    people,
    asked,
    register: (redirectUri) => {
      callback = redirectUri;
      answer = makeProvider(issuer, { redirectUri, people, claimsInIdToken: options.claimsInIdToken ?? false });
    },
    logIn: async (browser, url, login) => {
      let page = await browser.open(url, backAt);
      if (page.text.includes('name="login"')) {
        page = await submit(browser, page, { prompt: 'login', login, password: 'any' });
      }
      if (!backAt(page.url)) page = await submit(browser, page, { prompt: 'consent' });
      assert.ok(backAt(page.url), `${page.url.href}: ${page.status} ${page.text.slice(0, 300)}`);
      return page.url;
    },
    cancel: async (browser, url) => {
      const page = await browser.open(url, backAt);
      const abort = /href="([^"]*\/abort)"/.exec(page.text)?.[1];
      assert.ok(abort !== undefined, page.text);
      return (await browser.open(new URL(abort, page.url), backAt)).url;
    },
    close,
  };
}

interface ProviderInput {
  readonly redirectUri: string;
  readonly people: ReadonlyMap<string, OidcPerson>;
  readonly claimsInIdToken: boolean;
}

function makeProvider(issuer: string, { redirectUri, people, claimsInIdToken }: ProviderInput) {
  // It warns about each of its development features, which are all that tests want.
  const { warn, info } = console;
  Object.assign(console, { warn: () => {}, info: () => {} });
  try {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: OIDC_CLIENT.id,
          client_secret: OIDC_CLIENT.secret,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: !claimsInIdToken,
      pkce: { required: () => true },
      findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people.get(id) }) }),
      features: { devInteractions: { enabled: true } },
      cookies: { keys: ['test'] },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    });
    return provider.callback();
  } finally {
    Object.assign(console, { warn, info });
  }
}
