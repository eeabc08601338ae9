/** Exports of organizations, over real HTTP to a collector and a webhook receiver. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AccessEntry } from '../../../plane/access-log.ts';
import { ENTRY } from '../../../server/access-log/testing.ts';
import { findFault } from '../../../signatures/validators.ts';
import { Plane } from '../../core/testing/plane.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { memberships, orgExports } from '../../db/schema.ts';
import { Collector } from './testing.ts';
import type { ExportInput } from './service.ts';

const OFF = { events: [], otlp: null, webhook: null } as const;

async function fixture(t: TestContext) {
  const plane = new Plane(undefined, { allowPrivateJwks: true });
  t.after(() => plane.close());
  const collector = await Collector.start(t);
  const ann = await plane.person('ann@example.test');
  const { exports, exporter, accessFeed } = plane.control;
  const put = (input: Partial<ExportInput>, as = ann) => exports.put(as, as.orgId, { ...OFF, ...input });
  const told = (over: Partial<AccessEntry>, orgId = ann.orgId): void =>
    accessFeed.publish({ entries: [{ ...ENTRY, orgId, ...over }] });
  const run = async (): Promise<void> => {
    plane.now += 1_000;
    exporter.run();
    await exporter.idle();
  };
  return { plane, collector, ann, exports, exporter, put, told, run };
}

const rejects = (work: () => unknown, code: string, words: RegExp): void =>
  assert.throws(work, (error: { code: string; message: string }) => error.code === code && words.test(error.message));

test('export: requests are log records with the names of the semantic conventions', async (t) => {
  const { collector, put, told, run, ann } = await fixture(t);
  put({ events: ['requests'], otlp: { endpoint: `${collector.url}/`, headers: { Authorization: 'Bearer secret' } } });
  told({});
  told({ outcome: 'refused', code: 'denied', status: 403 });
  told({}, 'another organization');
  await run();
  const [request, blocked, ...more] = collector.logs();
  assert.deepEqual(more, []);
  assert.equal(collector.received[0]?.headers.authorization, 'Bearer secret');
  assert.equal(collector.received[0]?.headers['content-type'], 'application/json');
  const { attributes, ...rest } = request ?? {};
  assert.deepEqual(rest, {
    eventName: 'culvert.request',
    body: '192.0.2.77 GET shop.example.com/orders?id=7 200',
    severityNumber: 9,
    traceId: ENTRY.traceId,
  });
  assert.deepEqual(attributes, {
    'log.record.uid': ENTRY.id,
    'culvert.type': 'request',
    'culvert.kind': 'http',
    'culvert.request_id': ENTRY.id,
    'culvert.org_id': ann.orgId,
    'culvert.tunnel_id': 'tunnel-1',
    'culvert.tunnel': 'shop',
    'culvert.key_id': 'key-1',
    'culvert.agent_id': 'agent-1',
    'client.address': '192.0.2.77',
    'url.scheme': 'https',
    'server.address': 'shop.example.com',
    'http.request.method': 'GET',
    'url.path': '/orders',
    'url.query': 'id=7',
    'network.protocol.version': '2',
    'http.response.status_code': 200,
    'culvert.decision': 'allowed',
    'http.request.size': 312,
    'http.response.size': 5120,
    'culvert.duration_ms': 12.5,
    'culvert.upstream_ms': 9.75,
    'user_agent.original': 'curl/8',
    'http.request.header.referer': 'https://else.example/?q=1',
  });
  assert.deepEqual(
    [blocked?.severityNumber, blocked?.attributes['error.type'], blocked?.attributes['culvert.decision']],
    [13, 'denied', 'blocked'],
  );
});

test('export: audit and security events from now on, each once, in a signed webhook', async (t) => {
  const { plane, collector, put, told, run, ann, exporter } = await fixture(t);
  const view = put({ events: ['audit', 'security'], webhook: { url: `${collector.url}/hook` } });
  const secret = view.webhook?.newSecret ?? '';
  assert.match(secret, /^whsec_/);
  plane.control.organizations.rename(ann, ann.orgId, 'Acme');
  told({ outcome: 'refused', code: 'denied', status: 403 });
  told({});
  await run();
  await run();
  assert.equal(collector.received.length, 1);
  const [got] = collector.received;
  const body = JSON.parse(got?.text ?? '') as { type: string; data: { events: Array<Record<string, unknown>> } };
  assert.equal(body.type, 'culvert.events');
  assert.deepEqual(
    body.data.events.map(({ type, action, reason }) => [type, action ?? reason]),
    [
      ['security', 'denied'],
      ['security', 'org.export'],
      ['audit', 'org.update'],
    ],
    'the log-in before it is not there',
  );
  const incoming = {
    url: `${collector.url}/hook`,
    headers: got?.headers as Record<string, string>,
    body: Buffer.from(got?.text ?? ''),
  };
  assert.equal(findFault('standard_webhooks', incoming, { secrets: [secret], now: plane.now }), null);
  assert.deepEqual([exporter.stats().sent, exporter.stats().dropped], [3, 0]);
});

test('export: a restart goes on with the audit events that came meanwhile', async (t) => {
  const { plane, collector, put, run, ann, exports } = await fixture(t);
  put({ events: ['audit'], otlp: { endpoint: collector.url } });
  await run();
  assert.deepEqual(
    collector.logs().map(({ attributes }) => attributes['culvert.action']),
    ['org.export'],
  );
  plane.control.close();
  const next = new Plane(plane.dataDir, { allowPrivateJwks: true });
  next.now = plane.now + 5_000;
  try {
    next.control.store.inTx((tx) =>
      recordAudit(tx, ann, { action: 'project.create', resourceType: 'project', resourceId: 'p' }),
    );
    next.control.exporter.run();
    await next.control.exporter.idle();
    assert.equal(collector.logs().at(-1)?.attributes['culvert.action'], 'project.create');
    assert.equal(collector.logs().length, 2);
    assert.ok(exports !== next.control.exports);
  } finally {
    next.control.close();
  }
});

test('export: a collector that is busy gets the batch again, one that refuses it does not', async (t) => {
  const { plane, collector, put, told, run, ann, exports } = await fixture(t);
  put({ events: ['requests'], otlp: { endpoint: collector.url } });
  collector.refusals.push({ status: 503, headers: { 'retry-after': '3' } }, { status: 400 });
  told({});
  await run();
  assert.equal(exports.get(ann, ann.orgId).status.otlp?.lastError, 'the response status is 503');
  await run();
  assert.equal(collector.received.length, 1, 'Retry-After is obeyed');
  plane.now += 2_000;
  await run();
  const { otlp } = exports.get(ann, ann.orgId).status;
  assert.deepEqual([otlp?.dropped, otlp?.waiting, otlp?.lastError], [1, 0, 'the response status is 400']);
});

test('export: secrets go in and never come out, and do not follow to another address', async (t) => {
  const { plane, collector, put, exports, ann, told, run } = await fixture(t);
  put({ events: ['requests'], otlp: { endpoint: collector.url, headers: { 'x-key': 'secret-1' } } });
  const shown = JSON.stringify(exports.get(ann, ann.orgId));
  assert.ok(shown.includes('x-key') && !shown.includes('secret-1'));
  const [row] = plane.control.store.db.select().from(orgExports).all();
  assert.ok(!JSON.stringify(row).includes('secret-1'), 'sealed in the database');
  put({ events: ['requests', 'audit'], otlp: { endpoint: collector.url } });
  assert.deepEqual(exports.get(ann, ann.orgId).otlp?.headers, ['x-key'], 'kept for the same endpoint');
  const other = await Collector.start(t);
  put({ events: ['requests'], otlp: { endpoint: other.url } });
  told({});
  await run();
  assert.equal(other.received[0]?.headers['x-key'], undefined);
});

test('export: changed by admins alone, to public addresses, with valid headers and secrets', async (t) => {
  const { plane, put, exports, ann } = await fixture(t);
  const eve: UserActor = await plane.person('eve@example.test');
  rejects(() => exports.get(eve, ann.orgId), 'not_found', /not a member/);
  const member = { orgId: ann.orgId, userId: eve.userId, role: 'member', createdAt: 0 } as const;
  plane.control.store.db.insert(memberships).values(member).run();
  put({ webhook: { url: 'https://hooks.example.test/secret-path' } });
  assert.equal(exports.get(eve, ann.orgId).webhook?.url, 'https://hooks.example.test/…');
  rejects(() => exports.put(eve, ann.orgId, OFF), 'forbidden', /requires admin/);
  const otlp = (endpoint: string, headers?: Record<string, string>) => () => put({ otlp: { endpoint, headers } });
  rejects(otlp('ftp://x.example'), 'invalid_request', /otlp\.endpoint must/);
  rejects(otlp('https://x.example', { 'Content-Length': '5' }), 'invalid_request', /can't have the header/);
  rejects(otlp('https://x.example', { a: 'b\r\nc: d' }), 'invalid_request', /printable ASCII/);
  const hook = { url: 'https://x.example', secret: 'short' };
  rejects(() => put({ webhook: hook }), 'invalid_request', /webhook\.secret must/);
  const strict = new Plane();
  t.after(() => strict.close());
  const bob = await strict.person('bob@example.test');
  const local = { ...OFF, webhook: { url: 'https://127.0.0.1/' } };
  rejects(() => strict.control.exports.put(bob, bob.orgId, local), 'invalid_request', /public address/);
});

test('export: data nodes hear whose requests are wanted, also after a deletion', async (t) => {
  const { plane, collector, put, ann } = await fixture(t);
  const last = () => plane.deltas.findLast((delta) => delta.kind === 'exporting_orgs')?.orgIds;
  put({ events: ['audit'], otlp: { endpoint: collector.url } });
  assert.deepEqual(last(), [], 'the audit log needs no requests');
  put({ events: ['security'], otlp: { endpoint: collector.url } });
  assert.deepEqual(last(), [ann.orgId]);
  assert.deepEqual((await plane.control.link.snapshot()).exportingOrgs, [ann.orgId]);
  plane.control.organizations.create(ann, 'Another');
  await plane.control.organizations.delete(ann, ann.orgId);
  assert.deepEqual(last(), []);
  assert.deepEqual(plane.control.store.db.select().from(orgExports).all(), []);
});
