/** The metrics of the whole server: what `promtool` says of them, that they tell what there is, to which caller, and that no customer makes them grow. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ProcessWatch } from '../../base/process/process-watch.ts';
import { certificates, outgoingMails, pendingWork } from '../db/schema.ts';
import type { OperatorActor } from '../core/rules/actor.ts';
import { recorded } from '../inspector/testing.ts';
import { checkMetrics, checkRules, NEEDS_PROMTOOL } from '../../../test/harness/promtool.ts';
import { STATS } from './testing.ts';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import { Plane, VISIT } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { said, Team } from '../core/testing/team.ts';

const OPERATOR: OperatorActor = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' };
const HOUR = 3_600_000;

let plane: Plane;
let api: PlaneApi;
let watch: ProcessWatch;
/** Access token of a superadmin. */
let root: string;
const DESCRIPTORS = { figures: { limit: 1_024, used: 40, lacks: 3 } };

beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  watch = new ProcessWatch();
  plane.control.nodes.attach({ ...IDLE_NODE, stats: async () => STATS });
  const made = await plane.control.accounts.createUser({
    email: 'root@example.test',
    name: '',
    plan: 'free',
    superadmin: true,
  });
  const body = { email: 'root@example.test', password: made.password.reveal() };
  root = String((await api.call('POST', '/auth/login', { body })).body['access_token']);
});
afterEach(async () => {
  watch.close();
  await api.close();
  plane.close();
});

