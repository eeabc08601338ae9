/** What needs attention, over HTTP: from what a data node reports, what users store, and what the clock does. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { EndReason, PlaneEvent } from '../../plane/events.ts';
import { CertificateFixture } from '../certificates/testing/certificate-fixture.ts';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, Team } from '../core/testing/team.ts';
import {
  capabilityTokens,
  certificates,
  domains,
  outgoingMails,
  tunnels,
  webhookDeliveries,
  webhookForwards,
} from '../db/schema.ts';

const SESSION = 'a0000000-0000-4000-8000-000000000001';

interface Item {
  readonly severity: string;
  readonly kind: string;
  readonly title: string;
  readonly detail: string;
  readonly since: string | null;
  readonly object: { readonly type: string; readonly id: string };
  readonly action: { readonly label: string; readonly href: string };
}

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let sequence: number;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  sequence = 0;
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const db = () => plane.control.store.db;
const report = (...events: readonly PlaneEvent[]) =>
  plane.control.link.report({ node: 'n', sequence: ++sequence, events });

async function items(by = ann): Promise<readonly Item[]> {
  const answer = await by.call('GET', '/attention');
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as readonly Item[];
}
const kinds = async (by = ann) => (await items(by)).map(({ severity, kind }) => `${severity} ${kind}`);

/** Time passes; an access token lives for 15 minutes. */
async function pass(ms: number): Promise<void> {
  plane.now += ms;
  ann = await team.again(ann);
}

async function reserve(subdomain: string): Promise<string> {
  return String((await ann.call('POST', '/tunnels', { localPort: 3000, subdomain })).body['id']);
}
const traffic = (tunnelId: string): PlaneEvent => ({
  ...{ kind: 'usage', tunnelId, tokenId: 'token', requests: 1, bytesIn: 1, bytesOut: 1 },
});
const agent = (tunnelId: string, more: { online: boolean; lost?: boolean; agentId?: string }): PlaneEvent => ({
  ...{ kind: 'agent', agentId: SESSION, tunnelId, at: plane.now },
  ...more,
});
const sessionEnd = (reason: EndReason): PlaneEvent => ({
  ...{ kind: 'session_end', agentId: SESSION, orgId: ann.home, tokenId: 'token', remoteIp: '192.0.2.7' },
  ...{ hostname: 'laptop', startedAt: plane.now - 5_000, endedAt: plane.now, reason, message: 'Why.' },
});
const key = async (more: object): Promise<string> =>
  String((await ann.call('POST', '/tokens', { name: 'ci', ...more })).body['nonce']);

test('attention: the list is empty when all is well', async () => {
  const shop = await reserve('shop');
  await report(agent(shop, { online: true }), traffic(shop));
  plane.online.add(shop);
  await key({ ttlHours: 24 });
  assert.deepEqual(await items(), []);
});

test('attention: a tunnel that is lost with traffic is critical after 30 seconds, until it comes back', async () => {
  const shop = await reserve('shop');
  await report(agent(shop, { online: true }), traffic(shop));
  const lost = plane.now;
  await report(agent(shop, { online: false, lost: true }), sessionEnd('heartbeat_lost'));
  plane.now += 29_999;
  assert.deepEqual(await items(), []);
  plane.now += 1;
  assert.deepEqual(await items(), [
    {
      severity: 'critical',
      kind: 'tunnel_offline',
      title: 'Tunnel shop is offline',
      detail: 'Its agent stopped responding. The tunnel had traffic in the last 24 hours. Start its agent again.',
      since: new Date(lost).toISOString(),
      object: { type: 'tunnel', id: shop },
      action: { label: 'Open tunnel', href: `/app/tunnels/${shop}` },
      startCommand: { words: ['culvert', 'http', '3000', '--subdomain', 'shop'], key: null },
    },
  ]);
  const bob = await team.person('bob@example.test');
  assert.deepEqual(await items(bob), [], 'to its own organization alone');
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  const [seen, ...rest] = (await api.call('GET', '/attention', { as })).body as unknown as Array<{
    startCommand: null;
  }>;
  assert.deepEqual([seen?.startCommand, rest.length], [null, 0], 'a viewer sees no command');
  plane.online.add(shop);
  assert.deepEqual(await items(), [], 'the node knows before the row');
  plane.online.delete(shop);
  await ann.call('POST', `/tunnels/${shop}/stop`);
  assert.deepEqual(await items(), [], 'paused');
  await ann.call('POST', `/tunnels/${shop}/start`);
  assert.equal((await items()).length, 1);
  await pass(DAY_MS);
  assert.deepEqual(await items(), [], 'without traffic for a day');
});

