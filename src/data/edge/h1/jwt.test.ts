import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { PolicyAction } from '../../../plane/policy.ts';
import { until } from '../../fixtures/gateway.ts';
import { TestIssuer } from '../../fixtures/issuer.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

interface Fixture {
  readonly rig: Rig;
  readonly issuer: TestIssuer;
  readonly token: string;
  /** `POST /path body`, as the service got it. */
  readonly served: string[];
  readonly jwt: PolicyAction;
  /** Puts the tunnel `shop` under these actions. */
  policy(...actions: PolicyAction[]): void;
}

/** A tunnel `shop` that asks for a token of `issuer`, in front of a service that answers with what it was sent. */
async function fixture(t: TestContext): Promise<Fixture> {
  const issuer = await TestIssuer.start(t);
  const rig = await Rig.start(t, { issuerKeys: { allowPrivate: true, ca: issuer.ca } });
  const served: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    void text(request).then((body) => {
      served.push(`${request.method} ${request.url} ${body}`.trim());
      response.end(body);
    });
  });
  await rig.serve('shop', origin.port);
  const list = { allowedIssuers: [], allowedAudiences: [] };
  const jwt: PolicyAction = { kind: 'jwt_validation', enforce: true, jwksUrl: issuer.jwksUrl, ...list };
  const policy = (...actions: PolicyAction[]): void => rig.route('shop', { policy: { setAt: 0, actions } });
  policy(jwt);
  return { rig, issuer, served, jwt, policy, token: `Authorization: Bearer ${await issuer.sign()}` };
}

/** Holds the issuer's answers back. Resolves once it is asked; then `release` lets them go. */
function held(issuer: TestIssuer): { asked: Promise<void>; release(): void } {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { push } = issuer.asked;
  issuer.hold = gate.promise;
  issuer.asked.push = (...paths: string[]) => {
    asked.resolve();
    return push.apply(issuer.asked, paths);
  };
  return { asked: asked.promise, release: () => gate.resolve() };
}

test(
  'without a valid token: 401 with a challenge; the connection goes on and a valid one passes',
  WITHIN,
  async (t) => {
    const { rig, issuer, token, served } = await fixture(t);
    const wire = await rig.visit();
    const bad = `Authorization: Bearer ${await issuer.sign({ exp: 1 })}`;
    const long = `Authorization: Bearer ${'a'.repeat(9_000)}`;
    for (const fields of [
      [],
      [bad],
      ['Authorization: Basic eDp5'],
      ['Authorization: Bearer'],
      [long],
      [token, bad],
      [token, token],
    ]) {
      wire.ask('GET /', ...fields);
      const { status, head, body } = await wire.response();
      assert.equal(status, 401, fields.join());
      assert.match(head, /\r\nculvert-error: invalid_token\r\n/);
      assert.match(head, /\r\nWWW-Authenticate: Bearer error="invalid_token"\r\n/);
      assert.equal(JSON.parse(body).error, 'invalid_token');
    }
    for (const name of [token, token.replace('Authorization: Bearer', 'AUTHORIZATION:bearer  ')]) {
      wire.ask('GET /in', name);
      assert.equal((await wire.response()).status, 200);
    }
    assert.deepEqual(served, ['GET /in', 'GET /in']);
    assert.equal(issuer.asked.length, 1);
  },
);

test('a body that came with the head, and requests behind it, wait and are answered in order', WITHIN, async (t) => {
  for (const tls of [false, true]) {
    const { rig, issuer, token, served } = await fixture(t);
    const { asked, release } = held(issuer);
    const wire = await rig.visit({ tls });
    const host = 'Host: shop.example.test';
    wire.send(
      [`POST /1 HTTP/1.1`, host, token, 'Content-Length: 5', '', `helloGET /2 HTTP/1.1`, host, '', ''].join('\r\n') +
        [`POST /3 HTTP/1.1`, host, token, 'Transfer-Encoding: chunked', '', '3\r\nabc\r\n0', '', ''].join('\r\n'),
    );
    await asked;
    // What comes while the head waits, too.
    wire.ask('GET /4', token);
    release();
    const replies = [await wire.response(), await wire.response(), await wire.response(), await wire.response()];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 401, 200, 200],
    );
    assert.equal(replies[0]?.body, 'hello');
    assert.deepEqual(served, ['POST /1 hello', 'POST /3 abc', 'GET /4']);
  }
});