const scrape = async (): Promise<string> => {
  const answer = await api.call('GET', '/superadmin/metrics', { as: root });
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(answer.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
  return answer.text;
};
/** The lines that begin so, without comments. */
const lines = (text: string, start: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(start) && !line.startsWith('#'));
const valueOf = (text: string, name: string): number => {
  const [line, ...more] = lines(text, `${name} `);
  assert.ok(line !== undefined && more.length === 0, `${name}: ${line ?? 'not there'}`);
  return Number(line.slice(name.length + 1));
};

test(
  'promtool finds nothing to say about them, with everything in them that there can be',
  NEEDS_PROMTOOL,
  async () => {
    plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
    plane.control.store.db
      .insert(certificates)
      .values({ name: 'shop.example.test', nextAt: 0, createdAt: 0, chain: 'x', expiresAt: plane.now + HOUR })
      .run();
    plane.control.jobTimes.plan('retention', 0);
    plane.control.jobTimes.began('retention', 60_000);
    plane.control.jobTimes.ended('retention', { failed: true });
    checkMetrics(await scrape());
  },
);

test('they tell what the data node, the queues, the files and the jobs are at', async () => {
  plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  const row = { sealedEmail: 'x', nextAt: 0, expiresAt: plane.now + HOUR };
  for (const [id, ago] of [
    ['a', 5_000],
    ['b', 90_000],
  ] as const)
    plane.control.store.db
      .insert(outgoingMails)
      .values({ ...row, id, createdAt: plane.now - ago })
      .run();
  plane.control.store.db
    .insert(pendingWork)
    .values({ id: 'a', kind: 'network_deleted', scope: 'n', orgId: 'o', at: plane.now - 9_000, actor: {}, details: {} })
    .run();
  plane.control.jobTimes.plan('retention', plane.clock.monotonic() + 60_000);
  plane.now += 75_000;
  const text = await scrape();
  for (const [line, value] of [
    ['culvert_build_info{version="9.9.9",', 1],
    ['culvert_visitor_connections{state="http"}', 9],
    ['culvert_visitor_connections{state="tcp"}', 3],
    ['culvert_visitor_connections{state="entering"}', 0],
    ['culvert_visitor_connections_admitted_total', 4_031],
    ['culvert_visitor_dropped_total{reason="over_address"}', 512],
    ['culvert_visitor_dropped_total{reason="malformed"}', 0],
    ['culvert_visitor_answered_total{code="bad_request"}', 3],
    ['culvert_agent_sessions', 21],
    ['culvert_agent_streams', 84],
    ['culvert_agent_tunnels', 30],
    ['culvert_agent_handshakes', 2],
    ['culvert_agent_refused_total', 6],
    ['culvert_window_used_bytes', 1_048_576],
    ['culvert_window_budget_bytes', 536_870_912],
    ['culvert_node_requests_total', 7_001],
    ['culvert_node_bytes_in_total', 70_010],
    ['culvert_node_bytes_out_total', 700_100],
    ['culvert_reports_waiting', 3],
    ['culvert_reports_dropped_total', 1],
    ['culvert_passwords_waiting{of="visitors"}', 4],
    ['culvert_passwords_waiting{of="log_ins"}', 0],
    ['culvert_inspector_dropped_total{reason="tunnel_rate"}', 17],
    ['culvert_inspector_held_bytes', 4_096],
    ['culvert_relays{path="udp"}', 4],
    ['culvert_relays{path="stream"}', 1],
    ['culvert_relay_flows', 19],
    ['culvert_relay_packets_total{direction="in"}', 8_001],
    ['culvert_relay_packets_total{direction="out"}', 9_001],
    ['culvert_relay_bytes_total{direction="in"}', 80_010],
    ['culvert_relay_bytes_total{direction="out"}', 90_010],
    ['culvert_relay_dropped_total{reason="no_agent"}', 23],
    ['culvert_relay_dropped_total{reason="bandwidth"}', 0],
    ['culvert_feed_subscribers', 0],
    ['culvert_pending_changes ', 1],
    ['culvert_pending_changes_oldest_seconds', 84],
    ['culvert_pending_changes_rows_total', 0],
    ['culvert_mail_waiting', 2],
    ['culvert_webhook_lines{state="parked"}', 0],
    ['culvert_webhook_tries_total{outcome="given_up"}', 0],
    ['culvert_webhook_readers', 0],
    ['culvert_webhook_refused_total{reason="signature_wrong"}', 0],
    ['culvert_mail_oldest_seconds', 165],
    ['culvert_job_late_seconds{job="retention"}', 15],
    ['culvert_job_runs_total{job="retention"}', 0],
    [
      'culvert_default_certificate_expiry_seconds{listener="edge"}',
      (Date.parse('2027-02-19T09:30:00Z') - plane.now) / 1_000,
    ],
  ] as const) {
    const found = lines(text, line);
    assert.equal(found.length, 1, `${line}\n${text}`);
    assert.equal(Number(found[0]?.split(' ').at(-1)), value, line);
  }
  assert.deepEqual(lines(text, 'culvert_default_certificate_expiry_seconds{listener="agents"'), []);
  assert.deepEqual(lines(text, 'culvert_certificate_expiry_seconds'), [], 'a 0 would be one that has ended');
  assert.ok(valueOf(text, 'culvert_database_bytes{file="main"}') > 0);
  assert.ok(valueOf(text, 'culvert_process_resident_memory_bytes') > 50e6);
  assert.equal(valueOf(text, 'culvert_process_open_fds'), 40);
  assert.equal(valueOf(text, 'culvert_process_max_fds'), 1024);
  assert.equal(valueOf(text, 'culvert_process_fd_shortage_seconds_total'), 3);
  assert.ok(valueOf(text, 'culvert_process_open_sockets{thread="control"}') >= 2, 'this very request');
  for (const name of ['p50', 'p99', 'max'])
    assert.ok(valueOf(text, `culvert_event_loop_delay_${name}_seconds{thread="control"}`) < 60);
  assert.equal(valueOf(text, 'culvert_event_loop_delay_p99_seconds{thread="data"}'), 0.007);
  assert.equal(valueOf(text, 'culvert_process_open_sockets{thread="data"}'), 44);
  assert.equal(valueOf(text, 'culvert_gc_pauses_total{thread="data",kind="major"}'), 11);
});

test('they tell what the store of records and the live feeds have done and have before them', async () => {
  plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  const { liveFeed, link } = plane.control;
  const ann = await new Team(plane, api).person('ann@example.test');
  const actor = await plane.control.sessions.authenticate(ann.token, VISIT.ipAddress);
  assert.ok(actor !== undefined);
  const leave = liveFeed.join(actor, undefined, { take: () => {}, look: () => {} });
  const records = (count: number) => Array.from({ length: count }, () => recorded({ orgId: ann.home }));
  await link.inspect({ records: records(3), unrecorded: [] });
  // Of one organization twice 2,000 are sent at once.
  liveFeed.publish(records(4_000));
  liveFeed.waiting.add({ terminate: () => {} }, 12_345);
  liveFeed.countTooSlow();
  const many = Array.from({ length: 65 }, () => link.inspect({ records: records(1), unrecorded: [] }));
  const text = await scrape();
  await Promise.all(many);
  for (const [line, value] of [
    ['culvert_inspector_store_lost_total{reason="queue"}', 1],
    ['culvert_inspector_store_lost_total{reason="disk"}', 0],
    ['culvert_inspector_store_waiting_reads', 0],
    ['culvert_inspector_store_refused_reads_total', 0],
    ['culvert_inspector_store_thread_ends_total', 0],
    ['culvert_feed_subscribers', 1],
    ['culvert_feed_sent_total', 4_000],
    ['culvert_feed_cut_total', 1],
    ['culvert_feed_waiting_bytes', 12_345],
  ] as const)
    assert.equal(valueOf(text, line), value, line);
  const stored = (of: string): number => valueOf(of, 'culvert_inspector_store_records_total');
  assert.equal(stored(text) + valueOf(text, 'culvert_inspector_store_waiting_batches'), 3 + 64);
  assert.ok(valueOf(text, 'culvert_inspector_store_waiting_bytes') >= 0);
  const later = await scrape();
  assert.equal(stored(later), 3 + 64);
  // A record is counted once it is stored, or lost.
  assert.equal(valueOf(later, 'culvert_feed_left_out_total'), 3 + 65);
  for (const what of ['batches', 'bytes']) assert.equal(valueOf(later, `culvert_inspector_store_waiting_${what}`), 0);
  assert.ok(valueOf(later, 'culvert_inspector_store_longest_hold_seconds') > 0);
  leave();
});

test('server metrics: certificates are listed by name up to a thousand, those that end first, and then by their number', async (t) => {
  plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  const { db } = plane.control.store;
  const base = { nextAt: 0, createdAt: 0 };
  db.insert(certificates)
    .values([
      {
        ...base,
        name: 'ended.example.test',
        chain: 'x',
        expiresAt: plane.now - 2 * HOUR,
        lastError: 'the authority is away',
      },
      { ...base, name: 'never.example.test', lastError: 'no such host' },
      { ...base, name: 'soon.example.test' },
    ])
    .run();
  plane.control.store.inTx((tx) => {
    for (let n = 0; n < 1_200; n++) {
      const expiresAt = plane.now + (n + 1) * HOUR;
      tx.db
        .insert(certificates)
        .values({ ...base, name: `n${n}.example.test`, chain: 'x', expiresAt })
        .run();
    }
  });
  const beganMs = performance.now();
  const text = await scrape();
  t.diagnostic(`${Math.round(performance.now() - beganMs)} ms for a scrape with a thousand certificates`);
  const named = lines(text, 'culvert_certificate_expiry_seconds{');
  assert.equal(named.length, 1_000);
  assert.ok(
    named.includes('culvert_certificate_expiry_seconds{name="ended.example.test",state="failed"} -7200'),
    text.slice(0, 100),
  );
  assert.ok(named.includes('culvert_certificate_expiry_seconds{name="n0.example.test",state="valid"} 3600'));
  assert.equal(valueOf(text, 'culvert_certificates_not_named'), 201);
  assert.deepEqual(lines(text, 'culvert_certificates{').toSorted(), [
    'culvert_certificates{state="failed"} 2',
    'culvert_certificates{state="pending"} 1',
    'culvert_certificates{state="valid"} 1200',
  ]);
});

test('nothing of a customer is in them, and customers make them no longer', async () => {
  plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  const before = (await scrape()).split('\n').length;
  const ann = await new Team(plane, api).person('ann@secret.example');
  for (let n = 0; n < 20; n++) await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: `hidden-${n}` });
  await ann.call('POST', '/metrics/keys', { name: 'hidden-key' });
  const text = await scrape();
  assert.equal(text.split('\n').length, before);
  assert.doesNotMatch(text, /hidden|secret|ann@|org/);
});

