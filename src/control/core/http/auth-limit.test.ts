/**
 * The limit on `/auth/*` at its bounds, on a clock that the tests move.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { UserActor } from '../rules/actor.ts';
import { Plane } from '../testing/plane.ts';
import { type PlaneApi, servePlane } from '../testing/plane-api.ts';

const BURST = 5;
const REFILL_MS = 12_000;
const DASHBOARD = 'https://dash.example.org';

let plane: Plane;
let api: PlaneApi;
let ann: UserActor;
before(async () => {
  plane = new Plane();
  const authLimit = { burst: BURST, refillSeconds: REFILL_MS / 1000 };
  api = await servePlane(plane, { authLimit, corsOrigins: [DASHBOARD] });
  ann = await plane.person('ann@example.com');
});
after(async () => {
  await api.close();
  plane.close();
});

let source = 0;
beforeEach(() => void source++);
const from = (headers = {}) => ({ 'x-forwarded-for': `203.0.113.${source}`, ...headers });
/** Checks a secret, and costs no hashing of passwords. */
const tryOnce = async (): Promise<number> => {
  const answer = await api.call('POST', '/auth/refresh', { headers: from({ cookie: 'qnt_refresh=rubbish' }) });
  return answer.status;
};
const emptyBucket = async (): Promise<void> => {
  for (let i = 0; i < BURST; i++) assert.equal(await tryOnce(), 401);
  assert.equal(await tryOnce(), 429);
};

test('lets five through at once, then one per twelve seconds, to the millisecond', async () => {
  await emptyBucket();
  plane.now += REFILL_MS - 1;
  const answer = await api.call('POST', '/auth/refresh', { headers: from({ cookie: 'qnt_refresh=rubbish' }) });
  assert.equal(answer.status, 429);
  assert.equal(answer.body['retry_after_seconds'], 1);
  assert.equal(answer.headers.get('retry-after'), '1');
  plane.now += 1;
  assert.deepEqual([await tryOnce(), await tryOnce()], [401, 429]);
  plane.now += BURST * REFILL_MS;
  await emptyBucket();
  plane.now += 100 * REFILL_MS;
  await emptyBucket();
});

test('a valid bearer that checks no secret passes an empty bucket, an invalid one does not', async () => {
  const as = (await plane.control.sessions.switchOrg(ann, ann.orgId)).accessToken;
  await emptyBucket();
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['HEAD', '/auth/me'],
    ['GET', '/api/auth/me'],
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['DELETE', '/auth/sessions/00000000-0000-7000-8000-000000000000'],
    ['POST', '/auth/switch-org'],
    ['POST', '/auth/mfa/enroll'],
    ['POST', '/auth/cli/authorize'],
  ] as const) {
    const ok = await api.call(method, path, { as, headers: from() });
    assert.ok(ok.status !== 429 && ok.status !== 401, `${method} ${path}: ${ok.status}`);
    assert.equal((await api.call(method, path, { as: 'rubbish', headers: from() })).status, 429, `${method} ${path}`);
  }
  for (const path of ['/auth/login', '/auth/mfa/disable', '/auth/sessionsx', '/auth/nowhere']) {
    assert.equal((await api.call('POST', path, { as, headers: from() })).status, 429, path);
  }
});

test('a preflight needs no bearer and takes nothing', async () => {
  const preflight = from({ origin: DASHBOARD, 'access-control-request-method': 'POST' });
  for (let i = 0; i < BURST + 1; i++) {
    const answer = await api.call('OPTIONS', '/auth/refresh', { headers: preflight });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('access-control-allow-origin'), DASHBOARD);
    assert.equal(answer.headers.get('access-control-allow-credentials'), 'true');
  }
  const refused = await api.call('POST', '/auth/refresh', { headers: from({ origin: DASHBOARD }) });
  const exposed = refused.headers.get('access-control-expose-headers');
  assert.equal(
    exposed,
    'Link,Retry-After,Culvert-Searched-To',
    'a page of another origin reads no other header by itself',
  );
  plane.now += REFILL_MS;
  const elsewhere = await api.call('OPTIONS', '/auth/me', {
    headers: { ...preflight, origin: 'https://evil.example' },
  });
  assert.equal(elsewhere.headers.get('access-control-allow-origin'), null);
  await emptyBucket();
});

test('OPTIONS takes nothing on a server without CORS either', async () => {
  const plain = await servePlane(plane, { authLimit: { burst: 1, refillSeconds: 12 } });
  try {
    for (let i = 0; i < 3; i++) {
      const answer = await plain.call('OPTIONS', '/auth/login', { headers: from() });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), 'POST');
    }
    assert.equal((await plain.call('POST', '/auth/refresh', { headers: from() })).status, 401);
    assert.equal((await plain.call('POST', '/auth/refresh', { headers: from() })).status, 429);
  } finally {
    await plain.close();
  }
});
