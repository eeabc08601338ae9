/**
 * An OpenID issuer that says what a test wants it to say: honest unless a test changes its metadata, its ID token or its answers. It knows
 * no people and no codes; a test plays the browser.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Ends } from './ends.ts';

export const CLIENT_ID = 'culvert-test';
export const SUBJECT = 'subject-1';

export interface HostileIssuer {
  readonly url: string;
  /** As asked for: method and path. */
  readonly asked: readonly string[];
  /** The last form that the token endpoint got, and its `Authorization`. */
  readonly tokenRequest: { form: URLSearchParams; authorization: string | undefined };
  /** Laid over the honest metadata; `undefined` takes a field away. */
  metadata: Record<string, unknown>;
  /** Laid over the honest claims; `undefined` takes a claim away. */
  claims: Record<string, unknown>;
  /** Makes the ID token; default: signed with the published key. */
  sign: (claims: JWTPayload) => Promise<string>;
  /** Laid over the honest answer of the token endpoint. */
  token: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  /** What stands in for the answer of a path. */
  readonly instead: Map<string, (response: ServerResponse) => void>;
  /** The published key; and one that is not published, under the same id. */
  readonly keys: { readonly right: CryptoKey; readonly wrong: CryptoKey };
  /** Honest again. */
  reset(): void;
}

export async function startHostileIssuer(ends: Ends): Promise<HostileIssuer> {
  const right = await generateKeyPair('RS256');
  const wrong = await generateKeyPair('RS256');
  const asked: string[] = [];
  const jwk = { ...(await exportJWK(right.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://issuer.test').pathname;
    asked.push(`${request.method} ${path}`);
    const instead = issuer.instead.get(path);
    if (instead !== undefined) return instead(response);
    void answer(path, request).then((body) => {
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ends.after(() => {
    server.closeAllConnections();
    server.close();
  });

  const answer = async (path: string, request: IncomingMessage): Promise<unknown> => {
    if (path.endsWith('/.well-known/openid-configuration')) {
      return {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        userinfo_endpoint: `${url}/userinfo`,
        ...issuer.metadata,
      };
    }
    if (path === '/jwks') return { keys: [jwk] };
    if (path === '/userinfo') return { sub: SUBJECT, ...issuer.userinfo };
    if (path !== '/token') return undefined;
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    issuer.tokenRequest.form = new URLSearchParams(body);
    issuer.tokenRequest.authorization = request.headers.authorization;
    const now = Math.floor(Date.now() / 1000);
    const honest = { iss: url, sub: SUBJECT, aud: CLIENT_ID, iat: now, exp: now + 60 };
    const id_token = await issuer.sign({ ...honest, ...issuer.claims });
    return { access_token: 'at', token_type: 'Bearer', id_token, ...issuer.token };
  };
  const honest = () => ({
    metadata: {},
    claims: {},
    token: {},
    userinfo: {},
    sign: (claims: JWTPayload) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(right.privateKey),
  });
  const issuer: HostileIssuer = {
    url,
    asked,
    tokenRequest: { form: new URLSearchParams(), authorization: undefined },
    ...honest(),
    instead: new Map(),
    keys: { right: right.privateKey, wrong: wrong.privateKey },
    reset: () => {
      Object.assign(issuer, honest());
      issuer.instead.clear();
    },
  };
  return issuer;
}