/** As the table of docs/monitoring.md has them. */
function documentedAlerts(): string[] {
  const page = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('\n### Alerts\n');
  const alarms = Array.from(
    section.split('\n## ')[0]?.matchAll(/^\| [^|]+ \| `([^`]+)` \|$/gm) ?? [],
    ([, alarm]) => alarm ?? '',
  );
  assert.ok(alarms.length >= 10, `${alarms.length} alarms`);
  return alarms;
}

test('alerts: every documented one uses metrics that are there', async (t) => {
  plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  plane.control.jobTimes.plan('retention', 0);
  const made = { at: plane.now, name: 'x', bytes: 1, tookMs: 1, encrypted: true, places: [] };
  plane.control.backups.succeeded(made, { checked: false });
  plane.control.store.db
    .insert(certificates)
    .values({ name: 'shop.example.test', nextAt: 0, createdAt: 0, chain: 'x', expiresAt: plane.now + HOUR })
    .run();
  const known = new Set(Array.from((await scrape()).matchAll(/^# TYPE (\w+)/gm), ([, name]) => name));
  const alarms = documentedAlerts();
  for (const alarm of alarms)
    for (const [name] of alarm.matchAll(/\bculvert_\w+/g)) assert.ok(known.has(name), `${alarm}: there is no ${name}`);
  t.diagnostic(`${alarms.length} alarms`);
});

test('alerts: promtool reads every documented one', NEEDS_PROMTOOL, () => {
  const file = join(plane.dataDir, 'rules.yml');
  const rules = documentedAlerts()
    .map((alarm, n) => `  - alert: A${n}\n    expr: ${JSON.stringify(alarm)}\n`)
    .join('');
  writeFileSync(file, `groups:\n- name: culvert\n  rules:\n${rules}`);
  checkRules(file);
});

test('operators alone may read them, and only while a server runs', async () => {
  const path = '/superadmin/metrics';
  assert.deepEqual(said(await api.call('GET', path, { as: root })), [503, 'unavailable']);
  const detach = plane.control.operatorMetrics.attach({ process: watch, descriptors: DESCRIPTORS });
  const ann = await new Team(plane, api).person('ann@example.test');
  assert.deepEqual(said(await ann.call('GET', path)), [403, 'forbidden']);
  assert.deepEqual(said(await api.call('GET', path)), [401, 'unauthorized']);
  const { body } = await ann.call('POST', '/metrics/keys', { name: 'x' });
  assert.deepEqual(said(await api.call('GET', path, { as: String(body['key']) })), [403, 'forbidden']);
  assert.deepEqual(said(await api.call('GET', path, { as: root })), [200]);
  await assert.rejects(plane.control.operatorMetrics.figures({ kind: 'system', orgId: null }), /requires a superadmin/);
  assert.equal((await plane.control.operatorMetrics.figures(OPERATOR)).edge, STATS);
  detach();
  assert.deepEqual(said(await api.call('GET', path, { as: root })), [503, 'unavailable']);
});