test('attention: a tunnel whose agent was stopped, or that had no traffic, is not listed', async () => {
  const [left, quiet, expired] = [await reserve('left'), await reserve('quiet'), await reserve('key')];
  await report(...[left, quiet, expired].map((id) => agent(id, { online: true })), traffic(left), traffic(expired));
  await report(agent(left, { online: false }), sessionEnd('agent_left'));
  await report(agent(quiet, { online: false, lost: true, agentId: 'other' }));
  plane.now += 60_000;
  assert.deepEqual(await items(), []);
  await report(agent(expired, { online: false, agentId: SESSION.replace(/1$/, '2') }), {
    ...sessionEnd('token_expired'),
    agentId: SESSION.replace(/1$/, '2'),
  } as PlaneEvent);
  plane.now += 30_000;
  assert.match(
    (await items())[0]?.detail ?? '',
    /^The access key of its agent expired\./,
    'it was not stopped on purpose',
  );
});

test('attention: a receiver is listed once a delivery failed three times in a row, and is critical once one is given up', async () => {
  const body = { validator: 'generic_hmac_sha256', secret: 'x', name: 'orders' };
  const id = String((await ann.call('POST', '/webhook-receivers', body)).body['id']);
  const delivery = (n: number): void => {
    const bytes = Buffer.from('{}');
    db()
      .insert(webhookDeliveries)
      .values({
        ...{ sequence: n, id: `d-${n}`, receiverId: id, receivedAt: plane.now, eventType: null, deliveryId: null },
        ...{ contentType: null, headers: {}, body: bytes, bytes: 2, remoteIp: null },
      })
      .run();
    db().insert(webhookForwards).values({ sequence: n, receiverId: id, place: n, state: 'waiting', attempts: 2 }).run();
  };
  const set = (n: number, change: Partial<typeof webhookForwards.$inferSelect>): void =>
    void db().update(webhookForwards).set(change).where(eq(webhookForwards.sequence, n)).run();
  delivery(1);
  delivery(2);
  assert.deepEqual(await items(), []);
  set(1, { attempts: 3, lastStatus: 500 });
  const [waiting] = await items();
  assert.deepEqual(
    [waiting?.severity, waiting?.kind, waiting?.title, waiting?.object, waiting?.action.href, waiting?.since],
    [
      ...['warning', 'webhook_failing', 'Webhook receiver orders is failing', { type: 'webhook_receiver', id }],
      ...[`/app/webhooks/${id}`, new Date(plane.now).toISOString()],
    ],
  );
  assert.match(waiting?.detail ?? '', /failed 3 times in a row.*status 500/);
  set(1, { state: 'failed', lastStatus: null });
  set(2, { state: 'failed', lastStatus: null, lastError: 'local_timeout' });
  const [failed] = await items();
  assert.equal(failed?.severity, 'critical');
  assert.match(failed?.detail ?? '', /^2 deliveries failed for good\. Last attempt: local_timeout\./);
  await pass(2 * DAY_MS);
  assert.deepEqual(await items(), [], 'of two days ago');
});

