/** What webhook receivers refuse is counted for their owners, by why and when, at no cost for the tables; over HTTP, and of the counter itself. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { webhookRefusals } from '../db/schema.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const SECRET = 'whsec_of the test';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  const team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const make = async (validator = 'generic_hmac_sha256'): Promise<string> => {
  const made = await ann.call('POST', '/webhook-receivers', { validator, secret: SECRET, name: 'orders' });
  assert.equal(made.status, 201, made.text);
  return String(made.body['id']);
};
const deliver = async (id: string, headers: Record<string, string>, body = '{}'): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${api.port}/webhooks/${id}`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
};
const signed = (body: string, secret = SECRET) => ({
  'x-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});
const refused = async (id: string) =>
  (await ann.call('GET', `/webhook-receivers/${id}`)).body['refused'] as Record<string, unknown>;
const NONE = { signature_missing: 0, signature_wrong: 0, signature_too_old: 0, too_large: 0, came_back: 0 };
const stored = () => plane.control.store.db.select().from(webhookRefusals).all();

test('each reason is counted, with the time and the reason of the last, for its organization alone', async () => {
  const id = await make();
  assert.deepEqual(await refused(id), {
    total: 0,
    by_reason: NONE,
    last_at: null,
    last_reason: null,
    since_received: null,
  });
  assert.equal(await deliver(id, signed('{}')), 202);
  assert.equal((await refused(id))['total'], 0, 'what is taken is not refused');
  assert.equal(await deliver(id, {}), 401);
  assert.equal(await deliver(id, signed('{}', 'another')), 401);
  assert.equal(await deliver(id, { ...signed('{}'), 'culvert-webhook-receiver': id }), 409);
  assert.equal(await deliver(id, {}, 'x'.repeat(1024 * 1024 + 1)), 413);
  plane.now += 10_000;
  assert.equal(await deliver(id, signed('{}', 'another')), 401);
  const all = {
    total: 5,
    by_reason: { ...NONE, signature_missing: 1, signature_wrong: 2, too_large: 1, came_back: 1 },
    last_at: new Date(plane.now).toISOString(),
    last_reason: 'signature_wrong',
    since_received: 5,
  };
  assert.deepEqual(await refused(id), all);
  const list = (await ann.call('GET', '/webhook-receivers')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(list[0]?.['refused'], all, 'the list says the same');
  assert.deepEqual(said(await bob.call('GET', `/webhook-receivers/${id}`)), [404, 'not_found']);
});

test('webhook refusals: those since the last good delivery are shown; with a new secret none was accepted yet', async () => {
  const id = await make();
  const since = async (): Promise<unknown> => (await refused(id))['since_received'];
  await deliver(id, {});
  assert.equal(await since(), null);
  assert.equal(await deliver(id, signed('{}')), 202);
  assert.equal(await since(), 0);
  await deliver(id, {});
  plane.control.refusals.fold();
  await deliver(id, signed('{}', 'another'));
  assert.deepEqual([await since(), (await refused(id))['total']], [2, 3]);
  assert.equal(await deliver(id, signed('[]'), '[]'), 202);
  await deliver(id, {});
  assert.equal(await since(), 1);
  for (const [changes, left] of [
    [{ name: 'invoices', validator: 'generic_hmac_sha256' }, 1],
    [{ secret: SECRET }, null],
  ] as const) {
    await ann.call('PATCH', `/webhook-receivers/${id}`, changes);
    assert.equal(await since(), left);
  }
});

test('what is too large and no delivery is not counted', async () => {
  const id = await make();
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const to = `http://127.0.0.1:${api.port}/webhooks/${id}`;
    const answer = await fetch(to, { method, body: 'x'.repeat(1024 * 1024 + 1) });
    await answer.arrayBuffer();
    assert.equal(answer.status, 413);
  }
  assert.equal((await refused(id))['total'], 0);
});

test('webhook refusals: a signature of another time has its own cause', async () => {
  const id = await make('slack');
  const at = String(Math.floor(plane.now / 1000) - 301);
  const signature = createHmac('sha256', SECRET).update(`v0:${at}:{}`).digest('hex');
  const headers = { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${signature}` };
  assert.equal(await deliver(id, headers), 401);
  assert.deepEqual((await refused(id))['last_reason'], 'signature_too_old');
});

test('a refusal writes nothing; a fold adds it up, and the counts outlive the server', async () => {
  const id = await make();
  for (let i = 0; i < 3; i++) await deliver(id, signed('{}', 'another'));
  assert.deepEqual(stored(), [], 'forged deliveries cost no write');
  plane.control.refusals.fold();
  plane.now += 60_000;
  for (let i = 0; i < 2; i++) await deliver(id, signed('{}', 'another'));
  plane.now += 1;
  await deliver(id, {});
  const before = await refused(id);
  assert.deepEqual(
    [before['total'], before['by_reason']],
    [6, { ...NONE, signature_wrong: 5, signature_missing: 1 }],
    'what is stored and what is not are one number',
  );
  plane.control.refusals.foldAll();
  assert.deepEqual(await refused(id), before, 'and a fold changes none');
  assert.equal(stored().length, 2);
  plane.control.close();
  const again = new Plane(plane.dataDir);
  assert.deepEqual(again.control.refusals.of(id).byReason, before['by_reason']);
  again.control.close();
});

test('a new secret or another validator counts anew, another name does not; with the receiver its counts go', async () => {
  const id = await make();
  const change = async (changes: object): Promise<unknown> => {
    const answer = await ann.call('PATCH', `/webhook-receivers/${id}`, changes);
    return (answer.body['refused'] as Record<string, unknown>)['total'];
  };
  for (const [changes, left] of [
    [{ name: 'invoices' }, 2],
    [{ forward: null }, 2],
    [{ validator: 'generic_hmac_sha256' }, 2],
    [{ validator: 'github' }, 0],
    [{ secret: 'the right one' }, 0],
  ] as const) {
    await change({ secret: SECRET, validator: 'generic_hmac_sha256' });
    await deliver(id, {});
    plane.control.refusals.fold();
    await deliver(id, {});
    assert.equal(await change(changes), left, JSON.stringify(changes));
  }
  await deliver(id, {});
  plane.control.refusals.fold();
  await deliver(id, {});
  assert.deepEqual(said(await ann.call('DELETE', `/webhook-receivers/${id}`)), [200]);
  plane.control.refusals.foldAll();
  assert.deepEqual(stored(), []);
});

test('nothing is counted for a receiver that is not there', async () => {
  const id = '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13';
  assert.equal(await deliver(id, {}), 404);
  assert.equal(await deliver(id, {}, 'x'.repeat(1024 * 1024 + 1)), 413);
  assert.equal(await deliver('nonsense', {}, 'x'.repeat(1024 * 1024 + 1)), 413);
  assert.deepEqual(plane.control.refusals.stats(), NONE);
});

test('of more receivers than have room nothing is counted until some are written down', async () => {
  const { refusals } = plane.control;
  const id = await make();
  const full = Array.from({ length: 10_000 }, (_, i) => `receiver ${i}`);
  for (const one of full) refusals.count(one, 'signature_wrong');
  refusals.count(id, 'signature_wrong');
  assert.equal(refusals.of(id).total, 0);
  refusals.count('receiver 9', 'signature_wrong');
  assert.equal(refusals.of('receiver 9').total, 2, 'a receiver with a place goes on');
  assert.equal(refusals.stats().signature_wrong, 10_002, 'the operator hears of all');
  refusals.fold();
  refusals.count(id, 'signature_wrong');
  assert.equal(refusals.of(id).total, 1);
  refusals.foldAll();
  const [only, ...others] = stored();
  assert.deepEqual([only?.receiverId, others], [id, []], 'those that are not there keep none from being written');
});
