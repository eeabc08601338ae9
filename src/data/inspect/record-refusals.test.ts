/** What records tell of requests that the edge does not pass on, of the steps of a policy, and what of a visitor's secrets they never hold. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { connect } from 'node:tls';
import { hashSync } from '@node-rs/argon2';
import type { InspectedRequest, TraceStep } from '../../plane/inspection.ts';
import type { PolicyAction } from '../../plane/policy.ts';
import type { Route } from '../../plane/routes.ts';
import { nonceHashOf, sealTicket } from '../../plane/visitor-tokens.ts';
import { httpOrigin, perHead, rawOrigin, Rig, type RigOptions, Wire } from '../edge/testing/rig.ts';
import { until } from '../fixtures/gateway.ts';
import { TestIssuer } from '../fixtures/issuer.ts';
import { idOf, testGrant, VISITOR_KEY } from '../fixtures/link.ts';
import { recordOf, recordsOf, textOf } from './testing.ts';

const WITHIN = { timeout: 120_000 };
const OPEN: PolicyAction = { kind: 'ip_allow', enforce: true, networks: ['127.0.0.1'] };
const GATE = {
  username: 'ann',
  passwordHash: hashSync('open sesame', { memoryCost: 1_024, timeCost: 1, parallelism: 1 }),
  version: '1',
};
const PASSWORD = `Authorization: Basic ${Buffer.from('ann:open sesame').toString('base64')}`;
const NONCE = 'n'.repeat(22);

async function shop(t: TestContext, over: Partial<Route>, options: RigOptions = {}): Promise<Rig> {
  const rig = await Rig.start(t, options);
  const origin = await httpOrigin(t, (_request, response) => response.end('hello'));
  await rig.serve('shop', origin.port);
  rig.route('shop', over);
  return rig;
}

async function ask(rig: Rig, line: string, ...fields: string[]): Promise<string> {
  const wire = await rig.visit();
  wire.ask(line, ...fields);
  const { status, head } = await wire.response();
  wire.socket.destroy();
  return `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim();
}

function isRefused(record: InspectedRequest, status: number, code: string): void {
  const { trace } = record;
  assert.deepEqual([record.status, trace.outcome, trace.code], [status, 'refused', code]);
  assert.deepEqual([trace.agentId, trace.tokenId, trace.connection, trace.firstByteMs], [null, null, null, null]);
  assert.deepEqual([record.responseHead, record.responseSize, record.requestSize], [null, 0, 0]);
}

const actions = (...list: PolicyAction[]): Partial<Route> => ({ policy: { setAt: 1, actions: list } });
const said = ({ trace }: InspectedRequest): string[] =>
  trace.steps.map(({ step, index, verdict, code }: TraceStep) => `${step} ${index} ${verdict} ${code}`);

// biome-ignore format: a table
const REFUSALS: ReadonlyArray<[name: string, status: number, code: string, over: Partial<Route>]> = [
  ['maintenance', 503, 'maintenance', { maintenance: '' }],
  ['a stop', 503, 'tunnel_offline', { stopped: true }],
  ['the end of its time', 503, 'tunnel_offline', { expiresAt: 1 }],
  ['its policy', 403, 'denied', actions(OPEN, { kind: 'deny', enforce: true, pathPrefix: '/' })],
  ['its gate', 401, 'unauthorized', { gate: GATE }],
];
for (const [name, status, code, over] of REFUSALS)
  test(`a request that ${name} refuses is recorded, without what says who the visitor is`, WITHIN, async (t) => {
    const rig = await shop(t, over);
    const secrets = [
      'AUTHORIZATION: Bearer s3cret',
      'Proxy-Authorization: Basic s3cret',
      'cookie:a=s3cret',
      'Cookie: b=s3cret',
    ];
    assert.equal(await ask(rig, 'GET /orders?id=7', 'X-Own: visitor', ...secrets, 'X-Last: 1'), `${status} ${code}`);
    const record = await recordOf(rig);
    isRefused(record, status, code);
    assert.equal(
      textOf(record.requestHead),
      'GET /orders?id=7 HTTP/1.1\r\nHost: shop.example.test\r\nX-Own: visitor\r\nAUTHORIZATION:\r\nProxy-Authorization:\r\ncookie:\r\nCookie:\r\nX-Last: 1\r\n\r\n',
    );
    assert.doesNotMatch(JSON.stringify(rig.link.inspections), /s3cret/);
    assert.ok(!Buffer.from(record.requestHead.buffer).includes('s3cret'));
  });

test('without an agent, or of a key without budget, a request is recorded as refused', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  rig.route('shop');
  assert.equal(await ask(rig, 'GET /away'), '503 tunnel_offline');
  isRefused(await recordOf(rig), 503, 'tunnel_offline');
  const budget = { accountId: 'a', month: new Date().toISOString().slice(0, 7), spentCents: 0, capCents: 0 };
  rig.link.grants.set('good', testGrant('token-1', { budgets: [budget] }));
  await rig.serve('shop', 9);
  assert.equal(await ask(rig, 'GET /spent'), '503 budget_exhausted');
  const [, spent] = await recordsOf(rig);
  isRefused(spent as InspectedRequest, 503, 'budget_exhausted');
});

test('what the edge refuses by its own bounds is recorded too', WITHIN, async (t) => {
  const rig = await shop(t, {}, { trustedProxies: ['127.0.0.1'], httpsRedirectPort: 0 });
  const hops = Array.from({ length: 33 }, () => '192.0.2.1').join(', ');
  assert.equal(await ask(rig, 'GET /plain', 'X-Forwarded-For: 198.51.100.7'), '308 https_redirect');
  assert.equal(
    await ask(rig, 'GET /loop', 'X-Forwarded-Proto: https', `X-Forwarded-For: ${hops}`),
    '508 loop_detected',
  );
  const records = await recordsOf(rig);
  assert.deepEqual(
    records.map(({ target, status, remoteIp, trace }) => [target, status, trace.code, trace.scheme, remoteIp]),
    [
      ['/plain', 308, 'https_redirect', 'http', '198.51.100.7'],
      ['/loop', 508, 'loop_detected', 'https', '192.0.2.1'],
    ],
  );
});

test('a request beyond what an address may have under way is recorded as refused', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { maxRequestsPerIp: 1 } });
  const held = await rawOrigin(t, () => {});
  await rig.serve('shop', held.port);
  const first = await rig.visit();
  first.ask('GET /held');
  await held.arrived(/held/);
  assert.equal(await ask(rig, 'GET /greedy'), '503 overloaded');
  const record = await recordOf(rig);
  assert.equal(record.target, '/greedy');
  isRefused(record, 503, 'overloaded');
});

test(
  'a request on a connection that was made for another host is recorded for the tunnel that it names',
  WITHIN,
  async (t) => {
    const rig = await shop(t, {});
    const socket = connect({
      host: '127.0.0.1',
      port: rig.httpsPort,
      servername: 'shed.example.test',
      rejectUnauthorized: false,
    });
    t.after(() => socket.destroy());
    await once(socket, 'secureConnect');
    const wire = new Wire(socket);
    wire.ask('GET /');
    assert.equal((await wire.response()).status, 421);
    const record = await recordOf(rig);
    isRefused(record, 421, 'misdirected_request');
    assert.equal(record.tunnelId, idOf('shop'));
  },
);

test('what is no tunnel is not recorded, nor is what is no request', WITHIN, async (t) => {
  const rig = await shop(t, {});
  assert.equal(await ask(rig, 'GET /', 'Host: none.example.test'), '404 tunnel_not_found');
  assert.equal(await ask(rig, 'GET /', 'Transfer-Encoding: gzip'), '400 bad_request');
  assert.deepEqual(await recordsOf(rig), []);
});

test(
  'record: each action and gate is listed in the order of its decision, with its place in the policy',
  WITHIN,
  async (t) => {
    const deny: PolicyAction = { kind: 'deny', enforce: true, pathPrefix: '/admin' };
    const tried: PolicyAction = { kind: 'deny', enforce: false, pathPrefix: '/orders' };
    const rig = await shop(t, { ...actions(deny, tried, OPEN), gate: GATE });
    assert.equal(await ask(rig, 'GET /orders', PASSWORD), '200');
    assert.equal(await ask(rig, 'GET /admin', PASSWORD), '403 denied');
    assert.equal(await ask(rig, 'GET /'), '401 unauthorized');
    const [passed, denied, asked] = await recordsOf(rig);
    const first = ['ip_allow 2 passed null'];
    assert.deepEqual(said(passed as InspectedRequest), [
      ...first,
      'deny 0 passed null',
      'deny 1 would_refuse denied',
      'basic_gate null passed null',
    ]);
    assert.equal(passed?.trace.outcome, 'forwarded');
    assert.deepEqual(said(denied as InspectedRequest), [...first, 'deny 0 refused denied']);
    assert.deepEqual(said(asked as InspectedRequest), [
      ...first,
      'deny 0 passed null',
      'deny 1 passed null',
      'basic_gate null refused unauthorized',
    ]);
    // The service does not get the password, and neither does the record.
    assert.doesNotMatch(textOf(passed?.requestHead ?? null), /authorization/i);
  },
);

test('record: late decisions and log-only results are listed as well', WITHIN, async (t) => {
  const issuer = await TestIssuer.start(t);
  const jwt: PolicyAction = {
    kind: 'jwt_validation',
    enforce: true,
    jwksUrl: issuer.jwksUrl,
    allowedIssuers: [],
    allowedAudiences: [],
  };
  const key = { issuerKeys: { allowPrivate: true, ca: issuer.ca } };
  const last: PolicyAction = { kind: 'rate_limit', enforce: true, requestsPerMinute: 100, perClientIp: false };
  const rig = await shop(t, actions(jwt, last), key);
  const hold = Promise.withResolvers<void>();
  issuer.hold = hold.promise;
  const token = `Authorization: Bearer ${await issuer.sign()}`;
  const wire = await rig.visit();
  wire.ask('GET /later', token);
  await until(() => issuer.asked.length > 0);
  hold.resolve();
  assert.equal((await wire.response()).status, 200);
  assert.equal(await ask(rig, 'GET /', `Authorization: Bearer ${await issuer.sign({ exp: 1 })}`), '401 invalid_token');
  const [passed, refused] = await recordsOf(rig);
  assert.deepEqual(said(passed as InspectedRequest), ['jwt_validation 0 passed null', 'rate_limit 1 passed null']);
  assert.match(textOf(passed?.requestHead ?? null), /\r\nAuthorization: Bearer ey/);
  assert.deepEqual(said(refused as InspectedRequest), ['jwt_validation 0 refused invalid_token']);
  assert.match(textOf(refused?.requestHead ?? null), /\r\nAuthorization:\r\n/);

  // Other keys: none is fetched yet.
  const other = await TestIssuer.start(t);
  rig.route('shop', actions({ ...jwt, enforce: false, jwksUrl: other.jwksUrl }));
  assert.equal(await ask(rig, 'GET /tried', token), '200');
  const all = await recordsOf(rig);
  assert.deepEqual(said(all[2] as InspectedRequest), ['jwt_validation 0 beside null']);
});

test(
  'record: the new policy is listed when it changes while a request waits; one allowance is spent',
  WITHIN,
  async (t) => {
    const issuer = await TestIssuer.start(t);
    const jwt: PolicyAction = {
      kind: 'jwt_validation',
      enforce: true,
      jwksUrl: issuer.jwksUrl,
      allowedIssuers: [],
      allowedAudiences: [],
    };
    const rig = await shop(t, actions(OPEN, jwt), {
      issuerKeys: { allowPrivate: true, ca: issuer.ca },
      inspector: { maxBodyBytes: 0, maxPerSecondPerTunnel: 0, maxPerSecond: 0, maxMemoryMb: 1, websocketFrames: false },
    });
    const hold = Promise.withResolvers<void>();
    issuer.hold = hold.promise;
    const wire = await rig.visit();
    wire.ask('GET /', `Authorization: Bearer ${await issuer.sign()}`);
    await until(() => issuer.asked.length > 0);
    rig.route('shop', actions({ kind: 'deny', enforce: true, pathPrefix: '/' }));
    hold.resolve();
    assert.equal((await wire.response()).status, 403);
    const record = await recordOf(rig);
    assert.deepEqual(said(record), ['deny 0 refused denied']);
    assert.deepEqual(rig.node.stats().inspector, { ...rig.node.stats().inspector, recorded: 1, heldBytes: 0 });
  },
);

test('record: a visitor’s login is listed, and no record has its ticket or pass', WITHIN, async (t) => {
  const rig = await shop(t, {
    visitorGate: { version: '1', signInUrl: `http://api.test/start?tunnel_id=${idOf('shop')}` },
  });
  const sealed = sealTicket(Buffer.from(VISITOR_KEY, 'base64url'), {
    ...{ tunnelId: idOf('shop'), version: '1', host: 'shop.example.test', email: 'ann@example.test' },
    ...{ expiresAt: Date.now() + 60_000, id: '1', nonceHash: nonceHashOf(NONCE), again: false, path: '/orders' },
  });
  const wire = await rig.visit();
  wire.ask('GET /orders', 'Accept: text/html');
  assert.equal((await wire.response()).status, 302);
  wire.ask(`GET /.culvert/visitor?ticket=${sealed}`, `Cookie: culvert_nonce=${NONCE}`);
  const { status, head } = await wire.response();
  assert.equal(status, 303);
  const cookies = [...head.matchAll(/set-cookie: (\w+=[^;]+)/gi)].map(([, pair]) => pair).join('; ');
  wire.ask('GET /orders', `Cookie: ${cookies}; own=1`);
  assert.equal((await wire.response()).body, 'hello');

  const [sent, ticket, passed] = (await recordsOf(rig)) as [InspectedRequest, InspectedRequest, InspectedRequest];
  assert.deepEqual(said(sent), ['visitor_gate null refused sign_in']);
  assert.deepEqual(said(ticket), ['visitor_sign_in null refused signed_in']);
  assert.equal(ticket.target, '/.culvert/visitor');
  assert.match(textOf(ticket.requestHead), /^GET \/\.culvert\/visitor HTTP\/1\.1\r\n[^]*\r\nCookie:\r\n/);
  assert.deepEqual(said(passed), ['visitor_gate null passed null']);
  assert.match(textOf(passed.requestHead), /\r\nCookie: own=1\r\n/);
  for (const { requestHead } of [sent, ticket, passed]) {
    const bytes = Buffer.from(requestHead.buffer);
    for (const secret of [sealed, NONCE, ...cookies.split('; ').map((pair) => pair.slice(pair.indexOf('=') + 1))])
      assert.ok(!bytes.includes(secret), secret);
  }
});

test('a tunnel whose agent asked for no records has none, also while it is away', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
  );
  const agent = await rig.serve('shop', origin.port, 'http', { inspect: false });
  assert.equal(await ask(rig, 'GET /'), '200');
  agent.destroy();
  await until(() => !rig.node.isOnline(idOf('shop')));
  assert.equal(await ask(rig, 'GET /'), '503 tunnel_offline');
  assert.deepEqual(await recordsOf(rig), []);
  assert.deepEqual(
    rig.link.questions.map((question) => 'inspect' in question),
    [false],
  );
  // The next one lets them be made.
  await rig.serve('shop', origin.port);
  assert.equal(await ask(rig, 'GET /'), '200');
  assert.equal((await recordOf(rig)).status, 200);
});

test('with the inspector off nothing is recorded, and asking for it is harmless', WITHIN, async (t) => {
  const rig = await shop(t, actions(OPEN), { inspector: null });
  assert.equal(await ask(rig, 'GET /'), '200');
  assert.deepEqual(await recordsOf(rig), []);
  const { recorded, dropped, waiting, heldBytes } = rig.node.stats().inspector;
  assert.deepEqual([recorded, waiting, heldBytes], [0, 0, 0]);
  assert.deepEqual(new Set(Object.values(dropped)), new Set([0]));
});
