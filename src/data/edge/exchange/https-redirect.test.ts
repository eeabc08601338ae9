import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { httpOrigin, Rig, type RigOptions } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

async function startShop(t: TestContext, options: RigOptions): Promise<{ rig: Rig; asked: string[] }> {
  const rig = await Rig.start(t, options);
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('served');
  });
  await rig.serve('shop', origin.port);
  return { rig, asked };
}

const locationIn = (head: string): string | undefined => /^location: (.*)$/im.exec(head)?.[1];

test(
  'GET and HEAD of a name that is served go to https, with path and query, and reach no service',
  WITHIN,
  async (t) => {
    const { rig, asked } = await startShop(t, { httpsRedirectPort: 443 });
    const wire = await rig.visit();
    for (const [line, host, location] of [
      ['GET /', 'shop.example.test', 'https://shop.example.test/'],
      ['HEAD /a?b=c&d', 'shop.example.test', 'https://shop.example.test/a?b=c&d'],
      ['GET /a', 'Shop.Example.test:8080', 'https://shop.example.test/a'],
      ['GET //evil.test/x', 'shop.example.test', 'https://shop.example.test//evil.test/x'],
      ['GET http://shop.example.test/x?y', 'shop.example.test', 'https://shop.example.test/x?y'],
      ['GET http://shop.example.test?y', 'shop.example.test', 'https://shop.example.test/?y'],
      ['GET http://shop.example.test', 'shop.example.test', 'https://shop.example.test/'],
      ['GET /caf\xe9', 'shop.example.test', 'https://shop.example.test/caf%E9'],
      [
        'GET /.well-known/acme-challenge/',
        'shop.example.test',
        'https://shop.example.test/.well-known/acme-challenge/',
      ],
    ] as const) {
      wire.ask(line, `Host: ${host}`, 'Authorization: Basic eDp5');
      const { status, head } = await wire.response(line.startsWith('HEAD'));
      assert.deepEqual([status, locationIn(head)], [308, location], line);
      assert.match(head, /cache-control: no-store/i, 'a switch that is turned off again is not remembered against');
    }
    assert.deepEqual(asked, []);
  },
);

test('what is neither is refused with words, and its body is not read', WITHIN, async (t) => {
  const { rig, asked } = await startShop(t, { httpsRedirectPort: 8_443 });
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAT']) {
    const wire = await rig.visit();
    wire.ask(`${method} /order`, 'Content-Length: 10');
    const { status, head, body } = await wire.response();
    assert.deepEqual([status, locationIn(head)], [400, undefined], method);
    assert.match(body, /"error":"https_required".*https:\/\/shop\.example\.test:8443 instead/);
    assert.equal(await wire.closed, 'end');
  }
  assert.deepEqual(asked, []);
});

test('https, challenges of certificate authorities and unknown names are not sent on', WITHIN, async (t) => {
  const { rig } = await startShop(t, { httpsRedirectPort: 443 });
  const secure = await rig.visit({ tls: true });
  secure.ask('GET /');
  assert.equal((await secure.response()).body, 'served');
  const plain = await rig.visit();
  plain.ask('GET /.well-known/acme-challenge/abc');
  assert.equal((await plain.response()).body, 'served');
  plain.ask('GET /', 'Host: other.example.test');
  assert.equal((await plain.response()).status, 404, 'an open redirect to any Host there is none');
});

test('beside the token of a challenge nothing passes by plain http', WITHIN, async (t) => {
  const { rig, asked } = await startShop(t, { httpsRedirectPort: 443 });
  const wire = await rig.visit();
  for (const rest of ['../../admin', '%2e%2e/admin', 'a/b', 'a/', 'a;b', 'a?b', '..', 'a.b', '']) {
    wire.ask(`GET /.well-known/acme-challenge/${rest}`);
    assert.equal((await wire.response()).status, 308, rest);
  }
  wire.ask('POST /.well-known/acme-challenge/x', 'Content-Length: 0');
  assert.equal((await wire.response()).status, 400);
  assert.deepEqual(asked, []);
  const other = await rig.visit();
  for (const line of ['GET /.well-known/acme-challenge/aZ09-_', 'HEAD /.well-known/acme-challenge/x']) {
    other.ask(line);
    assert.equal((await other.response(line.startsWith('HEAD'))).status, 200, line);
  }
});

test('https redirect: X-Forwarded-Proto counts from a trusted proxy alone', WITHIN, async (t) => {
  const { rig } = await startShop(t, { httpsRedirectPort: 443, trustedProxies: ['127.0.0.1/32'] });
  const proxy = await rig.visit();
  proxy.ask('GET /', 'X-Forwarded-Proto: https');
  assert.equal((await proxy.response()).body, 'served');
  for (const fields of [['X-Forwarded-Proto: http'], ['X-Forwarded-Proto: gopher'], []]) {
    proxy.ask('GET /', ...fields);
    assert.equal((await proxy.response()).status, 308);
  }
  const strange = await startShop(t, { httpsRedirectPort: 443 });
  const liar = await strange.rig.visit();
  liar.ask('GET /', 'X-Forwarded-Proto: https');
  assert.equal((await liar.response()).status, 308);
});

test("the listener's own port is named where none is given", WITHIN, async (t) => {
  const { rig } = await startShop(t, { httpsRedirectPort: 0 });
  const wire = await rig.visit();
  wire.ask('GET /x');
  assert.equal(locationIn((await wire.response()).head), `https://shop.example.test:${rig.httpsPort}/x`);
});