test('a visitor that leaves while its request waits is forgotten; its neighbours are served', WITHIN, async (t) => {
  const { rig, issuer, token, served } = await fixture(t);
  const { asked, release } = held(issuer);
  const [gone, stays] = [await rig.visit(), await rig.visit()];
  gone.ask('GET /gone', token);
  await asked;
  stays.ask('GET /stays', token);
  gone.socket.resetAndDestroy();
  await once(gone.socket, 'close');
  release();
  assert.equal((await stays.response()).status, 200);
  assert.ok(served.includes('GET /stays'));
});

test('a policy that changes while a request waits is the one that counts', WITHIN, async (t) => {
  const { rig, issuer, token, served, jwt, policy } = await fixture(t);
  const { asked, release } = held(issuer);
  const wire = await rig.visit();
  wire.ask('GET /', token);
  await asked;
  policy(jwt, { kind: 'deny', pathPrefix: '/', enforce: true });
  release();
  assert.equal((await wire.response()).status, 403);
  assert.deepEqual(served, []);
});

test(
  'jwt: a token allowed for one request allows no later one, even after maintenance in between',
  WITHIN,
  async (t) => {
    const { rig, issuer, token, served, jwt, policy } = await fixture(t);
    const { asked, release } = held(issuer);
    const wire = await rig.visit();
    wire.ask('GET /1', token);
    await asked;
    rig.route('shop', { policy: { setAt: 0, actions: [jwt] }, maintenance: '' });
    release();
    assert.equal((await wire.response()).status, 503);
    policy(jwt);
    wire.ask('GET /2');
    assert.equal((await wire.response()).status, 401);
    assert.deepEqual(served, []);
  },
);

test('jwt: a log-only action delays no request, and is counted once its keys are there', WITHIN, async (t) => {
  const { rig, issuer, served, jwt, policy } = await fixture(t);
  policy({ ...jwt, enforce: false });
  const { asked, release } = held(issuer);
  const wire = await rig.visit();
  const bad = `Authorization: Bearer ${await issuer.sign({ exp: 1 })}`;
  for (const path of ['/1', '/2']) {
    wire.ask(`GET ${path}`, bad);
    assert.equal((await wire.response()).status, 200);
  }
  assert.deepEqual(served, ['GET /1', 'GET /2']);
  await asked;
  assert.deepEqual(
    rig.link.batches.flatMap(({ events }) => events.filter(({ kind }) => kind === 'dry_run')),
    [],
  );
  release();
  const told = () => rig.link.batches.flatMap(({ events }) => events.filter((event) => event.kind === 'dry_run'));
  await until(() => told().length > 0);
  assert.deepEqual(
    told().map(({ action, refused, sample: { code } }) => [action, refused, code]),
    [['jwt_validation', 2, 'invalid_token']],
  );
});

test('jwt: no visitor passes while the keys can’t be fetched', WITHIN, async (t) => {
  const { rig, issuer, token, served } = await fixture(t);
  issuer.isDown = true;
  const wire = await rig.visit();
  for (let i = 0; i < 2; i++) {
    wire.ask('GET /', token);
    const { status, head } = await wire.response();
    assert.equal(status, 503);
    assert.match(head, /culvert-error: policy_failed/);
  }
  assert.deepEqual([served, issuer.asked.length], [[], 1]);
});

test('issuers on private addresses are not asked unless the settings say so', WITHIN, async (t) => {
  const { issuer, token, jwt } = await fixture(t);
  const strict = await Rig.start(t, { issuerKeys: { allowPrivate: false, ca: issuer.ca } });
  await strict.serve('shop', 9);
  strict.route('shop', { policy: { setAt: 0, actions: [jwt] } });
  const wire = await strict.visit();
  wire.ask('GET /', token);
  assert.equal((await wire.response()).status, 503);
  assert.deepEqual(issuer.asked, []);
});
