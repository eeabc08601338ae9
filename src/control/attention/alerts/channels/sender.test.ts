/** Messages of alerts as each channel takes them, and what happens when one does not: to real HTTP and SMTP servers. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq, sql } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { HOUR_MS } from '../../../../base/clock.ts';
import { readSmtpUrl } from '../../../../config/smtp-url.ts';
import { findFault } from '../../../../signatures/validators.ts';
import { startSmtp } from '../../../../../test/harness/smtp.ts';
import { MailDelivery } from '../../../core/mail/mail-delivery.ts';
import { emailsTo } from '../../../core/testing/outbox.ts';
import { Lines } from '../../../core/testing/log-lines.ts';
import { smtpMail } from '../../../providers/smtp.ts';
import { alertChannels, alertRules, outgoingMails } from '../../../db/schema.ts';
import { insertIncidents } from '../incident-rows.ts';
import { AlertFixture, type Taken } from '../testing.ts';
import { dueMessages, queueMessage } from './message-rows.ts';
import { testNotice } from './notices.ts';

let at: AlertFixture;
let shop: string;
beforeEach(async () => {
  at = await AlertFixture.start();
  shop = await at.tunnel('shop');
  await at.pass(6 * 60_000);
});
afterEach(() => at.close());

/** What the channel gets when the tunnel is lost, and when it is back. */
async function story(channel: object): Promise<{ fired: Taken; recovered: Taken }> {
  await at.rule({ kind: 'tunnel_offline', channels: [channel] });
  await at.down(shop);
  await at.pass(70_000);
  await at.up(shop);
  await at.pass(60_000);
  const [fired, recovered, ...rest] = at.taker.taken;
  assert.ok(fired !== undefined && recovered !== undefined && rest.length === 0, JSON.stringify(at.taker.taken));
  return { fired, recovered };
}
const parsed = ({ body }: Taken) => JSON.parse(body) as Readonly<Record<string, unknown>>;

test('alerts: a webhook is signed as Standard Webhooks says', async () => {
  const channels = [{ type: 'webhook', url: at.taker.url('/hook') }];
  const made = await at.call('POST', '/alerts', { kind: 'tunnel_offline', for_minutes: 1, channels }, 201);
  const [channel] = made['channels'] as ReadonlyArray<{ secret: string }>;
  await at.down(shop);
  await at.pass(60_000);
  const [fired] = at.taker.taken;
  assert.ok(fired !== undefined && channel !== undefined);
  const headers = Object.fromEntries(Object.entries(fired.headers).map(([name, value]) => [name, String(value)]));
  const incoming = { headers, body: Buffer.from(fired.body), url: at.taker.url('/hook') };
  assert.equal(findFault('standard_webhooks', incoming, { secrets: [channel.secret], now: at.plane.now }), null);
  assert.equal(
    findFault(
      'standard_webhooks',
      { ...incoming, body: Buffer.from('{}') },
      { secrets: [channel.secret], now: at.plane.now },
    ),
    'signature_wrong',
  );
  const { type, data } = parsed(fired) as { type: string; data: Record<string, unknown> };
  const [incident] = data['incidents'] as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    [type, data['kind'], data['alert_id'], incident?.['object'], incident?.['url'], incident?.['recovered_at']],
    [
      'alert.fired',
      'tunnel_offline',
      made['id'],
      { type: 'tunnel', id: shop },
      `http://api.test/app/tunnels/${shop}`,
      null,
    ],
  );
});

