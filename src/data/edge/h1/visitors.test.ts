/** Visitor gates at the edge, over real sockets: who is sent to sign in, who hears 401, who gets in, and what the service sees. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { hashSync } from '@node-rs/argon2';
import type { Route } from '../../../plane/routes.ts';
import { nonceHashOf, sealPass, type VisitorPass } from '../../../plane/visitor-tokens.ts';
import { idOf, VISITOR_KEY } from '../../fixtures/link.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, rawOrigin, type Reply, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const KEY = Buffer.from(VISITOR_KEY, 'base64url');
const BROWSER = 'n'.repeat(22);
const PAGE = 'Accept: text/html,*/*;q=0.8';

const gateOf = (name: string, version = '1'): Partial<Route> => ({
  visitorGate: { version, signInUrl: `http://api.test/edge-auth/start?tunnel_id=${idOf(name)}` },
});
const passOf = (over: Partial<VisitorPass> = {}): string =>
  sealPass(KEY, {
    tunnelId: idOf('shop'),
    version: '1',
    host: 'shop.example.test',
    email: 'ann@example.test',
    expiresAt: Date.now() + 60_000,
    browserHash: nonceHashOf(BROWSER),
    ...over,
  });
const shown = (over: Partial<VisitorPass> = {}): string => `Cookie: culvert_visitor=${passOf(over)}`;

/** `shop` and `shed` ask who their visitors are; `open` does not. Their service says which headers it got. */
async function gated(t: TestContext, trustedProxies: readonly string[] = []) {
  const rig = await Rig.start(t, { trustedProxies });
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    request.resume();
    request.on('end', () => response.end(JSON.stringify({ ...request.headers, trailers: request.trailers })));
  });
  for (const name of ['shop', 'shed', 'open']) await rig.serve(name, origin.port);
  for (const name of ['shop', 'shed']) rig.route(name, gateOf(name));
  return { rig, wire: await rig.visit(), asked };
}

async function ask(wire: Wire, line: string, ...fields: string[]): Promise<Reply> {
  wire.ask(line, ...fields);
  return wire.response(line.startsWith('HEAD'));
}

