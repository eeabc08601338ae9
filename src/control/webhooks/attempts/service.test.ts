/** Attempts of deliveries over HTTP: what each brought, and how many are kept. Lists filtered by state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookAttempts } from '../../db/schema.ts';
import { until } from '../../tunnels/testing.ts';
import { openReceiver, textOf } from './testing.ts';
import { MAX_ATTEMPTS_KEPT, MAX_BODIES } from './rows.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

test('attempts: each has its number, time, duration, status and the start of the response; the newest is first', async (t) => {
  const { plane, node, ann, tunnel, path, deliver, events, pass } = await openReceiver(t);
  await node.come(tunnel);
  const begun = plane.now;
  await deliver('{}');
  const attempts = async () => {
    const [event] = await events();
    return (await ann.call('GET', `${path}/events/${event?.id}/attempts`)).body as unknown as readonly object[];
  };
  assert.deepEqual(await attempts(), [], 'under way');
  const response = { contentType: 'application/json', body: bytes('{"error":"no su'), size: 28 };
  const { answer } = await node.next();
  answer({ ok: true, id: '', status: 500, code: null, latencyMs: 38.4, response });
  await until(async () => (await attempts()).length === 1, 'the first');
  pass(1_000);
  await node.answer(504, 'local_timeout');
  await until(async () => (await attempts()).length === 2, 'the second');
  pass(5_000);
  await node.answer(204, null, { contentType: null, body: bytes(''), size: 0 });
  await until(async () => (await attempts()).length === 3, 'the third');
  const none = { response_content_type: null, response_size: 0, response_body: null };
  assert.deepEqual(await attempts(), [
    {
      attempt: 3,
      attempted_at: new Date(begun + 6_000).toISOString(),
      duration_ms: 1,
      status: 204,
      error: null,
      ...none,
    },
    {
      ...{ attempt: 2, attempted_at: new Date(begun + 1_000).toISOString(), duration_ms: 1 },
      ...{ status: 504, error: 'local_timeout', ...none },
    },
    {
      ...{ attempt: 1, attempted_at: new Date(begun).toISOString(), duration_ms: 38, status: 500, error: null },
      response_content_type: 'application/json',
      response_size: 28,
      response_body: Buffer.from('{"error":"no su').toString('base64'),
    },
  ]);
});

test('attempts: waiting for an agent is none; those of a delivery that goes are gone with it', async (t) => {
  const { plane, node, ann, tunnel, path, deliver, events } = await openReceiver(t);
  await deliver('{}');
  const [event] = await events();
  assert.deepEqual((await ann.call('GET', `${path}/events/${event?.id}/attempts`)).body, []);
  assert.equal((await ann.call('GET', `${path}/events/nothing/attempts`)).status, 404);
  await node.come(tunnel);
  await node.answer(200);
  const stored = () => plane.control.store.db.select().from(webhookAttempts).all().length;
  await until(() => stored() === 1, 'the attempt');
  assert.equal((await ann.call('DELETE', path)).status, 200);
  await until(() => stored() === 0, 'the end of it');
});

test('attempts: the last ones of a delivery are kept, and the last bodies of a receiver', async (t) => {
  const { plane, node, ann, tunnel, path, deliver, events } = await openReceiver(t);
  const { db } = plane.control.store;
  await node.come(tunnel);
  for (const body of ['first', 'second']) await deliver(body);
  const response = { contentType: 'text/plain', body: bytes('no'), size: 2 };
  await node.answer(410, null, response);
  const [first, second] = await events();
  const redeliver = `${path}/events/${second?.id}/redeliver`;
  for (let n = 1; n <= MAX_ATTEMPTS_KEPT + 5; n++) {
    await node.answer(410, null, response);
    await until(() => node.held.length === 0, 'the result');
    assert.equal((await ann.call('POST', redeliver)).status, 202);
  }
  const ofSecond = (await ann.call('GET', `${path}/events/${second?.id}/attempts`)).body as unknown as object[];
  assert.equal(ofSecond.length, MAX_ATTEMPTS_KEPT);
  await deliver('third');
  const row = db.select().from(webhookAttempts).all().at(-1);
  assert.ok(row !== undefined);
  const { id: _, ...more } = row;
  const ofThird = { ...more, sequence: more.sequence + 1 };
  for (let n = 0; n < MAX_BODIES; n++) db.insert(webhookAttempts).values(ofThird).run();
  await node.answer(410, null, response);
  const bodyOfFirst = async () => {
    const list = (await ann.call('GET', `${path}/events/${first?.id}/attempts`)).body as unknown as object[];
    return (list[0] as { response_body: string | null } | undefined)?.response_body;
  };
  await until(async () => (await bodyOfFirst()) === null, 'room for newer bodies');
});

test('list: only deliveries in a state, in both orders', async (t) => {
  const { node, ann, tunnel, path, deliver, events } = await openReceiver(t);
  await node.come(tunnel);
  for (const body of ['a', 'b', 'c', 'd']) await deliver(body);
  for (const status of [200, 410, 410]) await node.answer(status);
  await until(async () => (await events('?state=failed')).length === 2, 'the results');
  await ann.call('PATCH', path, { forward: null });
  await deliver('e');
  const named = async (query: string) => (await events(query)).map(textOf).join('');
  assert.equal(await named('?state=delivered'), 'a');
  assert.equal(await named('?state=failed'), 'bc');
  assert.equal(await named('?state=failed&order=newest'), 'cb');
  assert.equal(await named('?state=none&wait=30'), 'de');
  assert.equal(await named('?state=waiting'), '');
  const [b] = await events('?state=failed&limit=1');
  assert.equal(await named(`?state=failed&after=${b?.id}`), 'c');
  assert.equal((await ann.call('GET', `${path}/events?state=lost`)).status, 400);
});