test('alerts: Slack gets text and blocks, Discord content and embeds', async () => {
  const slack = await story({ type: 'slack', url: at.taker.url('/slack') });
  const { text, blocks } = parsed(slack.fired);
  assert.equal(text, '🔴 Tunnel shop is offline');
  assert.match(JSON.stringify(blocks), new RegExp(`<http://api.test/app/tunnels/${shop}\\|Tunnel shop is offline>`));
  assert.equal(parsed(slack.recovered)['text'], '✅ Tunnel shop is no longer offline');
  at.taker.taken.length = 0;
  for (const { id } of (await at.call('GET', '/alerts')) as unknown as ReadonlyArray<{ id: string }>)
    await at.call('DELETE', `/alerts/${id}`);
  const discord = await story({ type: 'discord', url: at.taker.url('/discord') });
  const { content, embeds, allowed_mentions } = parsed(discord.fired);
  assert.equal(content, '🔴 Tunnel shop is offline');
  assert.deepEqual(allowed_mentions, { parse: [] });
  const [embed] = embeds as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    [embed?.['title'], embed?.['url']],
    ['Tunnel shop is offline', `http://api.test/app/tunnels/${shop}`],
  );
});

test('alerts: ntfy gets title, priority, tags, a link and its token', async () => {
  const { fired, recovered } = await story({ type: 'ntfy', url: at.taker.url('/topic'), token: 'tk_1' });
  const { title, priority, tags, click, authorization } = fired.headers;
  assert.deepEqual(
    { title, priority, tags, click, authorization },
    {
      title: 'Tunnel shop is offline',
      priority: '4',
      tags: 'rotating_light',
      click: `http://api.test/app/tunnels/${shop}`,
      authorization: 'Bearer tk_1',
    },
  );
  assert.match(fired.body, /^The connection to its agent broke\. .*\nSince 2026-11-21 00:06 UTC \(1 min\)\.$/);
  assert.deepEqual([recovered.headers['tags'], recovered.headers['priority']], ['white_check_mark', '3']);
});

test('alerts: PagerDuty gets a trigger and its resolve by one key', async () => {
  const { fired, recovered } = await story({ type: 'pagerduty', routing_key: 'R1', url: at.taker.url('/v2/enqueue') });
  const [trigger, resolve] = [parsed(fired), parsed(recovered)];
  assert.deepEqual([trigger['event_action'], resolve['event_action']], ['trigger', 'resolve']);
  assert.deepEqual([trigger['routing_key'], resolve['routing_key']], ['R1', 'R1']);
  assert.ok(String(trigger['dedup_key']).startsWith('culvert-') && trigger['dedup_key'] === resolve['dedup_key']);
  const { summary, severity, source } = trigger['payload'] as Record<string, unknown>;
  assert.deepEqual([summary, severity, source], ['Tunnel shop is offline', 'critical', shop]);
});

test('alerts: PagerDuty hears of each incident that ended', async () => {
  const channels = [{ type: 'pagerduty', routing_key: 'R1', url: at.taker.url('/v2/enqueue') }];
  const ruleId = await at.rule({ kind: 'certificate', channels });
  const { now } = at.plane;
  const told = { since: now, countedFrom: now, firedAt: now, wellAt: null, toldAt: now, remindedAt: null };
  const of = { orgId: at.ann.home, ruleId, objectType: 'certificate', title: 't', detail: 'd', href: '/app/domains' };
  const rows = Array.from({ length: 60 }, (_, i) => ({
    ...{ ...of, ...told, state: 'firing' as const, reminders: 0, endToldAt: null },
    ...{ id: uuidv7(), objectId: `${i}.example.test`, name: `${i}.example.test` },
  }));
  at.plane.control.store.inTx((tx) => insertIncidents(tx, rows));
  await at.pass(60_000);
  const ended = at.taker.json();
  assert.ok(ended.every(({ event_action }) => event_action === 'resolve'));
  assert.deepEqual(new Set(ended.map(({ dedup_key }) => dedup_key)), new Set(rows.map(({ id }) => `culvert-${id}`)));
});

