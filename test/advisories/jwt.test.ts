/** Bearer tokens in front of a service, and the addresses from which the keys to them are fetched: what forgers and strangers with a policy try. */
import assert from 'node:assert/strict';
import { createHmac, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { after, before, test } from 'node:test';
import { testCertificate } from '../../src/data/fixtures/certificate.ts';
import { fetchJson } from '../../src/data/policy/jwt/key-fetch.ts';
import { TestIssuer } from '../../src/data/fixtures/issuer.ts';
import { httpOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { inReverse } from '../harness/ends.ts';
import { answersIn, request, say } from './fixture.ts';
import { OwnClock } from '../harness/own-clock.ts';

const WITHIN = { timeout: 120_000 };
const AUDIENCE = 'shop';
const ends = inReverse({ after });

let issuer: TestIssuer;
let rig: Rig;
let reached = 0;
before(async () => {
  issuer = await TestIssuer.start(ends);
  rig = await Rig.start(ends, { issuerKeys: { allowPrivate: true, ca: issuer.ca } });
  const origin = await httpOrigin(ends, (_got, response) => {
    reached++;
    response.end();
  });
  await rig.serve('shop', origin.port);
  rig.route('shop', {
    policy: {
      setAt: 1,
      actions: [
        {
          kind: 'jwt_validation',
          allowedIssuers: [issuer.url],
          allowedAudiences: [AUDIENCE],
          jwksUrl: null,
          enforce: true,
        },
      ],
    },
  });
});

async function shown(...fields: string[]): Promise<string> {
  return answersIn(await say(rig.port, request('GET /', ...fields))).join();
}
const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const soon = (): number => Math.floor(Date.now() / 1_000) + 600;
const claims = (over: object = {}) => ({ iss: issuer.url, aud: AUDIENCE, sub: 'ann', exp: soon(), ...over });

/** Each is refused, and the service hears nothing. */
async function areRefused(tokens: Readonly<Record<string, string>>): Promise<void> {
  const before = reached;
  for (const [what, token] of Object.entries(tokens))
    assert.equal(await shown(bearer(token)), '401 invalid_token', what);
  assert.equal(reached, before);
}

test('class 7 JWT: a token of the issuer for this audience passes', WITHIN, async () => {
  assert.equal(await shown(bearer(await issuer.sign(claims()))), '200');
  assert.equal(await shown(bearer(await issuer.sign(claims({ aud: ['other', AUDIENCE] })))), '200');
  assert.equal(await shown(bearer(await issuer.sign(claims())).replace('Bearer', 'bEARER')), '200');
});

test(
  'class 7 JWT: no signature, one by a shared secret, and one by a key that the token brings along',
  WITHIN,
  async () => {
    const [key] = issuer.keys;
    const pem = createPublicKey({ key: key ?? {}, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const hs = (secret: string | Buffer, header: object = {}): string => {
      const text = `${part({ alg: 'HS256', kid: key?.kid, ...header })}.${part(claims())}`;
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const none = (alg: string): string => `${part({ alg })}.${part(claims())}.`;
    const other = await TestIssuer.start(ends);
    await other.rotate('theirs');
    const [theirs] = other.keys;
    const good = await issuer.sign(claims());
    await areRefused({
      'alg none': none('none'),
      'alg None': none('None'),
      'alg NONE with a signature': `${none('NONE')}x`,
      'alg empty': none(''),
      'the public key as a secret': hs(pem),
      'the JWK as a secret': hs(JSON.stringify(key)),
      'an empty secret': hs(''),
      'jwk in the header': await other.sign(claims(), { kid: 'theirs', jwk: theirs }),
      'jku in the header': await other.sign(claims(), { kid: 'theirs', jku: other.jwksUrl }),
      'x5u in the header': await other.sign(claims(), { kid: key?.kid ?? '', x5u: other.jwksUrl }),
      'the kid of the issuer, another key': await other.sign(claims(), { kid: key?.kid ?? '' }),
      'no kid, another key': await other.sign(claims(), { kid: undefined }),
      'a path for a kid': await other.sign(claims(), { kid: '../../../dev/null' }),
      'unknown crit': await issuer.sign(claims(), { crit: ['exp'], exp: 1 }).catch(() => none('none')),
      'a changed claim': good.replace(/\.[^.]+\./, `.${part(claims({ sub: 'root' }))}.`),
      'no signature': good.replace(/[^.]+$/, ''),
      'half of one': good.slice(0, -20),
      'another at its end': `${good}.${good}`,
    });
    assert.deepEqual(other.asked, [], 'what the header of a token says of its key is not looked at');
  },
);

test('class 7 JWT: other issuers and audiences, too early, too late, or without an end', WITHIN, async () => {
  const now = Math.floor(Date.now() / 1_000);
  const sign = (over: object): Promise<string> => issuer.sign(claims(over));
  await areRefused({
    'run out': await sign({ exp: now - 1 }),
    'not yet': await sign({ nbf: now + 120 }),
    'no end': await sign({ exp: undefined }),
    'another audience': await sign({ aud: 'other' }),
    'no audience': await sign({ aud: undefined }),
    'an audience that begins alike': await sign({ aud: `${AUDIENCE}s` }),
    'another issuer': await sign({ iss: 'https://evil.test' }),
    'no issuer': await sign({ iss: undefined }),
    'an issuer with a slash': await sign({ iss: `${issuer.url}/` }),
    'an issuer in capitals': await sign({ iss: issuer.url.toUpperCase() }),
    'an issuer by http': await sign({ iss: issuer.url.replace('https', 'http') }),
    'an issuer with a user': await sign({ iss: issuer.url.replace('//', '//x@') }),
    'a list of issuers': await sign({ iss: [issuer.url] }),
  });
});

test('class 7 JWT: two tokens, a long one, one where none is looked for', WITHIN, async () => {
  const good = await issuer.sign(claims());
  const before = reached;
  for (const fields of [
    [bearer(good), bearer(good)],
    [bearer(good), 'Authorization: Basic eDp5'],
    [bearer(await issuer.sign(claims({ padding: 'x'.repeat(9_000) })))],
    [`Authorization: ${good}`],
    [`Authorization: Token ${good}`],
    [`Proxy-Authorization: Bearer ${good}`],
    [`X-Authorization: Bearer ${good}`],
    [`Cookie: token=${good}`],
    [bearer(`${good},${good}`)],
    [bearer(` ${good} x`)],
    [bearer('')],
    [bearer('..')],
  ])
    assert.equal(await shown(...fields), '401 invalid_token', fields.join().slice(0, 80));
  assert.equal(answersIn(await say(rig.port, request(`GET /?access_token=${good}`))).join(), '401 invalid_token');
  assert.equal(reached, before);
});

test('class 7 JWT: no new visitor passes while the issuer’s keys can not be fetched', WITHIN, async () => {
  const away = await TestIssuer.start(ends);
  away.isDown = true;
  const action = {
    kind: 'jwt_validation',
    allowedIssuers: [],
    allowedAudiences: [],
    jwksUrl: away.jwksUrl,
    enforce: true,
  } as const;
  rig.route('away', { policy: { setAt: 1, actions: [action] } });
  const origin = await httpOrigin(ends, (_got, response) => response.end());
  await rig.serve('away', origin.port);
  const token = await away.sign();
  assert.equal(await shown(bearer(token), 'Host: away.example.test'), '503 policy_failed');
  away.isDown = false;
  assert.equal(await shown(bearer(token), 'Host: away.example.test'), '503 policy_failed', 'not asked again at once');
});

/** A listener that counts who comes. */
async function trap(): Promise<{ port: number; came: () => number }> {
  let came = 0;
  const server: Server = createServer((socket) => {
    came++;
    socket.destroy();
  }).listen(0);
  await once(server, 'listening');
  ends.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, came: () => came };
}

test('class 6 SSRF: keys are fetched from public addresses alone, however an address is written', WITHIN, async () => {
  const { port, came } = await trap();
  const hosts = [
    ...[
      '127.0.0.1',
      '127.1',
      '127.000.000.1',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '2130706433',
      '0x7f000001',
      '017700000001',
      '0.0.0.0',
      '0',
    ],
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'foo.localhost',
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
    ],
    ...[
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[fe80::1]',
      '[fd00::1]',
      '[fec0::1]',
      '[ff02::1]',
      '127.0.0.1.',
      '\u2460\u2461\u2466.\u24ea.\u24ea.\u2460',
    ],
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '192.0.2.1',
    ],
    ...['127.0.0.1%2f@example.com', 'example.com@127.0.0.1', '127.0.0.1#@example.com', '127.0.0.1\\@example.com'],
  ];
  for (const host of hosts) {
    const url = `https://${host}:${port}/keys`.replace(/#(.*)$/, `:${port}/#$1`);
    const own = new OwnClock();
    await assert.rejects(fetchJson(url, { allowPrivate: false }), url);
    assert.ok(own.ms < 2_000, `${url}: nothing was connected to`);
  }
  for (const url of [
    `http://127.0.0.1:${port}/`,
    `file:///etc/passwd`,
    'data:application/json,{}',
    `ftp://127.0.0.1:${port}/`,
    `gopher://127.0.0.1:${port}/`,
  ])
    await assert.rejects(fetchJson(url, { allowPrivate: false }), url);
  assert.equal(came(), 0);
});

test('class 6 SSRF: no redirect is followed, and what is long, slow or no JSON is no key set', WITHIN, async () => {
  const { port, came } = await trap();
  const answers: Record<string, (write: (status: number, headers?: object, body?: string) => void) => void> = {
    '/302': (write) => write(302, { Location: `https://127.0.0.1:${port}/` }, '{"keys":[]}'),
    '/307': (write) => write(307, { Location: `http://127.0.0.1:${port}/` }),
    '/refresh': (write) => write(200, { Refresh: `0; url=https://127.0.0.1:${port}/` }, '<html>'),
    '/long': (write) => write(200, {}, `{"keys":[],"x":"${'x'.repeat(300_000)}"}`),
    '/404': (write) => write(404, {}, '{"keys":[]}'),
    '/206': (write) => write(206, {}, '{"keys":[]}'),
    '/deep': (write) => write(200, {}, '['.repeat(200_000)),
    '/empty': (write) => write(200),
  };
  const server = createTlsServer(await testCertificate(), ({ url = '' }, response) =>
    answers[url]?.((status, headers = {}, body = '') => response.writeHead(status, { ...headers }).end(body)),
  ).listen(0);
  await once(server, 'listening');
  ends.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = server.address();
  assert.ok(typeof at === 'object' && at !== null);
  const { cert } = await testCertificate();
  for (const path of Object.keys(answers))
    await assert.rejects(fetchJson(`https://localhost:${at.port}${path}`, { allowPrivate: true, ca: cert }), path);
  assert.equal(came(), 0);
});
