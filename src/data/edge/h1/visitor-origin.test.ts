/** Which page's requests a visitor gate lets do things with the visitor's pass: tunnels are neighbours, and to browsers one site. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { nonceHashOf, sealPass } from '../../../plane/visitor-tokens.ts';
import { idOf, VISITOR_KEY } from '../../fixtures/link.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { type Reply, type Wire, perHead, rawOrigin, Rig, type RigOptions } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const KEY = Buffer.from(VISITOR_KEY, 'base64url');
const visitorGate = { version: '1', signInUrl: `http://api.test/edge-auth/start?tunnel_id=${idOf('shop')}` };
const BROWSER = 'n'.repeat(22);
const PASS = `culvert_browser=${BROWSER}; __Host-culvert_browser=${BROWSER}; culvert_visitor=${sealPass(KEY, {
  tunnelId: idOf('shop'),
  version: '1',
  host: 'shop.example.test',
  email: 'ann@example.test',
  expiresAt: Date.now() + 60_000,
  browserHash: nonceHashOf(BROWSER),
})}`;
const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const NO_BODY = 'Content-Length: 0';

/** `shop` asks who comes; its service takes upgrades, and answers all else with 200. `open` is its neighbour without a gate. */
async function gated(t: TestContext, options: RigOptions = {}) {
  const rig = await Rig.start(t, options);
  const origin = await rawOrigin(
    t,
    perHead((socket, head) =>
      socket.write(
        /\r\nupgrade: websocket\r\n/i.test(head)
          ? 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
          : 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      ),
    ),
  );
  for (const name of ['shop', 'open']) await rig.serve(name, origin.port);
  rig.route('shop', { visitorGate });
  return { rig, asked: origin.texts };
}

async function ask(wire: Wire, line: string, ...fields: string[]): Promise<Reply> {
  wire.ask(line, ...fields);
  return wire.response(line.startsWith('HEAD'));
}

/** Each on a connection of its own: one that is upgraded is no longer HTTP. */
async function upgradeAs(rig: Rig, of: { tls?: boolean; cookie?: string }, ...fields: string[]): Promise<number> {
  const wire = await rig.visit({ tls: of.tls ?? false });
  wire.ask('GET /feed', ...UPGRADE, `Cookie: ${of.cookie ?? PASS}`, ...fields);
  return Number((await wire.until(/^HTTP\/1\.1 \d+/)).slice(9, 12));
}

test('a WebSocket of another page is one without a pass, whatever the browser says beside', WITHIN, async (t) => {
  const { rig, asked } = await gated(t);
  for (const origin of [
    'http://open.example.test',
    'http://shop.example.test.evil.test',
    'http://evil.test',
    // Another service of the same machine, and the same name without TLS.
    'http://shop.example.test:20001',
    'https://shop.example.test',
    'http://shop.example.test@evil.test',
    'null',
    'junk',
    '',
  ])
    for (const site of [[], ['Sec-Fetch-Site: same-site'], ['Sec-Fetch-Site: same-origin']])
      assert.equal(await upgradeAs(rig, {}, `Origin: ${origin}`, ...site), 401, `${origin} ${site.join()}`);
  assert.equal(await upgradeAs(rig, { tls: true }, 'Origin: http://shop.example.test'), 401);
  assert.deepEqual(asked, []);
});

test('a WebSocket of the own page gets through, and one of a program', WITHIN, async (t) => {
  const { rig } = await gated(t);
  for (const fields of [
    [],
    ['Origin: http://shop.example.test'],
    ['origin:HTTP://Shop.Example.test:80'],
    ['Host: shop.example.test:8080', 'Origin: http://shop.example.test:8080'],
    ['Host: SHOP.example.test:80', 'Origin: http://shop.example.test', 'Sec-Fetch-Site: same-origin'],
  ])
    assert.equal(await upgradeAs(rig, {}, ...fields), 101, fields.join());
  assert.equal(await upgradeAs(rig, { tls: true }, 'Origin: https://shop.example.test'), 101);
});

