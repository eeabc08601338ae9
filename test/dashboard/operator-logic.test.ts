import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropRows, jobsOf, queuesOf } from '../../src/dashboard/pages/operator/server-metrics.ts';
import { byLabel, figure, readMetrics } from '../../src/dashboard/pages/operator/exposition.ts';
import { MAX_SAMPLES, ratesOf, type Sample, withSample } from '../../src/dashboard/pages/operator/history.ts';
import { byUrgency, checkTitle } from '../../src/dashboard/pages/operator/health-checks.ts';
import { attentionIn, menuFor } from '../../src/dashboard/shell/menu.ts';
import { actionsFor, type User } from '../../src/dashboard/pages/operator/user-actions.ts';

test('drops: the most frequent first, and an unknown reason by its name', () => {
  const rows = dropRows({
    dropped: { malformed: 2, over_total: 0, brand_new: 9 },
    inspector: { dropped: { memory: 5 } },
    relays: { dropped: { malformed: 1 } },
  });
  assert.deepEqual(
    rows.map(({ key, count }) => [key, count]),
    [
      ['visitors brand_new', 9],
      ['records memory', 5],
      ['visitors malformed', 2],
      ['datagrams malformed', 1],
      ['visitors over_total', 0],
    ],
  );
  assert.equal(rows[0]?.words, 'brand_new');
  assert.equal(rows[1]?.setting, 'inspector.max_memory_mb');
});

const PAGE = `# HELP culvert_agent_sessions Agents that are connected
# TYPE culvert_agent_sessions gauge
culvert_agent_sessions 12

culvert_job_runs_total{job="expire tunnels"} 7
culvert_job_runs_total{job="a \\"b\\" \\\\ c\\nd"} 3
culvert_job_failures_total{job="expire tunnels"} 0
culvert_job_failures_total{job="a \\"b\\" \\\\ c\\nd"} 1
culvert_job_duration_seconds{job="expire tunnels"} 0.002
culvert_visitor_connections{state="http"} 4
culvert_visitor_connections{state="tcp"} 1.5e1
culvert_window_used_bytes 950
culvert_window_budget_bytes 1000
culvert_mail_oldest_seconds 700
nonsense
`;

test('metrics: the text format is parsed, with quotes and line ends in labels', () => {
  const metrics = readMetrics(PAGE);
  assert.equal(figure(metrics, 'culvert_agent_sessions'), 12);
  assert.equal(figure(metrics, 'culvert_visitor_connections'), 19);
  assert.equal(figure(metrics, 'culvert_visitor_connections', ['state', 'tcp']), 15);
  assert.equal(figure(metrics, 'culvert_nothing'), 0);
  assert.deepEqual([...byLabel(metrics, 'culvert_job_runs_total', 'job').keys()], ['expire tunnels', 'a "b" \\ c\nd']);
});

test('jobs: failed ones first; one that has not run has no duration', () => {
  const jobs = jobsOf(readMetrics(PAGE));
  assert.deepEqual(
    jobs.map(({ runs, failures, tookMs }) => [runs, failures, tookMs]),
    [
      [3, 1, undefined],
      [7, 0, 2],
    ],
  );
});

test('queues: a long one is marked', () => {
  const long = queuesOf(readMetrics(PAGE)).filter(({ isLong }) => isLong);
  assert.deepEqual(
    long.map(({ title }) => title),
    ['Outgoing mail', 'Stream buffers'],
  );
});

const SAMPLE: Sample = {
  at: 0,
  loopMs: 1,
  connections: 0,
  streams: 0,
  memory: 1,
  requests: 0,
  bytes: 0,
  cpuSeconds: 1,
};

test('rates: computed between samples, and never negative', () => {
  const samples = [
    SAMPLE,
    { ...SAMPLE, at: 2000, requests: 10 },
    { ...SAMPLE, at: 4000, requests: 4 },
    { ...SAMPLE, at: 4000, requests: 9 },
  ];
  assert.deepEqual(ratesOf(samples, 'requests'), [5, 0, 0]);
  assert.deepEqual(ratesOf([SAMPLE], 'requests'), []);
});

test('samples: bounded, and reset when the server restarts', () => {
  let samples: readonly Sample[] = [];
  for (let at = 0; at < MAX_SAMPLES + 10; at++) samples = withSample(samples, { ...SAMPLE, at });
  assert.equal(samples.length, MAX_SAMPLES);
  assert.equal(samples[0]?.at, 10);
  assert.equal(withSample(samples, { ...SAMPLE, cpuSeconds: 0.1 }).length, 1);
});

test('user actions: operators cannot lock out themselves or reset their own password', () => {
  const user: User = {
    id: 'me',
    email: 'ann@example.com',
    name: '',
    email_verified: true,
    mfa_enabled: false,
    is_superadmin: true,
    is_locked: false,
    password_pending: false,
    created_at: '2026-11-21T09:30:00.000Z',
    orgs: [],
  };
  assert.deepEqual(actionsFor(user, 'me'), ['revokeSuperadmin']);
  assert.deepEqual(actionsFor(user, 'another'), ['lock', 'revokeSessions', 'resetPassword', 'revokeSuperadmin']);
  const locked = { ...user, is_locked: true, is_superadmin: false, mfa_enabled: true };
  assert.deepEqual(actionsFor(locked, 'another'), ['unlock', 'revokeSessions', 'resetPassword', 'resetMfa', 'grant']);
});

test('health: failed checks first, then warnings, and an unknown check by its name', () => {
  const check = (name: string, status: 'ok' | 'warn' | 'fail') => ({ name, status, detail: '', next: '' });
  const list = [check('database', 'ok'), check('mail', 'warn'), check('brand_new', 'fail'), check('keys', 'ok')];
  assert.deepEqual(
    byUrgency(list).map(({ name }) => checkTitle(name)),
    ['Brand new', 'Mail', 'Database', 'Keys'],
  );
});

test('menu: billing is shown where plans change hands, and the operator page to operators', () => {
  const menu: Parameters<typeof menuFor>[0] = [
    { title: 'Organization', entries: [{ forBuyers: true }] },
    { title: 'Server', entries: [{ forOperators: true }] },
  ];
  const titles = (is_superadmin: boolean, billing_mode: 'mock' | 'none') =>
    menuFor(menu, { is_superadmin, billing_mode }).map(({ title }) => title);
  assert.deepEqual(titles(false, 'none'), []);
  assert.deepEqual(titles(false, 'mock'), ['Organization']);
  assert.deepEqual(titles(true, 'none'), ['Server']);
});

test('menu: counts problems, but not information', () => {
  assert.deepEqual(attentionIn([{ severity: 'warning' }, { severity: 'info' }]), { count: 1, isCritical: false });
  assert.deepEqual(attentionIn([{ severity: 'critical' }, { severity: 'warning' }]), { count: 2, isCritical: true });
  assert.deepEqual(attentionIn([{ severity: 'info' }]), { count: 0, isCritical: false });
});
