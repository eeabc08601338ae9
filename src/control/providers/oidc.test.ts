import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { inReverse } from '../../../test/harness/ends.ts';
import { CLIENT_ID, type HostileIssuer, startHostileIssuer, SUBJECT } from '../../../test/harness/hostile-issuer.ts';
import { AppError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { LoginSecrets, VouchedPerson } from './oauth.ts';
import { OidcProvider } from './oidc.ts';

const SECRET = 'a client secret';
const LOGIN: LoginSecrets = {
  redirectUri: 'http://api.test/auth/oauth/google/callback',
  state: 's'.repeat(43),
  nonce: 'n'.repeat(43),
  verifier: 'v'.repeat(43),
};
const WELL_KNOWN = '/.well-known/openid-configuration';

let issuer: HostileIssuer;
let now = 0;
const clock = { now: () => Date.now(), monotonic: () => now };
const make = (url = issuer.url) =>
  new OidcProvider({ issuer: url, clientId: CLIENT_ID, clientSecret: new Secret(SECRET) }, clock);

const ends = inReverse({ after });
before(async () => {
  issuer = await startHostileIssuer(ends);
});
beforeEach(() => {
  issuer.reset();
  issuer.claims = { nonce: LOGIN.nonce, email: 'ann@example.test', email_verified: true, name: 'Ann' };
});

function finish(provider = make(), answer: Record<string, string> = {}): Promise<VouchedPerson> {
  return provider.finish(LOGIN, new URLSearchParams({ code: 'c', state: LOGIN.state, ...answer }));
}
async function failure(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  return assert.fail('it was believed');
}
const asksFor = (path: string): number => issuer.asked.filter((line) => line.endsWith(path)).length;

test('an honest answer is believed', async () => {
  assert.deepEqual(await finish(), {
    issuer: issuer.url,
    subject: SUBJECT,
    email: 'ann@example.test',
    emailVerified: true,
    name: 'Ann',
  });
  const { form, authorization } = issuer.tokenRequest;
  assert.deepEqual(
    [form.get('code_verifier'), form.get('redirect_uri'), form.get('code')],
    [LOGIN.verifier, LOGIN.redirectUri, 'c'],
  );
  const basic = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  // Form-encoded before base64 (RFC 6749 §2.3.1).
  assert.equal(basic.replaceAll('+', '%20'), `${CLIENT_ID.replaceAll('-', '%2D')}:a%20client%20secret`);
});

test('an issuer that takes the secret in the body alone gets it there', async () => {
  issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'] };
  await finish();
  assert.equal(issuer.tokenRequest.form.get('client_secret'), SECRET);
  assert.equal(issuer.tokenRequest.authorization, undefined);
});

const lies: ReadonlyArray<readonly [string, () => void]> = [
  ['the nonce of another log-in', () => (issuer.claims['nonce'] = 'm'.repeat(43))],
  ['no nonce', () => (issuer.claims['nonce'] = undefined)],
  ['a token for another client', () => (issuer.claims['aud'] = 'another-user')],
  [
    'a token for several clients that names another one',
    () => Object.assign(issuer.claims, { aud: [CLIENT_ID, 'other'], azp: 'other' }),
  ],
  ['a token of another issuer', () => (issuer.claims['iss'] = 'https://accounts.google.com')],
  ['a token that has run out', () => (issuer.claims['exp'] = Math.floor(Date.now() / 1000) - 3600)],
  ['a token without an end', () => (issuer.claims['exp'] = undefined)],
  ['a token without a subject', () => (issuer.claims['sub'] = undefined)],
  ['an empty subject', () => (issuer.claims['sub'] = '')],
  ['no ID token', () => (issuer.token = { id_token: undefined })],
  ['a subject without end', () => (issuer.claims['sub'] = 'x'.repeat(256))],
  [
    'a signature by another key',
    () =>
      (issuer.sign = (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(issuer.keys.wrong)),
  ],
  [
    'a key id that is not published',
    () =>
      (issuer.sign = (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k2' }).sign(issuer.keys.right)),
  ],
  [
    'alg none, offered in the metadata',
    () => {
      issuer.metadata = { id_token_signing_alg_values_supported: ['RS256', 'none'] };
      issuer.sign = async (claims) => new UnsecuredJWT(claims).encode();
    },
  ],
  ['alg none', () => (issuer.sign = async (claims) => new UnsecuredJWT(claims).encode())],
  [
    'HS256 with the client secret, offered in the metadata',
    () => {
      issuer.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
      issuer.sign = (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET.padEnd(32, '0')));
    },
  ],
  [
    'a profile of another subject',
    () => {
      issuer.claims['email'] = undefined;
      issuer.userinfo = { sub: 'another-user', email: 'victim@example.test', email_verified: true };
    },
  ],
];
for (const [name, lie] of lies) {
  test(`${name}: not believed`, async () => {
    lie();
    const error = await failure(finish());
    assert.equal(error.code, 'invalid_request', String(error.cause));
    assert.ok(error.cause instanceof Error && error.cause.message.length > 10, 'the log has no reason');
    assert.ok(!error.cause.message.includes(SECRET));
  });
}

test('an answer that another issuer gave (mix-up) is not believed', async () => {
  assert.equal((await failure(finish(make(), { iss: 'https://evil.test' }))).code, 'invalid_request');
  assert.equal((await finish(make(), { iss: issuer.url })).subject, SUBJECT);
});

test('an address is verified only when the issuer says so in so many words', async () => {
  for (const [said, is] of [
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    [1, false],
    [undefined, false],
    ['yes', false],
    [{}, false],
  ] as const) {
    issuer.claims['email_verified'] = said;
    assert.equal((await finish()).emailVerified, is, String(said));
  }
  for (const email of [undefined, '', 7, null, ['a@b']]) {
    issuer.claims['email'] = email;
    assert.equal((await finish()).email, null);
  }
});

test('an address that is not in the ID token is asked for at the userinfo endpoint', async () => {
  Object.assign(issuer.claims, { email: undefined, email_verified: undefined });
  issuer.userinfo = { email: 'info@example.test', email_verified: true, name: 'Info' };
  assert.deepEqual(await finish(), {
    issuer: issuer.url,
    subject: SUBJECT,
    email: 'info@example.test',
    emailVerified: true,
    name: 'Info',
  });
});

test('an issuer below a path may end with a slash or not', async () => {
  for (const path of ['/realms/one', '/realms/one/']) {
    issuer.metadata = { issuer: issuer.url + path };
    issuer.claims['iss'] = issuer.url + path;
    assert.equal((await finish(make(`${issuer.url}/realms/one`))).issuer, issuer.url + path);
  }
});

test('metadata about another issuer, too large, broken, or elsewhere: unavailable', async () => {
  const rows: ReadonlyArray<() => void> = [
    () => (issuer.metadata = { issuer: 'https://accounts.google.com' }),
    () => (issuer.metadata = { issuer: undefined }),
    () => (issuer.metadata = { claims_supported: 'x'.repeat(600_000) }),
    () => issuer.instead.set(WELL_KNOWN, (response) => response.writeHead(200).end('<html>')),
    () => issuer.instead.set(WELL_KNOWN, (response) => response.writeHead(500).end()),
    () => issuer.instead.set(WELL_KNOWN, (response) => response.destroy()),
    () => issuer.instead.set(WELL_KNOWN, (response) => response.writeHead(302, { location: `${issuer.url}/x` }).end()),
    () => (issuer.metadata = { authorization_endpoint: undefined }),
  ];
  for (const row of rows) {
    issuer.reset();
    row();
    assert.equal((await failure(make().start(LOGIN))).code, 'unavailable', String(row));
  }
});

test('keys that can’t be had, and an ID token that is none: unavailable', async () => {
  issuer.instead.set('/jwks', (response) => response.writeHead(500).end());
  assert.equal((await failure(finish())).code, 'unavailable');
  issuer.instead.clear();
  issuer.token = { id_token: 'a.b.c' };
  assert.equal((await failure(finish())).code, 'unavailable');
});

test('an issuer that is down is asked again after some seconds, not by each log-in', async () => {
  const provider = make();
  const before = asksFor(WELL_KNOWN);
  issuer.instead.set(WELL_KNOWN, (response) => response.writeHead(503).end());
  for (let i = 0; i < 5; i++) assert.equal((await failure(provider.start(LOGIN))).code, 'unavailable');
  assert.equal(asksFor(WELL_KNOWN), before + 1);
  issuer.instead.clear();
  now += 4_999;
  await failure(provider.start(LOGIN));
  now += 1;
  assert.equal((await provider.start(LOGIN)).origin, issuer.url);
  assert.equal(asksFor(WELL_KNOWN), before + 2);
});

test('metadata is read once for many log-ins, again after an hour, and kept when that fails', async () => {
  const provider = make();
  const before = asksFor(WELL_KNOWN);
  await Promise.all(Array.from({ length: 20 }, () => provider.start(LOGIN)));
  now += 3_599_999;
  await provider.start(LOGIN);
  assert.equal(asksFor(WELL_KNOWN), before + 1);
  now += 1;
  issuer.instead.set(WELL_KNOWN, (response) => response.writeHead(503).end());
  for (let i = 0; i < 3; i++) assert.equal((await provider.start(LOGIN)).origin, issuer.url);
  assert.equal(asksFor(WELL_KNOWN), before + 2);
  issuer.reset();
  issuer.metadata = { authorization_endpoint: `${issuer.url}/moved` };
  now += 5_000;
  assert.equal((await provider.start(LOGIN)).pathname, '/moved');
});

test('the address of a log-in holds what the issuer must know, and no secret', async () => {
  const url = await make().start(LOGIN);
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    client_id: CLIENT_ID,
    response_type: 'code',
    redirect_uri: LOGIN.redirectUri,
    scope: 'openid email profile',
    state: LOGIN.state,
    nonce: LOGIN.nonce,
    code_challenge: url.searchParams.get('code_challenge'),
    code_challenge_method: 'S256',
  });
  assert.ok(!url.href.includes(LOGIN.verifier));
});
