/** Access control: other forms of the same request do not pass it, and the headers that the service gets. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { hashSync } from '@node-rs/argon2';
import type { PolicyAction } from '../../src/plane/policy.ts';
import type { BasicGate } from '../../src/plane/routes.ts';
import { httpOrigin, Wire } from '../../src/data/edge/testing/rig.ts';
import { CLAIMS_OF_VISITORS } from '../../src/http1/fields.ts';
import { answersIn, edgeFixture, request, say } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const edge = edgeFixture({ trustedProxies: ['127.0.0.9'] });

const hash = (password: string): string => hashSync(password, { memoryCost: 1_024, timeCost: 1, parallelism: 1 });
const gate = (password: string, version = password): BasicGate => ({
  username: 'ann',
  passwordHash: hash(password),
  version,
});
const basic = (password: string, username = 'ann'): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
const RIGHT = `Authorization: ${basic('open sesame')}`;

function policy(...actions: ReadonlyArray<Record<string, unknown>>): void {
  const spec = { actions: actions.map((action) => ({ enforce: true, ...action }) as unknown as PolicyAction) };
  edge().rig.route('shop', { policy: { setAt: 1, ...spec } });
}
async function asked(text: string): Promise<string> {
  return answersIn(await say(edge().rig.port, text)).join(', ');
}
/** What the service got of this request, which must pass. */
async function got(...fields: string[]): Promise<IncomingHttpHeaders> {
  assert.equal(await asked(request('GET /', ...fields)), '200', fields.join());
  return edge().take().at(-1)?.headers ?? {};
}

test(
  'CVE-2026-40910 frp: the password is asked of the one field that the service could see, in every form of a request',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    rig.route('shop', { gate: gate('open sesame') });
    const shop = 'http://shop.example.test';
    const proxy = `Proxy-${RIGHT}`;
    for (const text of [
      request('GET /', proxy),
      request('GET /', proxy, 'Authorization: Basic eDp5'),
      request(`GET ${shop}/`, proxy),
      request(`GET ${shop}/`, proxy, 'Authorization: Basic eDp5'),
      request(`GET ${shop}`, proxy),
      request(`GET http://ann:open%20sesame@shop.example.test/`),
      request('OPTIONS *', proxy),
      request('HEAD /', proxy).replace('HEAD', 'head'),
      request('GET /', RIGHT, RIGHT),
      request('GET /', 'Authorization: Basic eDp5', RIGHT),
      request('GET /', RIGHT, 'Authorization: Bearer x'),
      request('GET /', `X-${RIGHT}`),
      request('GET /', RIGHT.replace(':', '\t:')),
      request('GET /', `Cookie: authorization=${basic('open sesame')}`),
      request(`GET /?authorization=${basic('open sesame').replace(' ', '%20')}`),
      request('GET /', 'Connection: Upgrade', 'Upgrade: websocket'),
      request('CONNECT shop.example.test:80', proxy, RIGHT),
    ])
      assert.match(await asked(text), /^40[01] (unauthorized|bad_request)$/, text);
    assert.deepEqual(take(), []);
    // The same forms with the password itself.
    for (const target of ['/', `${shop}/`, shop])
      assert.equal(await asked(request(`GET ${target}`, RIGHT, 'Proxy-Authorization: Basic eDp5')), '200', target);
    for (const { headers } of take())
      assert.deepEqual([headers.authorization, headers['proxy-authorization']], [undefined, undefined]);
    rig.route('shop');
  },
);

