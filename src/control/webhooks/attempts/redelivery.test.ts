/** Redelivery of a time range over HTTP: what goes once more, in which order, and not twice. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { webhookDeliveries } from '../../db/schema.ts';
import type { Plane } from '../../core/testing/plane.ts';
import { said } from '../../core/testing/team.ts';
import { until } from '../../tunnels/testing.ts';
import { openReceiver, textOf } from './testing.ts';
import { MAX_REDELIVERED } from './redelivery-rows.ts';

const MINUTE = 60_000;

/** Deliveries `a` to `d`, a minute apart: delivered, failed, failed, failed. */
async function broken(t: Parameters<typeof openReceiver>[0]) {
  const it = await openReceiver(t);
  const times: string[] = [];
  await it.node.come(it.tunnel);
  for (const [body, status] of [
    ['a', 200],
    ['b', 410],
    ['c', 410],
    ['d', 410],
  ] as const) {
    it.plane.now += MINUTE;
    times.push(new Date(it.plane.now).toISOString());
    await it.deliver(body);
    await it.node.answer(status);
  }
  await until(async () => (await it.events('?state=failed')).length === 3, 'the results');
  const redeliver = (body: object) => it.ann.call('POST', `${it.path}/redeliver`, body);
  return { ...it, times, redeliver };
}

test('redelivery: failed deliveries of the range go again, oldest first; the dry run only counts them', async (t) => {
  const { node, ann, times, redeliver, events } = await broken(t);
  const range = { from: times[0], to: times[2] };
  const counted = await redeliver({ ...range, dry_run: true });
  assert.deepEqual([counted.status, counted.body], [202, { matched: 2, queued: 0, continue_from: null }]);
  assert.equal(node.held.length, 0);
  assert.deepEqual((await redeliver(range)).body, { matched: 2, queued: 2, continue_from: null });
  const bodyOf = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString();
  const first = await node.next();
  assert.equal(bodyOf(first.request), 'b');
  assert.equal(Object.fromEntries(first.request.fields)['Culvert-Webhook-Attempt'], '1');
  // A second click, while they wait and after the first one is done.
  assert.deepEqual((await redeliver(range)).body, { matched: 0, queued: 0, continue_from: null });
  first.answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  assert.equal(bodyOf(await node.answer(200)), 'c');
  await until(async () => (await events('?state=delivered')).length === 3, 'the results');
  assert.deepEqual((await events('?state=failed')).map(textOf), ['d']);
  const log = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  const entries = log.filter(({ action }) => action === 'webhook_receiver.redeliver');
  assert.deepEqual(
    entries.map(({ details }) => (details as { count: number }).count),
    [0, 2],
  );
});

test('redelivery: with its key a call that is repeated queues nothing, whatever became of the first', async (t) => {
  const { node, times, redeliver, events } = await broken(t);
  const call = { from: times[0], state: 'all', idempotency_key: 'click 1' };
  const first = await redeliver(call);
  assert.deepEqual(first.body, { matched: 4, queued: 4, continue_from: null });
  for (let n = 0; n < 4; n++) await node.answer(200);
  await until(async () => (await events('?state=delivered')).length === 4, 'the results');
  assert.deepEqual((await redeliver(call)).body, first.body);
  assert.equal((await events('?state=delivered')).length, 4);
  assert.equal((await redeliver({ ...call, idempotency_key: 'click 2' })).body['queued'], 4);
  assert.equal((await node.next()).request.body.length, 1);
});

test('redelivery: before newer ones that wait; at most so many at once, and then on from there', async (t) => {
  const { plane, node, path, tunnel, ann, deliver, events } = await openReceiver(t);
  const from = new Date(plane.now).toISOString();
  await ann.call('PATCH', path, { forward: null });
  await deliver('0');
  plane.now += 1;
  addCopies(plane, MAX_REDELIVERED);
  await ann.call('PATCH', path, { forward: { tunnel_id: tunnel, path: '/' } });
  await deliver('new');
  const to = new Date(plane.now + MINUTE).toISOString();
  const redeliver = (body: object) => ann.call('POST', `${path}/redeliver`, { state: 'all', to, ...body });
  const { body } = await redeliver({ from, idempotency_key: 'click' });
  const continueFrom = new Date(plane.now + MAX_REDELIVERED - 1).toISOString();
  assert.deepEqual(body, { matched: MAX_REDELIVERED + 1, queued: MAX_REDELIVERED, continue_from: continueFrom });
  assert.deepEqual((await redeliver({ from, idempotency_key: 'click' })).body, body, 'the way on is not forgotten');
  const rest = await redeliver({ from: continueFrom });
  assert.deepEqual(rest.body, { matched: 1, queued: 1, continue_from: null });
  assert.equal((await events('?state=none')).length, 0);
  await node.come(tunnel);
  assert.equal(Buffer.from((await node.answer(200)).body).toString(), '0');
});

/** As many more of the first delivery, a millisecond apart. */
function addCopies(plane: Plane, count: number): void {
  const { db } = plane.control.store;
  const first = db.select().from(webhookDeliveries).get();
  assert.ok(first !== undefined);
  const { sequence: _, ...row } = first;
  for (let n = 0; n < count; n++)
    db.insert(webhookDeliveries)
      .values({ ...row, id: randomUUID(), receivedAt: plane.now + n })
      .run();
}

test('redelivery: without forwarding 409; what is no time or state, 400; of others 404', async (t) => {
  const { ann, team, path, times, redeliver } = await broken(t);
  assert.equal((await redeliver({ from: times[2], to: times[0] })).body['matched'], 0);
  assert.deepEqual(said(await redeliver({ from: 'yesterday' })), [400, 'invalid_request']);
  assert.deepEqual(said(await redeliver({ from: times[0], state: 'waiting' })), [400, 'invalid_request']);
  const bob = await team.person('bob@example.test');
  assert.deepEqual(said(await bob.call('POST', `${path}/redeliver`, { from: times[0] })), [404, 'not_found']);
  await ann.call('PATCH', path, { forward: null });
  assert.deepEqual(said(await redeliver({ from: times[0] })), [409, 'conflict']);
});