test('attention: an unverified domain is info, and a missing record a warning', async () => {
  const id = String((await ann.call('POST', '/domains', { domain: 'shop.example.net' })).body['id']);
  assert.deepEqual(await kinds(), ['info domain']);
  const set = (change: Partial<typeof domains.$inferSelect>): void =>
    void db().update(domains).set(change).where(eq(domains.id, id)).run();
  set({ verifiedAt: plane.now });
  assert.deepEqual(await items(), []);
  set({ failingSince: plane.now - 1_000 });
  const [missing] = await items();
  assert.deepEqual(
    [missing?.severity, missing?.title, missing?.since],
    ['warning', 'The TXT record of shop.example.net is missing', new Date(plane.now - 1_000).toISOString()],
  );
});

test('attention: a key that is in use and ends within a week is listed, one of 48 hours or out of use is not', async () => {
  const [used, short, unused, connected] = [
    await key({ name: 'used', ttlHours: 30 * 24 }),
    await key({ name: 'short', ttlHours: 48 }),
    await key({ name: 'unused', ttlHours: 30 * 24 }),
    await key({ name: 'connected', ttlHours: 30 * 24 + 1 }),
  ];
  const { nonce, id, orgId } = capabilityTokens;
  const use = (of: string): void =>
    void db().update(capabilityTokens).set({ lastUsedAt: plane.now }).where(eq(nonce, of)).run();
  use(short);
  assert.deepEqual(await items(), []);
  await pass(23 * DAY_MS - 1);
  use(used);
  assert.deepEqual(await items(), []);
  await pass(HOUR_MS + 1);
  const [row] = db().select({ id, orgId }).from(capabilityTokens).where(eq(nonce, connected)).all();
  assert.deepEqual(
    (await items()).map(({ severity, title, object }) => [severity, title, object.id]),
    [['warning', 'Access key used expires soon', used]],
    unused,
  );
  plane.control.nodes.attach({
    ...IDLE_NODE,
    connections: () => [
      {
        ...{
          agentId: SESSION,
          orgId: row?.orgId ?? '',
          tokenId: row?.id ?? '',
          remoteIp: '',
          hostname: '',
          version: '',
        },
        ...{ connectedAt: 0, tunnelIds: [], uninspectedIds: [], networkIds: [] },
      },
    ],
  });
  assert.deepEqual(
    (await items()).map(({ object }) => object.id),
    [used, connected],
    'an agent that is connected for weeks uses its key',
  );
  await ann.call('POST', `/tokens/${used}/rotate`);
  assert.deepEqual(
    (await items()).map(({ object }) => object.id),
    [connected],
    'a rotated key has a successor',
  );
});

test('attention: a budget is a warning from 80 %, and critical once it is used up', async () => {
  const nonce = await key({ monthlyBudgetUsdCents: 100 });
  await key({ name: 'nothing', monthlyBudgetUsdCents: 0 });
  const tokenId = String(
    db().select({ id: capabilityTokens.id }).from(capabilityTokens).where(eq(capabilityTokens.nonce, nonce)).get()?.id,
  );
  const shop = await reserve('shop');
  // 10 cents per GB.
  const spend = (cents: number) =>
    report({ ...traffic(shop), tokenId, bytesIn: cents * 100_000_000 - 1 } as PlaneEvent);
  await spend(79);
  assert.deepEqual(await items(), []);
  await spend(6);
  const [near] = await items();
  assert.deepEqual(
    [near?.severity, near?.kind, near?.title, near?.object],
    ['warning', 'budget', 'Access key ci has spent 85 % of its budget', { type: 'token', id: nonce }],
  );
  await spend(15);
  const [spent] = await items();
  assert.deepEqual([spent?.severity, spent?.title], ['critical', 'Budget of access key ci is used up']);
  assert.match(spent?.detail ?? '', /^1\.00 of 1\.00 USD/);
  await pass(10 * DAY_MS);
  assert.deepEqual(await items(), [], 'another month');
});