test('CVE-2025-56332 Pangolin: a step that is unknown, or fails, allows no visitor', WITHIN, async () => {
  const { rig, take } = edge();
  policy({ kind: 'of a later version' });
  assert.equal(await asked(request('GET /')), '503 policy_failed');
  policy({ kind: 'jwt_validation', allowedIssuers: [], allowedAudiences: [], jwksUrl: 'https://127.0.0.1:1/keys' });
  const signed = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.e30.e30`;
  assert.equal(await asked(request('GET /', `Authorization: Bearer ${signed}`)), '503 policy_failed');
  // No key could fit a token without an algorithm: none is fetched for it.
  assert.equal(await asked(request('GET /', 'Authorization: Bearer e30.e30.e30')), '401 invalid_token');
  assert.equal(await asked(request('GET /')), '401 invalid_token');
  for (const passwordHash of ['', 'x', '$argon2id$v=19$m=1024,t=1,p=1$$']) {
    rig.route('shop', { gate: { ...gate('open sesame', passwordHash), passwordHash } });
    assert.match(await asked(request('GET /', RIGHT)), /^(401 unauthorized|503 policy_failed)$/, passwordHash);
  }
  assert.deepEqual(take(), []);
  rig.route('shop');
});

test('Pangolin 0250b10: what was right on one tunnel, or before a change, counts nowhere else', WITHIN, async () => {
  const { rig, take } = edge();
  rig.route('shop', { gate: gate('open sesame', 'v1') });
  rig.route('shed', { gate: gate('barn door', 'v1') });
  const shed = 'Host: shed.example.test';
  for (let i = 0; i < 2; i++) assert.equal(await asked(request('GET /', RIGHT)), '200');
  assert.equal(await asked(request('GET /', shed, RIGHT)), '401 unauthorized', 'the same version of another tunnel');
  assert.equal(await asked(request('GET /', RIGHT) + request('GET /', shed, RIGHT)), '200, 401 unauthorized');
  rig.route('shop', { gate: gate('barn door', 'v2') });
  assert.equal(await asked(request('GET /', RIGHT)), '401 unauthorized', 'changed');
  take();
  rig.route('shed');
  rig.route('shop');
});

// biome-ignore format: a table
const ADMIN = [
  '/admin', '/admin/', '/admin?x', '/admin;x', '//admin', '/./admin', '/x/../admin', '/%61dmin', '/%2fadmin', '/x%2f..%2fadmin', '/\\admin',
  '/x/%2e%2e/admin', '/x/.%2e/admin', '/x/..;/admin', '/;/admin', '/x%2fy/../admin', '/x%5cy/../admin', '//host/admin', '/..//..//admin',
  '/%2e/admin', '/x/..\\admin', '/admin/../x', '/%61dmin/../x',
];

test(
  'VULN-141859 cloudflared: a denied path is denied in every form, and the service gets the others byte for byte',
  WITHIN,
  async () => {
    const { take } = edge();
    policy({ kind: 'deny', pathPrefix: '/admin' });
    for (const path of ADMIN) {
      assert.equal(await asked(request(`GET ${path}`)), '403 denied', path);
      assert.equal(await asked(request(`GET http://shop.example.test${path}`)), '403 denied', `absolute ${path}`);
    }
    assert.deepEqual(take(), []);
    for (const path of [
      '/x?to=/admin',
      '/%2561dmin',
      '/adm/in',
      '/x/../b%2F%2f//c;v=1/./%C3%A4?%2e%2e',
      '/ADMIN',
      '/xadmin',
    ]) {
      assert.equal(await asked(request(`GET ${path}`)), '200', path);
      assert.equal(take().at(-1)?.line, `GET ${path}`);
    }
    policy({ kind: 'deny', pathPrefix: '/' });
    for (const target of [
      '/',
      '/?x',
      '*',
      'http://shop.example.test',
      'http://shop.example.test?x',
      'http://shop.example.test/',
    ])
      assert.equal(await asked(request(`OPTIONS ${target}`)), '403 denied', target);
    assert.deepEqual(take(), []);
    for (const name of ['X-Original-URL', 'X-Rewrite-URL', 'X_Original_URL', 'X-Original-Host']) {
      edge().rig.route('shop');
      assert.equal((await got(`${name}: /admin`))[name.toLowerCase()], undefined, name);
    }
  },
);

