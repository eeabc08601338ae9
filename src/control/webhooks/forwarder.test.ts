/** Deliveries of the mailbox on their way to a tunnel: in order, with retries, waiting for agents. The node is played, the rest is real. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { tunnels, webhookForwards, webhookReceivers } from '../db/schema.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';
import { settle, TunnelNode, until } from '../tunnels/testing.ts';

const SECRET = 'shared';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let plane: Plane;
let api: PlaneApi;
let node: TunnelNode;
let ann: Person;
let tunnel: string;

async function open(dataDir?: string): Promise<void> {
  plane = new Plane(dataDir);
  api = await servePlane(plane);
  node = new TunnelNode(plane);
}
beforeEach(async () => {
  await open();
  ann = await new Team(plane, api).person('ann@example.test');
  tunnel = await reserve();
  plane.control.forwarder.start();
});
afterEach(async () => {
  await plane.control.forwarder.stop(0);
  await api.close();
  plane.close();
});

async function reserve(body: object = {}, by = ann): Promise<string> {
  const made = await by.call('POST', '/tunnels', { localPort: 3000, ...body });
  assert.equal(made.status, 201, made.text);
  return String(made.body['id']);
}

async function receiver(forward: object | null = { tunnel_id: tunnel, path: '/hook?a=b' }, by = ann): Promise<string> {
  const body = { validator: 'generic_hmac_sha256', secret: SECRET, name: 'orders', forward };
  const made = await by.call('POST', '/webhook-receivers', body);
  assert.equal(made.status, 201, made.text);
  return String(made.body['id']);
}

async function deliver(id: string, body: string, headers: Record<string, string> = {}): Promise<void> {
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const answer = await fetch(`http://127.0.0.1:${api.port}/webhooks/${id}`, {
    method: 'POST',
    headers: { 'x-signature-256': signature, ...headers },
    body,
  });
  assert.equal(answer.status, 202);
}

interface Shown {
  readonly id: string;
  readonly body: string;
  readonly forward: Record<string, unknown>;
}
async function events(id: string, by = ann): Promise<readonly Shown[]> {
  const answer = await by.call('GET', `/webhook-receivers/${id}/events`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as readonly Shown[];
}
const states = async (id: string) => (await events(id)).map(({ forward }) => forward['state']);
const bodyOf = (request: { body: Uint8Array }) => Buffer.from(request.body).toString();
const pass = (ms: number): void => {
  plane.now += ms;
  plane.control.forwarder.wake();
};
const again = async () => void (ann = await new Team(plane, api).again(ann));

test('a delivery goes down the tunnel as it came, with what its sender signed and three fields of ours', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, '{"a": 1}\nü', {
    'content-type': 'application/json; x=y',
    'x-event-type': 'order.paid',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'culvert-webhook-delivery': 'planted',
    authorization: 'Bearer x',
    cookie: 'a=b',
    via: '1.1 proxy',
    'accept-encoding': 'gzip',
  });
  const { request, answer } = await node.next();
  assert.deepEqual(await states(id), ['sending']);
  answer({ ok: true, id: '', status: 204, code: null, latencyMs: 1 });
  const { body, fields, ...rest } = request;
  const { subdomain } = (await ann.call('GET', `/tunnels/${tunnel}`)).body;
  assert.deepEqual(rest, {
    tunnelId: tunnel,
    method: 'POST',
    target: '/hook?a=b',
    host: `${String(subdomain)}.localhost`,
    clientIp: '203.0.113.9',
    scheme: 'http',
    replayOf: null,
    timeoutMs: 30_000,
    keepBytes: 2_048,
  });
  assert.equal(Buffer.from(body).toString(), '{"a": 1}\nü');
  const [event] = await events(id);
  const named = Object.fromEntries(fields);
  assert.equal(named['x-signature-256'], `sha256=${createHmac('sha256', SECRET).update('{"a": 1}\nü').digest('hex')}`);
  assert.equal(named['content-type'], 'application/json; x=y');
  assert.equal(named['x-event-type'], 'order.paid');
  assert.deepEqual(fields.slice(-3), [
    ['Culvert-Webhook-Receiver', id],
    ['Culvert-Webhook-Delivery', event?.id],
    ['Culvert-Webhook-Attempt', '1'],
  ]);
  for (const name of fields.slice(0, -3).map(([name]) => name))
    assert.doesNotMatch(
      name,
      /^(host|content-length|connection|x-forwarded-.*|via|accept-encoding|culvert-.*|authorization|cookie)$/,
    );
  await until(async () => (await states(id))[0] === 'delivered', 'the outcome');
  assert.deepEqual((await events(id))[0]?.forward, {
    state: 'delivered',
    attempts: 1,
    last_status: 204,
    last_error: null,
    next_attempt_at: null,
    delivered_at: new Date(plane.now).toISOString(),
  });
});

test('one at a time and in order: the next when the one before is done', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2', '3']) await deliver(id, body);
  for (const body of ['1', '2', '3']) {
    const { request, answer } = await node.next();
    await settle();
    assert.equal(node.held.length, 0, 'one at a time');
    assert.equal(bodyOf(request), body);
    answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  }
  await until(async () => (await states(id)).every((state) => state === 'delivered'), 'the last outcome');
});

test('without an agent it waits and counts no tries; nothing that came before is sent on', async () => {
  const id = await receiver(null);
  await deliver(id, 'before');
  const forward = { tunnel_id: tunnel };
  const changed = await ann.call('PATCH', `/webhook-receivers/${id}`, { forward });
  assert.deepEqual(changed.body['forward'], { tunnel_id: tunnel, path: '/' });
  await deliver(id, 'first');
  await deliver(id, 'second');
  pass(10 * MINUTE);
  await settle();
  assert.deepEqual(await states(id), ['none', 'waiting', 'waiting']);
  assert.equal(plane.control.forwarder.stats().lines.parked, 1);
  assert.equal(node.asked.length, 0);
  await node.come(tunnel);
  // The agent goes away under it: it was no try.
  (await node.next()).answer({ ok: false, code: 'tunnel_offline' });
  node.online.delete(tunnel);
  await settle();
  assert.equal((await events(id))[1]?.forward['attempts'], 0);
  await node.come(tunnel);
  const first = await node.answer(200);
  assert.deepEqual([bodyOf(first), first.target], ['first', '/']);
  assert.equal(Object.fromEntries(first.fields)['Culvert-Webhook-Attempt'], '1');
  assert.equal(bodyOf(await node.answer(200)), 'second');
});

test('maintenance, a stop and the end of its time hold up as no agent does', async () => {
  await node.come(tunnel);
  const id = await receiver();
  const { db } = plane.control.store;
  await ann.call('PUT', `/tunnels/${tunnel}/maintenance`);
  await deliver(id, '1');
  pass(MINUTE);
  await settle();
  assert.equal(node.asked.length, 0, 'in maintenance');
  assert.equal((await ann.call('DELETE', `/tunnels/${tunnel}/maintenance`)).status, 200);
  // The edge may know of a pause that has just begun.
  await node.answer(503, 'maintenance');
  await settle();
  assert.deepEqual((await events(id))[0]?.forward['attempts'], 0);
  for (const change of [{ stopped: true }, { expired: true }, { expiresAt: plane.now }]) {
    db.update(tunnels).set(change).run();
    pass(30 * SECOND);
    await settle();
    assert.equal(node.held.length, 0, JSON.stringify(change));
    db.update(tunnels).set({ stopped: false, expired: false, expiresAt: null }).run();
  }
  await node.come(tunnel);
  assert.equal(bodyOf(await node.answer(200)), '1');
});

test('what fails is tried later and later for a day, holds up those behind it, and is given up', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, 'bad');
  await deliver(id, 'good');
  const begun = plane.now;
  const waits = [1, 5, 30, 120, 600].map((seconds) => seconds * SECOND);
  const failures = [500, 404, 429, 301, 0];
  for (let attempt = 1; attempt <= 28; attempt++) {
    const request = await node.answer(failures[attempt % 5] ?? 500, attempt % 5 === 4 ? 'local_timeout' : null);
    assert.equal(bodyOf(request), 'bad');
    assert.equal(Object.fromEntries(request.fields)['Culvert-Webhook-Attempt'], String(attempt));
    const wait = waits[attempt - 1] ?? HOUR;
    await until(() => plane.control.store.db.select().from(webhookForwards).get()?.attempts === attempt, 'the outcome');
    const row = plane.control.store.db.select().from(webhookForwards).get();
    assert.deepEqual([row?.state, row?.nextAt], ['waiting', plane.now + wait]);
    pass(wait - 1);
    await settle();
    assert.equal(node.held.length, 0, `not before its time: ${wait}`);
    pass(1);
  }
  assert.ok(plane.now - begun <= 24 * HOUR && plane.now - begun > 23 * HOUR);
  await node.answer(503);
  assert.equal(bodyOf(await node.answer(200)), 'good');
  await again();
  await until(async () => (await states(id))[1] === 'delivered', 'the second');
  assert.deepEqual((await events(id))[0]?.forward, {
    state: 'failed',
    attempts: 29,
    last_status: 503,
    last_error: null,
    next_attempt_at: null,
    delivered_at: null,
  });
});

test('a service that says 410, and a head that the edge never passes, end it at once', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2', '3']) await deliver(id, body);
  await node.answer(410);
  await node.answer(431, 'head_too_large');
  // What the edge answers by itself is no word of the service.
  await node.answer(410, 'policy_failed');
  await until(async () => (await events(id))[2]?.forward['attempts'] === 1, 'the third');
  assert.deepEqual(await states(id), ['failed', 'failed', 'waiting']);
  assert.equal((await events(id))[2]?.forward['last_error'], 'policy_failed');
  const { lines, tries } = plane.control.forwarder.stats();
  assert.deepEqual(tries, { delivered: 0, refused: 1, given_up: 2 });
  assert.deepEqual(lines, { ready: 0, delayed: 1, parked: 0, sending: 0 });
});

test('redeliver: to the front, as if it had never been tried', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['a', 'b', 'c', 'd']) await deliver(id, body);
  await node.answer(200);
  await node.answer(200);
  await node.answer(500);
  await until(async () => (await events(id))[2]?.forward['attempts'] === 1, 'the failure');
  const [a, b, c] = await events(id);
  const redeliver = (which: Shown | undefined) =>
    ann.call('POST', `/webhook-receivers/${id}/events/${which?.id}/redeliver`);
  const asked = await redeliver(a);
  assert.deepEqual([asked.status, asked.body], [202, { ok: true }]);
  const first = await node.next();
  assert.equal(bodyOf(first.request), 'a');
  assert.deepEqual(await states(id), ['sending', 'delivered', 'waiting', 'waiting']);
  // Both behind it, in the order in which they were asked for, before what waits for its time.
  await redeliver(b);
  await redeliver(c);
  first.answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  assert.equal(bodyOf(await node.answer(200)), 'b');
  const third = await node.answer(200);
  assert.equal(bodyOf(third), 'c');
  assert.equal(Object.fromEntries(third.fields)['Culvert-Webhook-Attempt'], '1');
  // Asked for while it is on its way: it goes once more, whatever becomes of this try.
  const fourth = await node.next();
  assert.equal(bodyOf(fourth.request), 'd');
  await redeliver((await events(id))[3]);
  fourth.answer({ ok: true, id: '', status: 500, code: null, latencyMs: 1 });
  assert.equal(bodyOf(await node.answer(200)), 'd');
  await until(async () => (await states(id)).every((state) => state === 'delivered'), 'all');
  const auditLog = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.equal(auditLog.filter(({ action }) => action === 'webhook_receiver.redeliver').length, 4);
});

test('one that was asked for and fails is passed by the next that is asked for', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['a', 'b', 'c']) {
    await deliver(id, body);
    await node.answer(200);
  }
  const [a, b, c] = await events(id);
  const redeliver = (which: Shown | undefined) =>
    ann.call('POST', `/webhook-receivers/${id}/events/${which?.id}/redeliver`);
  await redeliver(a);
  await node.answer(500);
  await until(async () => (await events(id))[0]?.forward['attempts'] === 1, 'the failure');
  await redeliver(b);
  await redeliver(c);
  assert.equal(bodyOf(await node.answer(200)), 'b');
  assert.equal(bodyOf(await node.answer(200)), 'c');
  pass(SECOND);
  assert.equal(bodyOf(await node.answer(200)), 'a');
});

test('redeliver without a tunnel: 409; of what is not there: 404', async () => {
  const id = await receiver(null);
  await deliver(id, 'x');
  const [event] = await events(id);
  const path = `/webhook-receivers/${id}/events`;
  const refused = await ann.call('POST', `${path}/${event?.id}/redeliver`);
  assert.deepEqual(said(refused), [409, 'conflict']);
  assert.match(refused.text, /culvert webhooks forward/);
  const other = await receiver();
  assert.deepEqual(said(await ann.call('POST', `/webhook-receivers/${other}/events/${event?.id}/redeliver`)), [
    404,
    'not_found',
  ]);
});

test('another tunnel or path takes those along that wait; what the old place still says counts for nothing', async () => {
  const other = await reserve();
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2']) await deliver(id, body);
  const held = await node.next();
  const moved = await ann.call('PATCH', `/webhook-receivers/${id}`, { forward: { tunnel_id: other, path: '/new' } });
  assert.equal(moved.body['waiting'], 2);
  held.answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  await settle();
  assert.deepEqual(await states(id), ['waiting', 'waiting']);
  await node.come(other);
  for (const body of ['1', '2']) {
    const request = await node.answer(200);
    assert.deepEqual([bodyOf(request), request.tunnelId, request.target], [body, other, '/new']);
  }
  // The waits of the old place are over.
  await deliver(id, '3');
  await node.answer(500);
  await until(async () => (await events(id))[2]?.forward['attempts'] === 1, 'the failure');
  await ann.call('PATCH', `/webhook-receivers/${id}`, { forward: { tunnel_id: other, path: '/right' } });
  const third = await node.answer(200);
  assert.deepEqual([bodyOf(third), third.target], ['3', '/right']);
  // The same again, and another name, change nothing.
  await until(async () => (await states(id))[2] === 'delivered', 'the third');
  const listed = (await ann.call('GET', '/webhook-receivers')).body as unknown as ReadonlyArray<{ waiting: number }>;
  assert.deepEqual(
    listed.map((one) => one.waiting),
    [0],
  );
});

test('without `forward` nothing waits any more, and nothing comes of what is on its way', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2']) await deliver(id, body);
  const held = await node.next();
  const { body: before } = await ann.call('GET', `/webhook-receivers/${id}`);
  assert.equal(before['waiting'], 2);
  const off = await ann.call('PATCH', `/webhook-receivers/${id}`, { forward: null });
  assert.deepEqual([off.body['forward'], off.body['waiting']], [null, 0]);
  held.answer({ ok: true, id: '', status: 500, code: null, latencyMs: 1 });
  await deliver(id, '3');
  await settle();
  assert.deepEqual(await states(id), ['none', 'none', 'none']);
  assert.equal(node.asked.length, 1);
  const auditLog = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  const last = auditLog.find(({ action }) => action === 'webhook_receiver.update');
  const [change, ...others] = (last?.['changes'] ?? []) as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual([change?.['field'], change?.['to'], others], ['forward', null, []]);
  assert.match(String(change?.['from']), / \/hook/);
});

test('a tunnel that is deleted is sent nothing more; a receiver that is deleted in the middle neither', async () => {
  await node.come(tunnel);
  const other = await reserve();
  await node.come(other);
  const id = await receiver();
  const second = await receiver({ tunnel_id: other });
  await deliver(id, '1');
  await deliver(second, '2');
  const [held, of] = [await node.next(), await node.next()];
  assert.equal((await ann.call('DELETE', `/tunnels/${tunnel}`)).status, 200);
  assert.equal((await ann.call('DELETE', `/webhook-receivers/${second}`)).status, 200);
  held.answer({ ok: true, id: '', status: 500, code: null, latencyMs: 1 });
  of.answer({ ok: true, id: '', status: 500, code: null, latencyMs: 1 });
  await settle();
  pass(HOUR);
  await settle();
  await again();
  assert.deepEqual(await states(id), ['none']);
  assert.equal((await ann.call('GET', `/webhook-receivers/${id}`)).body['forward'], null);
  assert.equal(node.asked.length, 2);
  assert.equal(plane.control.store.db.select().from(webhookForwards).all().length, 0);
});

test('only to a tunnel of the organization that speaks HTTP, and to a path', async () => {
  const eve = await new Team(plane, api).person('eve@example.test');
  const foreign = await reserve({}, eve);
  const tcp = await reserve({ protocol: 'tcp' });
  const id = await receiver(null);
  const patch = (forward: unknown) => ann.call('PATCH', `/webhook-receivers/${id}`, { forward });
  const base = { validator: 'github', secret: 'x', name: 'a' };
  for (const tunnel_id of [foreign, '00000000-0000-7000-8000-000000000000', 'x']) {
    assert.deepEqual(said(await patch({ tunnel_id })), [404, 'not_found']);
    const made = await ann.call('POST', '/webhook-receivers', { ...base, forward: { tunnel_id } });
    assert.deepEqual(said(made), [404, 'not_found']);
  }
  assert.deepEqual(said(await patch({ tunnel_id: tcp })), [400, 'invalid_request']);
  for (const path of ['', 'x', 'http://a/', '/a b', '/a#b', '/\r\nX: y', '/ü', `/${'a'.repeat(1024)}`, null, 1])
    assert.deepEqual(said(await patch({ tunnel_id: tunnel, path })), [400, 'invalid_request'], JSON.stringify(path));
  for (const forward of ['x', {}, [], 1]) assert.deepEqual(said(await patch(forward)), [400, 'invalid_request']);
  for (const path of ['/', '/a?b=c&d', '/~%20!$"\'', `/${'a'.repeat(1023)}`]) {
    const answer = await patch({ tunnel_id: tunnel, path });
    assert.deepEqual([answer.status, answer.body['forward']], [200, { tunnel_id: tunnel, path }]);
  }
  const kept = await ann.call('PATCH', `/webhook-receivers/${id}`, { name: 'b' });
  assert.notEqual(kept.body['forward'], null, 'what is not given stays');
  assert.equal((await ann.call('GET', '/webhook-receivers')).text.match(/"forward"/g)?.length, 1);
});

test('a restart goes on where it was, with its tries and its times', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2', '3']) await deliver(id, body);
  await node.answer(200);
  await node.answer(500);
  await until(async () => (await events(id))[1]?.forward['attempts'] === 1, 'the failure');
  await plane.control.forwarder.stop(0);
  await api.close();
  const { dataDir, now } = plane;
  plane.control.close();
  await open(dataDir);
  plane.now = now;
  plane.control.forwarder.start();
  await settle();
  assert.equal(node.asked.length, 0, 'no agent serves it yet');
  await node.come(tunnel);
  await settle();
  assert.equal(node.asked.length, 0, 'not before its time');
  pass(SECOND);
  const second = await node.answer(200);
  assert.deepEqual([bodyOf(second), Object.fromEntries(second.fields)['Culvert-Webhook-Attempt']], ['2', '2']);
  assert.equal(bodyOf(await node.answer(200)), '3');
});

test('what is on its way at a stop is waited for, and beyond that sent again', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, '1');
  await deliver(id, '2');
  const held = await node.next();
  const stopped = plane.control.forwarder.stop(10_000);
  held.answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  await stopped;
  assert.deepEqual(await states(id), ['delivered', 'waiting']);
  plane.control.forwarder.start();
  const late = await node.next();
  await plane.control.forwarder.stop(0);
  late.answer({ ok: true, id: '', status: 200, code: null, latencyMs: 1 });
  await settle();
  assert.deepEqual(await states(id), ['delivered', 'waiting']);
});

test('an organization has four places and never more than are free, and all together thirty-two', async () => {
  const team = new Team(plane, api);
  const people = await Promise.all(Array.from({ length: 10 }, (_, i) => team.person(`p${i}@example.test`)));
  for (const person of people) {
    const own = await reserve({}, person);
    await node.come(own);
    for (let i = 0; i < 5; i++) await deliver(await receiver({ tunnel_id: own }, person), person.email);
  }
  await until(() => node.held.length >= 32, 'all places');
  await settle();
  const counts = Map.groupBy(node.held, ({ request }) => bodyOf(request));
  // Of services that do not answer: the ninth and the tenth have one all the same.
  assert.deepEqual(
    [...counts.values()].map((some) => some.length),
    [...Array(7).fill(4), 2, 1, 1],
  );
  // A place that is free is taken by who waits.
  for (let i = 0; i < 50; i++) await node.answer(200);
  await settle();
  assert.equal(node.asked.length, 50);
});

test('where there was no place for it, it was no try: soon again, less often while it goes on', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, '1');
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    (await node.next()).answer({ ok: false, code: 'overloaded' });
    await until(() => plane.control.forwarder.stats().lines.delayed === 1, 'the wait');
    pass(seconds * SECOND - 1);
    await settle();
    assert.equal(node.held.length, 0, `not before its time: ${seconds} s`);
    pass(1);
  }
  assert.deepEqual(plane.control.forwarder.stats().tries, { delivered: 0, refused: 0, given_up: 0 });
  const { fields } = await node.answer(500);
  assert.equal(Object.fromEntries(fields)['Culvert-Webhook-Attempt'], '1');
  await until(async () => (await events(id))[0]?.forward['attempts'] === 1, 'the failure');
  // What comes behind a try is the first time again.
  pass(SECOND);
  (await node.next()).answer({ ok: false, code: 'overloaded' });
  await until(() => plane.control.forwarder.stats().lines.delayed === 1, 'the wait');
  pass(SECOND);
  await node.answer(200);
  await until(async () => (await states(id))[0] === 'delivered', 'the outcome');
  assert.equal((await events(id))[0]?.forward['attempts'], 2);
});

test('a fault of the server itself is no try: the line rests and goes on', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, '1');
  (await node.next()).fail(new Error('a fault'));
  await settle();
  const began = plane.now;
  const trouble = async () =>
    (await ann.call('GET', '/attention')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  const [item, ...more] = await trouble();
  assert.deepEqual(
    [item?.['kind'], item?.['title'], more],
    ['webhook_failing', 'Webhook receiver orders is waiting', []],
  );
  assert.equal(item?.['since'], new Date(began).toISOString());
  assert.deepEqual(plane.control.forwarder.resting('another organization'), []);
  pass(29 * SECOND);
  await settle();
  assert.equal(node.held.length, 0);
  pass(SECOND);
  const { fields } = await node.answer(200);
  assert.equal(Object.fromEntries(fields)['Culvert-Webhook-Attempt'], '1');
  await until(async () => (await trouble()).length === 0, 'the result');
});

test('webhook forwards: a clock that is set back by a day delays no delivery', async () => {
  await node.come(tunnel);
  const id = await receiver();
  await deliver(id, '1');
  await node.answer(500);
  await until(async () => (await events(id))[0]?.forward['attempts'] === 1, 'the failure');
  pass(-24 * HOUR);
  assert.equal(bodyOf(await node.answer(200)), '1');
});

test('what is displaced while it waits, or while it is sent, is gone, and the rest goes on', async () => {
  await node.come(tunnel);
  const id = await receiver();
  for (const body of ['1', '2']) await deliver(id, body);
  const held = await node.next();
  plane.control.store.db.update(webhookReceivers).set({ storedCount: 10_001 }).run();
  await deliver(id, '3');
  held.answer({ ok: true, id: '', status: 500, code: null, latencyMs: 1 });
  assert.equal(bodyOf(await node.answer(200)), '3');
  await until(async () => (await states(id))[0] === 'delivered', 'the third');
  assert.equal(plane.control.store.db.select().from(webhookForwards).all().length, 1);
});