test('alerts: an email says what is wrong, since when and what to do', async (t) => {
  const refuse = (to: string) => (to === 'gone@example.test' ? { code: 550, message: 'no such user' } : undefined);
  const smtp = await startSmtp(t, { refuse });
  const server = readSmtpUrl(smtp.url);
  assert.ok(server !== undefined);
  const { store, outbox } = at.plane.control;
  const delivery = new MailDelivery({
    store,
    outbox,
    transport: smtpMail({ ...server, from: 'culvert@example.test' }),
    publicUrl: () => 'http://api.test',
    log: new Lines().log,
  });
  const id = await at.rule({
    kind: 'tunnel_offline',
    channels: ['ops', 'gone'].map((name) => ({ type: 'email', to: `${name}@example.test` })),
  });
  await at.confirm('ops@example.test');
  await at.confirm('gone@example.test');
  store.db.delete(outgoingMails).run();
  const refused = smtp.nextTry('gone@example.test');
  delivery.start();
  t.after(() => delivery.stop());
  await at.down(shop);
  await at.pass(60_000);
  const mail = await smtp.nextMail('ops@example.test');
  assert.match(mail.subject, /: Tunnel shop is offline$/);
  assert.match(
    mail.text,
    /Tunnel shop is offline\.\n\nThe connection to its agent broke\. Check .*\n\nSince 2026-11-21 00:06 UTC/,
  );
  assert.equal(mail.link, `http://api.test/app/tunnels/${shop}`);
  await refused;
  await delivery.stop();
  const [rule] = (await at.call('GET', '/alerts')) as unknown as ReadonlyArray<{
    id: string;
    channels: ReadonlyArray<{ last_sent_at: string | null; last_error: string | null }>;
  }>;
  assert.equal(rule?.id, id);
  assert.notEqual(rule.channels[0]?.last_sent_at, null);
  assert.deepEqual(
    rule.channels.map(({ last_error }) => last_error),
    [null, 'The mail server did not accept the email.'],
  );
});

test('alerts: a channel that fails is tried again, says so, and keeps the order of its messages', async () => {
  await at.rule({ kind: 'tunnel_offline' });
  at.taker.status = 503;
  await at.down(shop);
  await at.pass(60_000);
  await at.up(shop);
  await at.pass(60_000);
  const channel = async () => {
    const [rule] = (await at.call('GET', '/alerts')) as unknown as ReadonlyArray<{
      channels: ReadonlyArray<Readonly<Record<string, unknown>>>;
    }>;
    return rule?.channels[0];
  };
  const tries = at.taker.taken.length;
  assert.ok(tries >= 3 && tries <= 8, `${tries} attempts`);
  assert.equal((await channel())?.['last_error'], 'The endpoint responded with status 503.');
  assert.notEqual((await channel())?.['failing_since'], null);
  const ids = new Set(at.taker.taken.splice(0).map(({ headers }) => headers['webhook-id']));
  assert.equal(ids.size, 1, 'the same message each time');
  const items = (await at.call('GET', '/attention')) as unknown as ReadonlyArray<{ kind: string; title: string }>;
  assert.deepEqual(
    items.map(({ kind, title }) => [kind, title]),
    [['alert', 'An alert channel is failing: webhook']],
  );
  at.taker.status = 200;
  await at.pass(HOUR_MS);
  assert.deepEqual(at.said(), [
    'alert.fired: Tunnel shop is offline',
    'alert.recovered: Tunnel shop is no longer offline',
  ]);
  assert.deepEqual([(await channel())?.['last_error'], (await channel())?.['failing_since']], [null, null]);
  assert.deepEqual(await at.call('GET', '/attention'), []);
});

test('alerts: a receiver that asks for a pause gets it, and one that is gone gets no second message', async () => {
  await at.rule({ kind: 'tunnel_offline' });
  at.taker.status = 429;
  at.taker.headers = { 'Retry-After': '120' };
  await at.down(shop);
  await at.pass(60_000);
  await at.pass(110_000);
  assert.equal(at.taker.taken.length, 1);
  at.taker.status = 410;
  await at.pass(20_000);
  assert.equal(at.taker.taken.length, 2);
  await at.pass(HOUR_MS);
  assert.equal(at.taker.taken.length, 2);
});

