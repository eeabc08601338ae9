/** Test events over HTTP: the way of real deliveries, marked, and without a trace in what is said of the sender. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFault } from '../../../signatures/validators.ts';
import { said } from '../../core/testing/team.ts';
import { tunnels } from '../../db/schema.ts';
import { until } from '../../tunnels/testing.ts';
import { openReceiver } from '../attempts/testing.ts';

test('test event: signed, queued and forwarded as a real delivery, and marked; the counters of the sender stay', async (t) => {
  const { plane, node, ann, tunnel, path, id, events } = await openReceiver(t, {
    validator: 'github',
    secret: 'shared',
  });
  await node.come(tunnel);
  const before = (await ann.call('GET', path)).body;
  assert.deepEqual(before['test_events'], ['push', 'pull_request', 'issues', 'release']);
  const sent = await ann.call('POST', `${path}/test`, { type: 'issues' });
  assert.equal(sent.status, 202, sent.text);
  assert.deepEqual([sent.body['event_type'], sent.body['test']], ['issues', true]);
  const { request, answer } = await node.next();
  const fields = Object.fromEntries(request.fields);
  assert.equal(fields['Culvert-Webhook-Test'], '1');
  assert.equal(fields['x-github-event'], 'issues');
  const incoming = { headers: fields, body: Buffer.from(request.body), url: `http://api.test/webhooks/${id}` };
  assert.equal(findFault('github', incoming, { secrets: ['shared'], now: plane.now }), null);
  answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  await until(async () => (await events('?state=delivered')).length === 1, 'the result');
  const after = (await ann.call('GET', path)).body;
  assert.equal(after['stored'], 1);
  for (const field of ['received', 'last_received_at', 'refused']) assert.deepEqual(after[field], before[field], field);
  assert.equal((await ann.call('POST', `${path}/test`)).body['event_type'], 'push', 'the usual one');
  await node.answer(500);
  await until(
    async () => (await events('?state=failed')).length === 1,
    'the end of the second, without another attempt',
  );
  assert.equal((await ann.call('GET', path)).body['failed'], 0, 'no failure of the sender');
  assert.deepEqual((await ann.call('GET', '/attention')).body, []);
  const log = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.equal(log.filter(({ action }) => action === 'webhook_receiver.test').length, 2);
});

test('test event: one that was stored before the receiver forwarded fails as a test when it is sent again', async (t) => {
  const { node, ann, tunnel, path, events, plane } = await openReceiver(t);
  const forward = { tunnel_id: tunnel, path: '/hook' };
  await ann.call('PATCH', path, { forward: null });
  const [one, range] = [await ann.call('POST', `${path}/test`), await ann.call('POST', `${path}/test`)];
  await ann.call('PATCH', path, { forward });
  await node.come(tunnel);
  assert.equal((await ann.call('POST', `${path}/events/${String(one.body['id'])}/redeliver`)).status, 202);
  await node.answer(500);
  const from = new Date(plane.now - 60_000).toISOString();
  await until(async () => (await events('?state=failed')).length === 1, 'the first result');
  assert.equal((await ann.call('POST', `${path}/redeliver`, { from, state: 'all' })).body['queued'], 2);
  await node.answer(500);
  await node.answer(500);
  await until(async () => (await events('?state=failed')).some(({ id }) => id === range.body['id']), 'the results');
  assert.equal((await ann.call('GET', path)).body['failed'], 0, 'no failure of the sender');
});

test('test event: an unknown type is 400; with a public key alone it is 409; of others 404', async (t) => {
  const { ann, team, path } = await openReceiver(t);
  assert.deepEqual(said(await ann.call('POST', `${path}/test`, { type: 'push' })), [400, 'invalid_request']);
  const key = { validator: 'generic_ed25519', secret: 'ab'.repeat(32) };
  assert.deepEqual((await ann.call('PATCH', path, key)).body['test_events'], []);
  assert.deepEqual(said(await ann.call('POST', `${path}/test`)), [409, 'conflict']);
  const bob = await team.person('bob@example.test');
  assert.deepEqual(said(await bob.call('POST', `${path}/test`)), [404, 'not_found']);
});

test('receiver: it says what failed for good, what holds up the queue, and why nothing comes', async (t) => {
  const { plane, node, ann, tunnel, path, deliver, events, pass } = await openReceiver(t);
  const codes = async () => {
    const { warnings } = (await ann.call('GET', path)).body;
    return (warnings as ReadonlyArray<{ readonly code: string }>).map(({ code }) => code);
  };
  // Of the tests' `http://api.test`.
  assert.deepEqual(await codes(), ['url_private', 'tunnel_offline']);
  await node.come(tunnel);
  assert.deepEqual(await codes(), ['url_private']);
  await deliver('a');
  await node.answer(410);
  await deliver('b');
  await node.answer(500);
  await until(async () => (await events())[1]?.forward['attempts'] === 1, 'the results');
  const [, b] = await events();
  const { failed, failing } = (await ann.call('GET', path)).body;
  const next = new Date(plane.now + 1_000).toISOString();
  assert.equal(failed, 1);
  assert.deepEqual(failing, {
    event_id: b?.id,
    attempts: 1,
    last_status: 500,
    last_error: null,
    next_attempt_at: next,
  });
  pass(1_000);
  await node.answer(200);
  await until(async () => (await ann.call('GET', path)).body['failing'] === null, 'the result');
  await ann.call('PUT', `/tunnels/${tunnel}/maintenance`);
  assert.deepEqual(await codes(), ['url_private', 'maintenance']);
  plane.control.store.db.update(tunnels).set({ stopped: true }).run();
  assert.deepEqual(await codes(), ['url_private', 'tunnel_stopped']);
  plane.control.store.db.update(tunnels).set({ expired: true }).run();
  assert.deepEqual(await codes(), ['url_private', 'tunnel_expired']);
});