test('behind a proxy on another port its page is the own one, by the public address', WITHIN, async (t) => {
  const { rig } = await gated(t, { trustedProxies: ['127.0.0.1'] });
  rig.route('shop', { visitorGate, publicUrl: 'https://shop.example.test:8443' });
  const https = 'X-Forwarded-Proto: https';
  assert.equal(await upgradeAs(rig, {}, https, 'Origin: https://shop.example.test:8443'), 101);
  assert.equal(await upgradeAs(rig, {}, https, 'Origin: https://shop.example.test'), 101);
  for (const origin of [
    'http://shop.example.test:8443',
    'https://open.example.test:8443',
    'https://shop.example.test:9',
  ])
    assert.equal(await upgradeAs(rig, {}, https, `Origin: ${origin}`), 401, origin);
});

test('what changes things is taken from the own page alone; links and reads pass', WITHIN, async (t) => {
  const { rig, asked } = await gated(t);
  const wire = await rig.visit();
  const evil = 'Origin: http://open.example.test';
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'post', 'QUERY'])
    for (const fields of [
      ['Sec-Fetch-Site: same-site', evil],
      ['sec-fetch-site:Cross-Site', evil],
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site', 'Origin: null'],
      ['Sec-Fetch-Site: of-a-later-day', evil],
      // Over plain http, and of older browsers. A page can make it `null`.
      [evil],
      ['Origin: https://shop.example.test'],
      ['Origin: null'],
    ]) {
      const reply = await ask(wire, `${method} /delete`, `Cookie: ${PASS}`, NO_BODY, ...fields);
      assert.equal(reply.status, 401, `${method} ${fields.join()}`);
      assert.match(reply.head, /\r\nWWW-Authenticate: Culvert-Visitor realm="shop"\r\n/);
      assert.match(reply.head, /\r\nculvert-error: unauthorized\r\n/);
      assert.match(reply.body, /a login at http:\/\/shop\.example\.test does not apply to it/);
    }
  assert.deepEqual(asked, []);
  for (const [line, ...fields] of [
    ['POST /', 'Sec-Fetch-Site: same-origin', 'Origin: http://shop.example.test'],
    // Of a page with `Referrer-Policy: no-referrer`.
    ['POST /', 'Sec-Fetch-Site: same-origin', 'Origin: null'],
    ['POST /', 'Sec-Fetch-Site: none'],
    ['POST /'],
    ['POST /', 'Origin: http://shop.example.test'],
    // From http to https of the same host, say.
    ['POST /', 'Sec-Fetch-Site: same-site', 'Origin: http://shop.example.test'],
    ['GET /', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Accept: text/html'],
    ['HEAD /', 'Sec-Fetch-Site: same-site'],
    ['OPTIONS /', 'Sec-Fetch-Site: same-site', evil],
    ['GET /', 'Sec-Fetch-Site: same-site', evil],
  ] as const)
    assert.equal((await ask(wire, line, `Cookie: ${PASS}`, NO_BODY, ...fields)).status, 200, [line, ...fields].join());
});

test(
  'another page learns nothing of the pass, and a tunnel without a gate is asked by all pages',
  WITHIN,
  async (t) => {
    const { rig } = await gated(t);
    const fields = [NO_BODY, 'Sec-Fetch-Site: same-site', 'Origin: http://open.example.test'];
    const wire = await rig.visit();
    const known = await ask(wire, 'POST /', `Cookie: ${PASS}`, ...fields);
    const unknown = await ask(wire, 'POST /', ...fields);
    assert.deepEqual([known.status, known.body], [unknown.status, unknown.body]);
    const host = 'Host: open.example.test';
    assert.equal((await ask(wire, 'POST /', host, ...fields)).status, 200);
    assert.equal(await upgradeAs(rig, {}, host, 'Origin: http://evil.test', 'Sec-Fetch-Site: cross-site'), 101);
  },
);

test('over HTTP/2 it is the same', WITHIN, async (t) => {
  const { rig } = await gated(t);
  const visitor = await Http2Visitor.open(t, rig);
  const post = (fields: Record<string, string>) =>
    visitor.ask({ ':method': 'POST', ':path': '/', cookie: PASS, ...fields }, 'x');
  const evil = { origin: 'https://open.example.test' };
  for (const site of ['same-site', 'cross-site', 'Same-Site']) {
    const answer = await post({ 'sec-fetch-site': site, ...evil });
    assert.deepEqual([answer.status, answer.headers['culvert-error']], [401, 'unauthorized'], site);
  }
  assert.equal((await post({ 'sec-fetch-site': 'same-site', origin: 'https://shop.example.test' })).status, 200);
  assert.equal((await post({ 'sec-fetch-site': 'same-origin', origin: 'https://shop.example.test' })).status, 200);
});