test('alerts: a test says what each channel answered', async () => {
  at.taker.status = 404;
  const id = await at.rule({
    kind: 'certificate',
    channels: [
      { type: 'slack', url: at.taker.url('/slack') },
      { type: 'email', to: 'ops@example.test' },
    ],
  });
  await at.confirm('ops@example.test');
  const { ok, results } = await at.call('POST', `/alerts/${id}/test`);
  assert.equal(ok, false);
  assert.deepEqual(
    (results as ReadonlyArray<Record<string, unknown>>).map((one) => [one['type'], one['ok'], one['error']]),
    [
      ['slack', false, 'The endpoint responded with status 404.'],
      ['email', true, null],
    ],
  );
  const mail = emailsTo(at.plane, 'ops@example.test').at(-1);
  assert.equal(mail?.kind === 'alert' && mail.subject, 'Test alert');
});

const failing = async () =>
  (
    (await at.call('GET', '/alerts')) as unknown as ReadonlyArray<{
      channels: ReadonlyArray<{ last_error: string | null }>;
    }>
  ).flatMap(({ channels }) => channels.map(({ last_error }) => last_error));

test('alerts: channels that can not be read take no places from others', async () => {
  const broken = Array.from({ length: 5 }, (_, i) => ({ type: 'slack', url: at.taker.url(`/broken/${i}`) }));
  const id = await at.rule({ kind: 'tunnel_offline', channels: broken });
  const { store } = at.plane.control;
  store.inTx((tx) => tx.db.update(alertChannels).set({ sealedSettings: 'x' }).run());
  await at.rule({ kind: 'tunnel_offline', channels: [{ type: 'slack', url: at.taker.url('/well') }] });
  await at.down(shop);
  await at.pass(60_000);
  assert.deepEqual(
    at.taker.taken.map(({ path }) => path),
    ['/well'],
  );
  const unread = "The settings of the channel can't be read. Replace the channel.";
  assert.deepEqual(await failing(), [...broken.map(() => unread), null]);
  const { results } = await at.call('POST', `/alerts/${id}/test`);
  assert.equal((results as ReadonlyArray<{ error: string }>)[0]?.error, unread);
});

test('alerts: a receiver does not get a message each second while its end can not be stored', async () => {
  await at.rule({ kind: 'tunnel_offline' });
  const { db } = at.plane.control.store;
  db.run(sql`CREATE TRIGGER full BEFORE UPDATE ON alert_channels BEGIN SELECT RAISE(ABORT, 'full'); END`);
  await at.down(shop);
  await at.pass(100_000);
  assert.equal(at.taker.taken.length, 1);
  db.run(sql`DROP TRIGGER full`);
  await at.pass(60_000);
  assert.equal(new Set(at.taker.taken.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(at.taker.taken.length, 2);
});

test('alerts: an organization whose channels hang keeps those of others from no turn', async () => {
  const hung = Array.from({ length: 10 }, (_, i) => ({ type: 'slack', url: at.taker.url(`/hung/${i}`) }));
  for (let i = 0; i < 7; i++) await at.rule({ kind: 'certificate', channels: hung });
  const { store } = at.plane.control;
  const queue = () => {
    const notice = testNotice({ ruleId: 'r', kind: 'certificate', organization: { id: 'o', name: 'o' }, at: 0 }, 'i');
    const waiting = new Set(
      dueMessages(store.db, { now: Infinity, limit: 1_000, each: 1_000 }).map((one) => one.channelId),
    );
    const owned = store.db
      .select({ orgId: alertRules.orgId, channelId: alertChannels.id })
      .from(alertChannels)
      .innerJoin(alertRules, eq(alertRules.id, alertChannels.ruleId))
      .all();
    store.inTx((tx) => {
      for (const one of owned) if (!waiting.has(one.channelId)) queueMessage(tx, { ...one, notice });
    });
  };
  queue();
  at.plane.now += 1_000;
  const bob = await at.team.person('bob@example.test');
  const channels = [{ type: 'slack', url: at.taker.url('/bob') }];
  assert.equal((await bob.call('POST', '/alerts', { kind: 'certificate', for_minutes: 1, channels })).status, 201);
  queue();
  const due = dueMessages(store.db, { now: at.plane.now, limit: 64, each: 8 });
  assert.deepEqual([due.length, due.at(-1)?.orgId, due[0]?.notice.event], [9, bob.home, 'test']);
});