test('attention: certificates that fail or end are listed, for names that lead somewhere', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const own = await servePlane(fixture.plane);
  t.after(() => own.close());
  const cat = await new Team(fixture.plane, own).person('cat@example.test');
  const { store } = fixture.plane.control;
  const { body } = await cat.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  const { id } = (await cat.call('POST', '/domains', { domain: 'shop.example.net' })).body;
  store.db
    .update(domains)
    .set({ verifiedAt: 1 })
    .where(eq(domains.id, String(id)))
    .run();
  const { now } = fixture.plane;
  const row = { orgId: cat.home, nextAt: now + DAY_MS, createdAt: now, lastAttemptAt: now };
  const failed = { failures: 1, lastError: 'The DNS has no address.' };
  const valid = { chain: 'pem', sealedKey: 'key' };
  store.db
    .insert(certificates)
    .values([
      { ...row, ...failed, name: 'shop.example.net' },
      { ...row, ...valid, ...failed, name: 'shop.edge.test', expiresAt: now + 20 * DAY_MS },
      { ...row, ...failed, name: 'gone.edge.test' },
    ])
    .run();
  const list = async () => (await items(cat)).map(({ severity, kind, title }) => [severity, kind, title]);
  assert.deepEqual(await list(), [
    ['critical', 'certificate', 'shop.example.net has no valid certificate'],
    ['warning', 'certificate', "Certificate of shop.edge.test can't be renewed"],
  ]);
  store.db
    .update(certificates)
    .set({ ...valid, failures: 0, lastError: null, expiresAt: now + 3 * DAY_MS })
    .run();
  assert.deepEqual(await list(), []);
  store.db
    .update(certificates)
    .set({ expiresAt: now + DAY_MS })
    .run();
  assert.equal((await list()).length, 2, 'they end soon');
  await cat.call('DELETE', `/tunnels/${String(body['id'])}`);
  assert.equal((await list()).length, 1);
});

test('attention: superadmins alone see what the server needs', async () => {
  const { accounts, health, disk } = plane.control;
  const made = await accounts.createUser({ email: 'root@example.test', name: '', plan: 'free', superadmin: true });
  const done = await api.call('POST', '/auth/login', {
    body: { email: 'root@example.test', password: made.password.reveal() },
  });
  const as = String(done.body['access_token']);
  const look = async (): Promise<readonly Item[]> => {
    await disk.look();
    await health.look();
    return (await api.call('GET', '/attention', { as })).body as unknown as readonly Item[];
  };
  assert.deepEqual(await look(), []);
  const createdAt = plane.now - HOUR_MS;
  const mail = { id: 'waiting', sealedEmail: 'x', createdAt, nextAt: createdAt, expiresAt: plane.now + DAY_MS };
  db().insert(outgoingMails).values(mail).run();
  const [item] = await look();
  assert.deepEqual(
    [item?.severity, item?.kind, item?.title, item?.object, item?.action.href],
    ['warning', 'mail', 'Emails are not sent', { type: 'server', id: 'mail' }, '/app/operator'],
  );
  assert.deepEqual(await items(), []);
});

test('attention: the worst are first, and a list that is cut says so', async () => {
  const down = await reserve('down');
  await report(agent(down, { online: true }), traffic(down), agent(down, { online: false, lost: true }));
  const row = { orgId: ann.home, verificationToken: 'x' };
  const rows = Array.from({ length: 99 }, (_, n) => ({
    ...{ ...row, id: `d-${n}`, domain: `n-${n}.example.net`, createdAt: plane.now - n },
  }));
  db().insert(domains).values(rows).run();
  plane.now += 60_000;
  const full = await items();
  assert.deepEqual(
    [full.length, full[0]?.kind, full[1]?.object.id, full.at(-1)?.kind],
    [100, 'tunnel_offline', 'd-98', 'domain'],
  );
  db()
    .insert(domains)
    .values({ ...row, id: 'new', domain: 'new.example.net', createdAt: plane.now })
    .run();
  const cut = await items();
  assert.deepEqual([cut.length, cut[0]?.kind, cut.at(-1)?.kind], [100, 'tunnel_offline', 'more']);
  db().update(tunnels).set({ deletedAt: plane.now }).run();
  assert.equal((await items())[0]?.kind, 'domain');
});