test('AUTH-9012 cloudflared: what only the edge says of a visitor, no visitor says', WITHIN, async () => {
  const { rig } = edge();
  rig.route('shop');
  const claims = [
    ...[
      'X-Forwarded-For',
      'X_Forwarded_For',
      'X-FORWARDED_FOR',
      'X-Forwarded-Proto',
      'X-Forwarded-Host',
      'X-Forwarded-Port',
    ],
    ...['X-Forwarded-User', 'X-Forwarded-Email', 'X_Real_IP'],
    ...['Culvert-Visitor-Email', 'culvert_visitor_email', 'CF_Connecting_IP', 'Client_IP'],
    ...CLAIMS_OF_VISITORS,
  ];
  const headers = await got(...claims.map((name) => `${name}: 6.6.6.6`));
  assert.ok(!JSON.stringify(headers).includes('6.6.6.6'), JSON.stringify(headers));
  const { 'x-forwarded-for': from, 'x-real-ip': ip, 'x-forwarded-proto': scheme, 'x-forwarded-host': host } = headers;
  assert.deepEqual([from, ip, scheme, host], ['127.0.0.1', '127.0.0.1', 'http', 'shop.example.test']);
  for (const name of claims) {
    const answer = await asked(request('GET /', `${name}: 6.6.6.6`, `Connection: close, ${name}`));
    assert.match(answer, /^(200|400 bad_request)$/, name);
    const [one] = edge().take();
    assert.ok(one === undefined || one.headers['x-forwarded-for'] === '127.0.0.1', `Connection takes ${name} away`);
  }
});

test('class 5 header trust: hop-by-hop fields end here, and those that Connection names', WITHIN, async () => {
  const headers = await got(
    ...[
      'Keep-Alive: 5',
      'TE: trailers',
      'Proxy-Authorization: x',
      'Proxy-Connection: keep-alive',
      'X-Mine: 1',
      'X-Other: 2',
    ],
    'Connection: keep-alive, X-Mine, te',
  );
  for (const name of ['keep-alive', 'te', 'proxy-authorization', 'proxy-connection', 'x-mine', 'connection'])
    assert.equal(headers[name] === 'keep-alive' ? undefined : headers[name], undefined, name);
  assert.equal(headers['x-other'], '2');
  for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'X-Forwarded-For', 'X-Forwarded-Any'])
    assert.equal(await asked(request('GET /', `Connection: ${name}`)), '400 bad_request', name);
});