const fieldOf = ({ head }: Reply, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}: (.*)\\r\\n`, 'i').exec(head)?.[1];
const codeOf = (reply: Reply): string => `${reply.status} ${fieldOf(reply, 'culvert-error') ?? ''}`.trim();
const setsPass = ({ head }: Reply): boolean => /set-cookie: culvert_visitor=/i.test(head);

test(
  'a browser without a pass is sent to sign in, with a nonce of its own, and the service hears nothing',
  WITHIN,
  async (t) => {
    const { wire, asked } = await gated(t);
    const reply = await ask(wire, 'GET /orders?open=1', PAGE, 'Sec-Fetch-Mode: navigate');
    assert.equal(codeOf(reply), '302 sign_in');
    const to = new URL(fieldOf(reply, 'Location') ?? '');
    assert.equal(to.origin + to.pathname, 'http://api.test/edge-auth/start');
    assert.equal(to.searchParams.get('tunnel_id'), idOf('shop'));
    assert.equal(to.searchParams.get('return_to'), 'http://shop.example.test/orders?open=1');
    assert.match(to.searchParams.get('nonce') ?? '', /^[\w-]{43}$/);
    const cookie = fieldOf(reply, 'Set-Cookie') ?? '';
    assert.match(cookie, /^culvert_nonce=[\w-]{22}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    // The next tab uses the same.
    const again = await ask(wire, 'GET /', PAGE, `Cookie: ${cookie.split(';')[0]}`);
    assert.equal(new URL(fieldOf(again, 'Location') ?? '').searchParams.get('nonce'), to.searchParams.get('nonce'));
    assert.deepEqual(asked, []);
  },
);

test('whatever is no visit of a browser hears 401 in JSON, with what to do', WITHIN, async (t) => {
  const { wire, asked } = await gated(t);
  for (const [line, ...fields] of [
    ['GET /'],
    ['GET /', 'Accept: */*'],
    ['GET /', 'Accept: application/json, text/html'],
    ['POST /', PAGE, 'Content-Length: 0'],
    ['OPTIONS /', PAGE],
    ['GET /', PAGE, 'Sec-Fetch-Mode: cors'],
    ['GET /', PAGE, 'sec-fetch-mode:no-cors'],
    ['GET /', PAGE, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  ] as const) {
    const reply = await ask(wire, line, ...fields);
    assert.equal(codeOf(reply), '401 unauthorized', [line, ...fields].join());
    assert.match(fieldOf(reply, 'WWW-Authenticate') ?? '', /^Culvert-Visitor realm="shop"$/);
    assert.equal(/set-cookie/i.test(reply.head), false);
    if (fields.some((field) => field === PAGE)) continue;
    const { error, message } = JSON.parse(reply.body);
    assert.equal(error, 'unauthorized');
    assert.match(message, /Open http:\/\/shop\.example\.test\/ in a browser/);
  }
  assert.deepEqual(asked, []);
});

test('visitor login: a pass is accepted, and the service gets the address but no cookie', WITHIN, async (t) => {
  const { wire } = await gated(t);
  const reply = await ask(wire, 'GET /', `Cookie: a=1; culvert_visitor=${passOf()}; culvert_nonce=x; b="2"`);
  assert.equal(reply.status, 200);
  const got = JSON.parse(reply.body);
  assert.deepEqual([got['culvert-visitor-email'], got['cookie']], ['ann@example.test', 'a=1; b="2"']);
  for (const host of ['SHOP.example.TEST', 'shop.example.test:8080', 'shop.example.test.'])
    assert.equal((await ask(wire, 'GET /', `Host: ${host}`, shown())).status, 200, host);
});

test('who a visitor says that it is never reaches the service, with a gate and without', WITHIN, async (t) => {
  const { wire } = await gated(t);
  for (const [host, email] of [
    ['shop', 'ann@example.test'],
    ['open', undefined],
  ] as const) {
    for (const spoof of [
      ['Culvert-Visitor-Email: eve@evil.test'],
      ['culvert_visitor_email: eve@evil.test', 'CULVERT-VISITOR-EMAIL: eve@evil.test'],
      ['Culvert-Visitor-Email: eve@evil.test', 'Connection: Culvert-Visitor-Email'],
    ]) {
      const got = JSON.parse((await ask(wire, 'GET /', `Host: ${host}.example.test`, shown(), ...spoof)).body);
      assert.equal(got['culvert-visitor-email'], email, `${host}: ${spoof.join()}`);
      assert.equal(got['culvert_visitor_email'], undefined);
    }
    wire.ask('POST /', `Host: ${host}.example.test`, shown(), 'Transfer-Encoding: chunked');
    wire.send('1\r\nx\r\n0\r\nCulvert-Visitor-Email: eve@evil.test\r\nX-Sum: 1\r\n\r\n');
    assert.deepEqual(JSON.parse((await wire.response()).body)['trailers'], { 'x-sum': '1' });
  }
});

test(
  'a pass for another tunnel, host or version, of another key, and one that has run out, is none',
  WITHIN,
  async (t) => {
    const { rig, wire, asked } = await gated(t);
    const wrong: ReadonlyArray<readonly [what: string, cookie: string]> = [
      ['another tunnel', shown({ tunnelId: idOf('shed'), host: 'shed.example.test' })],
      ['another tunnel, this host', shown({ tunnelId: idOf('shed') })],
      ['another host', shown({ host: 'shed.example.test' })],
      ['an older version', shown({ version: '0' })],
      ['run out', shown({ expiresAt: Date.now() - 1 })],
      [
        'another key',
        `Cookie: culvert_visitor=${sealPass(Buffer.alloc(32), { tunnelId: idOf('shop'), version: '1', host: 'shop.example.test', email: 'ann@example.test', expiresAt: Date.now() + 60_000, browserHash: '' })}`,
      ],
      ['cut', shown().slice(0, -2)],
      ['nothing', 'Cookie: culvert_visitor='],
      ['another name', shown().replace('culvert_visitor', 'Culvert_Visitor')],
    ];
    for (const [what, cookie] of wrong) {
      const reply = await ask(wire, 'GET /', PAGE, cookie);
      assert.equal(codeOf(reply), '302 sign_in', what);
      assert.equal(setsPass(reply), false, what);
    }
    assert.equal(codeOf(await ask(wire, 'GET /', 'Host: shed.example.test', shown())), '401 unauthorized');
    rig.route('shop', { ...gateOf('shop'), domains: ['custom.test'] });
    assert.equal(codeOf(await ask(wire, 'GET /', 'Host: custom.test', shown())), '401 unauthorized');
    assert.equal((await ask(wire, 'GET /', 'Host: custom.test', shown({ host: 'custom.test' }))).status, 200);
    assert.deepEqual(asked.length, 1);
  },
);

test('a pass that was made for another browser is none in this one, and hides none', WITHIN, async (t) => {
  const { rig, asked } = await gated(t);
  const tls = await rig.visit({ tls: true });
  const page = [PAGE, 'Sec-Fetch-Mode: navigate'];
  const own = `__Host-culvert_browser=${BROWSER}`;
  const eves = `culvert_visitor=${passOf({ email: 'eve@evil.test', browserHash: nonceHashOf('e'.repeat(22)) })}`;
  for (const [what, cookie] of [
    ['before its own sign-in', eves],
    ['under way', `${eves}; ${own}`],
    ['with a nonce that a neighbour can plant too', `${eves}; culvert_browser=${'e'.repeat(22)}`],
    ['with a nonce', `${eves}; __Host-culvert_nonce=${'e'.repeat(22)}`],
  ] as const)
    assert.equal(codeOf(await ask(tls, 'GET /', ...page, `Cookie: ${cookie}`)), '302 sign_in', what);
  assert.equal(codeOf(await ask(tls, 'GET /api', 'Sec-Fetch-Mode: cors', `Cookie: ${eves}`)), '401 unauthorized');
  assert.deepEqual(asked, []);
  for (const cookie of [`${eves}; ${shown().slice(8)}; ${own}`, `${own}; ${shown().slice(8)}; ${eves}`])
    for (const fields of [page, ['Sec-Fetch-Mode: cors'], []]) {
      const reply = await ask(tls, 'GET /', ...fields, `Cookie: ${cookie}`);
      assert.deepEqual([reply.status, JSON.parse(reply.body)['culvert-visitor-email']], [200, 'ann@example.test']);
    }
  // A program carries what its person has copied.
  assert.equal((await ask(tls, 'GET /', shown())).status, 200);
});

test('visitors: passes of two people in one browser are an error instead of a redirect loop', WITHIN, async (t) => {
  const { wire } = await gated(t);
  const cookie = `${shown()}; culvert_visitor=${passOf({ email: 'eve@evil.test' })}`;
  const reply = await ask(wire, 'GET /', PAGE, cookie);
  assert.equal(codeOf(reply), '403 sign_in_failed');
  assert.match(reply.body, /two different users/);
});

test(
  'a changed gate, a new one and one that is taken away count from the next request of a kept connection on',
  WITHIN,
  async (t) => {
    const { rig, wire } = await gated(t);
    assert.equal((await ask(wire, 'GET /', shown())).status, 200);
    rig.route('shop', gateOf('shop', '2'));
    assert.equal(codeOf(await ask(wire, 'GET /', shown())), '401 unauthorized');
    assert.equal((await ask(wire, 'GET /', shown({ version: '2' }))).status, 200);
    rig.route('shop');
    const free = await ask(wire, 'GET /', shown(), 'Culvert-Visitor-Email: eve@evil.test');
    assert.deepEqual([free.status, JSON.parse(free.body)['culvert-visitor-email']], [200, undefined]);
    rig.route('shop', gateOf('shop', '3'));
    assert.equal(codeOf(await ask(wire, 'GET /', shown({ version: '2' }))), '401 unauthorized');
    rig.route('shop', { ...gateOf('shop', '3'), maintenance: '' });
    assert.equal(codeOf(await ask(wire, 'GET /', PAGE)), '503 maintenance');
    rig.remove('shop');
    assert.equal(codeOf(await ask(wire, 'GET /', shown({ version: '3' }))), '404 tunnel_not_found');
  },
);

test('a WebSocket gets through with a pass, and the service learns who it is', WITHIN, async (t) => {
  const { rig, wire } = await gated(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ),
  );
  await rig.serve('shop', origin.port);
  rig.route('shop', gateOf('shop'));
  wire.ask('GET /feed', shown(), 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13');
  await wire.until(/^HTTP\/1\.1 101/);
  assert.match(origin.texts[0] ?? '', /\r\nCulvert-Visitor-Email: ann@example\.test\r\n/);
  assert.doesNotMatch(origin.texts[0] ?? '', /cookie/i);
});

test('policy and password come before, headers of the policy beside', WITHIN, async (t) => {
  const { rig, wire } = await gated(t);
  const passwordHash = hashSync('sesame', { memoryCost: 1_024, timeCost: 1, parallelism: 1 });
  const actions = [
    { kind: 'deny' as const, pathPrefix: '/admin', enforce: true },
    { kind: 'header_set' as const, name: 'X-Tenant', value: 'blue', enforce: true },
    { kind: 'header_set' as const, name: 'Cookie', value: 'own=1', enforce: true },
  ];
  rig.route('shop', {
    ...gateOf('shop'),
    policy: { actions, setAt: 0 },
    gate: { username: 'a', passwordHash, version: '1' },
  });
  const basic = `Authorization: Basic ${Buffer.from('a:sesame').toString('base64')}`;
  assert.equal(codeOf(await ask(wire, 'GET /admin', PAGE)), '403 denied');
  assert.match(fieldOf(await ask(wire, 'GET /', PAGE, shown()), 'WWW-Authenticate') ?? '', /^Basic/);
  assert.equal(codeOf(await ask(wire, 'GET /', PAGE, basic)), '302 sign_in');
  const got = JSON.parse((await ask(wire, 'GET /', basic, `${shown()}; a=1`)).body);
  assert.deepEqual(
    [got['culvert-visitor-email'], got['x-tenant'], got['cookie'], got['authorization']],
    ['ann@example.test', 'blue', 'own=1', undefined],
  );
});

test('visitors: no login over plain http when the public address is https', WITHIN, async (t) => {
  const { rig, asked } = await gated(t, ['127.0.0.2']);
  rig.route('shop', { ...gateOf('shop'), publicUrl: 'https://shop.example.test:8443', domains: ['custom.test'] });
  const plain = await rig.visit();
  const moved = await ask(plain, 'GET /a?b=1', PAGE);
  assert.deepEqual(
    [codeOf(moved), fieldOf(moved, 'Location')],
    ['302 sign_in', 'https://shop.example.test:8443/a?b=1'],
  );
  assert.equal(/set-cookie/i.test(moved.head), false);
  assert.equal(
    fieldOf(await ask(plain, 'GET /', 'Host: custom.test:80', PAGE), 'Location'),
    'https://custom.test:8443/',
  );
  // A browser that believes to be on https would be sent round for ever: the proxy in front is not trusted.
  const behind = await ask(plain, 'GET /', PAGE, 'Sec-Fetch-Mode: navigate', 'X-Forwarded-Proto: https');
  assert.equal(codeOf(behind), '403 sign_in_failed');
  assert.match(behind.body, /Open https:\/\/shop\.example\.test:8443\/\. .*api\.trusted_proxies/);
  for (const fields of [[], [shown()], [shown(), PAGE], ['X-Forwarded-Proto: https', shown()]])
    assert.notEqual((await ask(plain, 'GET /', ...fields)).status, 200, fields.join());
  assert.equal(codeOf(await ask(plain, 'GET /', shown())), '401 unauthorized');
  assert.deepEqual(asked, []);

  const tls = await rig.visit({ tls: true });
  const begun = await ask(tls, 'GET /', PAGE);
  assert.match(
    fieldOf(begun, 'Set-Cookie') ?? '',
    /^__Host-culvert_nonce=[\w-]{22}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  assert.equal((await ask(tls, 'GET /', shown())).status, 200);
});

test('a trusted proxy says whether the visitor came by https', WITHIN, async (t) => {
  const { rig } = await gated(t, ['127.0.0.1']);
  rig.route('shop', { ...gateOf('shop'), publicUrl: 'https://shop.example.test' });
  const wire = await rig.visit();
  assert.equal((await ask(wire, 'GET /', 'X-Forwarded-Proto: https', shown())).status, 200);
  assert.equal(codeOf(await ask(wire, 'GET /', 'X-Forwarded-Proto: http', shown())), '401 unauthorized');
  const begun = await ask(wire, 'GET /', 'X-Forwarded-Proto: HTTPS', PAGE);
  assert.match(fieldOf(begun, 'Set-Cookie') ?? '', /^__Host-culvert_nonce=.*; Secure$/);
});

test('over HTTP/2 it is the same: a way to sign in, 401, and the pass that stays here', WITHIN, async (t) => {
  const { rig } = await gated(t);
  const visitor = await Http2Visitor.open(t, rig);
  const begun = await visitor.ask({ ':path': '/orders', accept: 'text/html' });
  assert.deepEqual([begun.status, begun.headers['culvert-error']], [302, 'sign_in']);
  assert.match(begun.headers['set-cookie']?.[0] ?? '', /^__Host-culvert_nonce=[\w-]{22}; .*; Secure$/);
  assert.match(begun.headers.location ?? '', /return_to=https%3A%2F%2Fshop\.example\.test%2Forders&/);
  assert.equal((await visitor.ask({ ':path': '/' })).status, 401);
  const cookie = ['a=1', `culvert_visitor=${passOf()}`, 'b=2'];
  const spoof = { 'culvert-visitor-email': 'eve@evil.test' };
  const answer = await visitor.ask({ ':path': '/', cookie, ...spoof });
  assert.equal(answer.status, 200);
  const got = JSON.parse(answer.body);
  assert.deepEqual([got['culvert-visitor-email'], got['cookie']], ['ann@example.test', 'a=1; b=2']);
  // Not even on the stream behind it, to a tunnel without a gate.
  const free = await (await Http2Visitor.open(t, rig, 'open.example.test')).ask({ ':path': '/', ...spoof });
  assert.deepEqual([free.status, JSON.parse(free.body)['culvert-visitor-email']], [200, undefined]);
});

test(
  'who the visitor is reaches the service also when a signature of the body is asked for behind the login',
  WITHIN,
  async (t) => {
    const { rig } = await gated(t);
    const grant = rig.link.onClaim;
    rig.link.onClaim = (question) => {
      const answer = grant(question);
      const none = { allow: [], deny: [], gate: null, policy: null, visitors: null, endsAt: null, domain: null };
      const webhook = { kind: 'github', secrets: ['s3cret'] };
      return answer.ok
        ? { ...answer, narrowing: { ...none, names: ['webhook_verify'], remotePort: null, webhook } }
        : answer;
    };
    const origin = await httpOrigin(t, (request, response) => {
      request.resume();
      request.on('end', () => response.end(request.headers['culvert-visitor-email'] ?? 'none'));
    });
    await rig.serve('shop', origin.port);
    rig.route('shop', gateOf('shop'));
    const wire = await rig.visit();
    const signature = createHmac('sha256', 's3cret').update('body').digest('hex');
    wire.ask('POST /hook', shown(), 'Content-Length: 4', `X-Hub-Signature-256: sha256=${signature}`);
    wire.send('body');
    assert.deepEqual(await wire.response().then(({ status, body }) => [status, body]), [200, 'ann@example.test']);
  },
);