test(
  'class 5 header trust: a header of the policy is the owner’s word, whatever a visitor writes beside it',
  WITHIN,
  async () => {
    policy(
      { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
      { kind: 'header_set', name: 'Authorization', value: 'Bearer inner' },
    );
    for (const fields of [
      ['X-Tenant: red'],
      ['x_tenant: red', 'X-TENANT: red'],
      ['X-Tenant: red', 'Connection: X-Tenant'],
      ['Connection: X-Tenant, Authorization', 'Authorization: Bearer mine'],
    ]) {
      const headers = await got(...fields);
      assert.deepEqual(
        [headers['x-tenant'], headers['x_tenant'], headers.authorization],
        ['blue', undefined, 'Bearer inner'],
        fields.join(),
      );
    }
    edge().rig.route('shop');
  },
);

test(
  'class 5 header trust: credentials of the gate end at the edge; without a gate they are the service’s',
  WITHIN,
  async () => {
    const { rig } = edge();
    assert.equal((await got(RIGHT)).authorization, basic('open sesame'));
    rig.route('shop', { gate: gate('open sesame') });
    assert.equal((await got(RIGHT)).authorization, undefined);
    assert.equal((await got(RIGHT, 'Connection: authorization')).authorization, undefined);
    rig.route('shop');
  },
);

test(
  'NetBird XForwardedForStripping, TrustedProxy, StripsAuthorizationHeader: the true address, told by who may tell it',
  WITHIN,
  async () => {
    assert.equal((await got('X-Forwarded-For: 9.9.9.9'))['x-forwarded-for'], '127.0.0.1');
    policy({ kind: 'ip_allow', networks: ['9.9.9.9'] });
    assert.equal(await asked(request('GET /', 'X-Forwarded-For: 9.9.9.9', 'X-Real-IP: 9.9.9.9')), '403 denied');
    policy({ kind: 'rate_limit', requestsPerMinute: 1, perClientIp: true });
    const spoofed = (ip: string): Promise<string> => asked(request('GET /', `X-Forwarded-For: ${ip}`));
    assert.deepEqual([await spoofed('1.1.1.1'), await spoofed('2.2.2.2')], ['200', '429 rate_limited']);
    edge().rig.route('shop', { gate: gate('open sesame') });
    assert.equal((await got(RIGHT)).authorization, undefined);
    edge().rig.route('shop');
  },
);

test('NetBird HeaderAuth_InfraErrorReturns502: a gate that can not decide is closed', WITHIN, async () => {
  edge().take();
  policy({ kind: 'jwt_validation', allowedIssuers: ['https://127.0.0.1:1'], allowedAudiences: [], jwksUrl: null });
  const claims = Buffer.from(JSON.stringify({ iss: 'https://127.0.0.1:1' })).toString('base64url');
  const token = `Authorization: Bearer ${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${claims}.e30`;
  assert.equal(await asked(request('GET /', token)), '503 policy_failed');
  assert.deepEqual(edge().take(), []);
  edge().rig.route('shop');
});

test('class 4 cookies: a service sets none for its neighbours, nor any of the edge’s own', WITHIN, async (t) => {
  const cookies = [
    'own=1; Path=/; Domain=cook.example.test',
    ...[
      'example.test',
      '.example.test',
      'EXAMPLE.TEST',
      'example.test.',
      'test',
      ' example.test ',
      '"example.test"',
    ].map((domain, i) => `shared${i}=1; Domain=${domain}; Path=/`),
    'twice=1; Domain=cook.example.test; Domain=example.test; Domain=example.test',
    ...[
      'culvert_visitor=1',
      'qnt_refresh=1; Domain=example.test',
      ' culvert_visitor=1',
      '=culvert_visitor=1',
      'culvert_nonce=1',
      '__Host-culvert_nonce=1; Secure; Path=/',
      '__HOST-CULVERT_NONCE=1',
    ],
  ];
  const origin = await httpOrigin(t, (_got, response) =>
    response.setHeader('Set-Cookie', cookies).setHeader('Clear-Site-Data', '"cookies", "cache"').end(),
  );
  await edge().rig.serve('cook', origin.port);
  const text = await say(edge().rig.port, request('GET /', 'Host: cook.example.test'));
  const set = [...text.matchAll(/\r\nSet-Cookie: ([^\r]*)/gi)].map(([, line]) => line ?? '');
  assert.match(text, /\r\nClear-Site-Data: *"cache"\r\n/i);
  assert.ok(set.length > 3, text);
  for (const line of set) {
    assert.doesNotMatch(line, /domain *= *"?\.?(example\.)?test/i, line);
    assert.doesNotMatch(line, /^ *=? *(culvert_visitor|qnt_refresh|culvert_nonce|__host-culvert_nonce)/i, line);
  }
});

test('class 5 header trust: address rules hold when a proxy writes ports or nonsense', WITHIN, async () => {
  const { rig } = edge();
  const behind = async (chain: string): Promise<string> => {
    const wire = new Wire(connect({ port: rig.port, host: '127.0.0.1', localAddress: '127.0.0.9' }));
    wire.ask('GET /', `X-Forwarded-For: ${chain}`);
    const { status } = await wire.response();
    wire.socket.destroy();
    return String(status);
  };
  policy({ kind: 'ip_deny', networks: ['203.0.113.0/24', '2001:db8::/32'] });
  for (const chain of [
    '203.0.113.9',
    '203.0.113.9:4711',
    '::ffff:203.0.113.9',
    '2001:db8::1',
    '[2001:db8::1]:4711',
    '6.6.6.6, 203.0.113.9:1',
  ])
    assert.equal(await behind(chain), '403', chain);
  assert.equal(await behind('6.6.6.6:1'), '200');
  policy({ kind: 'rate_limit', requestsPerMinute: 1, perClientIp: true });
  assert.deepEqual(
    [await behind('6.6.6.6:1'), await behind('6.6.6.6:2'), await behind('6.6.6.7:3')],
    ['200', '429', '200'],
  );
  rig.route('shop');
});
