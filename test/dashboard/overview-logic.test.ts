/** What the overview warns of, and the words of its charts: without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schemas, Tunnel } from '../../src/dashboard/api/types.ts';
import { statusTone, statusWord } from '../../src/dashboard/pages/overview/status.ts';
import { totalText } from '../../src/dashboard/pages/overview/traffic.ts';
import { warningsOf } from '../../src/dashboard/pages/overview/warnings.ts';
import { tickText, WHOLE_STEPS } from '../../src/dashboard/parts/charts/chart-axis.ts';
import { tunnel } from './made-up.ts';

const DAY = 86_400;
const nothing = { items: [], tunnels: [], receivers: [] };
/** As the API says a time. */
const at = (ms: number): string => new Date(ms).toISOString();
const warned = (seen: Partial<Parameters<typeof warningsOf>[0]>) =>
  warningsOf({ ...nothing, now: 0, ...seen }).map(({ tone, title, detail }) => `${tone}: ${title}. ${detail}`);

test('warnings: items of the API are shown by severity, with their page', () => {
  const item = (severity: Schemas['AttentionItem']['severity'], id: string): Schemas['AttentionItem'] => ({
    severity,
    kind: 'tunnel_offline',
    title: `Tunnel ${id} is offline`,
    detail: 'The connection to its agent broke.',
    since: at(0),
    object: { type: 'tunnel', id },
    action: { label: 'Open tunnel', href: `/app/tunnels/${id}` },
  });
  const items = [item('critical', 'a'), item('info', 'b')];
  const ending = tunnel({ createdAt: at(-DAY * 1000), expiresAt: at(1000) });
  const shown = warningsOf({ ...nothing, now: 0, items, tunnels: [ending] });
  assert.deepEqual(
    shown.map(({ tone, href }) => [tone, href]),
    [
      ['bad', '/tunnels/a'],
      ['warn', '/tunnels/t1'],
      ['info', '/tunnels/b'],
    ],
  );
  assert.deepEqual(shown[0], {
    ...{ key: 'tunnel_offline tunnel a', tone: 'bad', title: 'Tunnel a is offline', since: at(0) },
    ...{ detail: 'The connection to its agent broke.', href: '/tunnels/a', label: 'Open tunnel' },
  });
});

test('warnings: expiring tunnels', () => {
  const MINUTE = 60_000;
  const ending = (life: number, left: number, more: Partial<Tunnel> = {}) =>
    warned({
      tunnels: [tunnel({ createdAt: at((left - life) * MINUTE), expiresAt: at(left * MINUTE), ...more })],
    });
  assert.match(ending(240, 10)[0] ?? '', /shop expires in 10 min/);
  assert.equal(ending(60, 6).length, 1);
  for (const quiet of [ending(240, 11), ending(60, 59), ending(60, 7), ending(240, 5, { online: false })])
    assert.deepEqual(quiet, []);
});

test('status: the colour follows the outcome of the request', () => {
  assert.deepEqual(
    [
      statusTone(200, 'forwarded'),
      statusTone(302, 'forwarded'),
      statusTone(404, 'forwarded'),
      statusTone(302, 'refused'),
      statusTone(500, 'forwarded'),
      statusTone(200, 'failed'),
      statusTone(0, 'failed'),
    ],
    ['good', 'info', 'warn', 'warn', 'bad', 'bad', 'bad'],
  );
  assert.deepEqual([statusWord(0), statusWord(204)], ['none', '204']);
});

test('chart: describes columns and totals, and grid lines are whole numbers', () => {
  assert.equal(totalText('requests', '7d', [1, 2, 1231]), '1,234 forwarded in the last 7 days');
  assert.equal(totalText('bytes_in', '1h', [1500, 0]), '1.5 KB in the last hour');
  const at = new Date(2026, 10, 21, 14, 0).getTime();
  assert.deepEqual([tickText(at / 1000, 3600), tickText(at / 1000, DAY)], ['14:00', '21 Nov']);
  assert.ok(WHOLE_STEPS.every(Number.isInteger) && WHOLE_STEPS[0] === 1);
});

test('warnings: a receiver that refuses all deliveries warns for a day', () => {
  const receiver = (
    refusedAt: number | null,
    takenAt: number | null,
    since: number | null = null,
  ): Schemas['WebhookReceiver'] => ({
    id: 'r1',
    name: 'orders',
    validator: 'github',
    url: 'https://example.com/webhooks/r1',
    verify_token: '5f2b6c1d',
    created_at: at(0),
    last_received_at: takenAt === null ? null : at(takenAt),
    received: 0,
    stored: 0,
    failed: 0,
    failing: null,
    test_events: [],
    warnings: [],
    displaced: 0,
    refused: {
      total: refusedAt === null ? 0 : 12,
      by_reason: { signature_missing: 0, signature_wrong: 12, signature_too_old: 0, too_large: 0, came_back: 0 },
      last_at: refusedAt === null ? null : at(refusedAt),
      last_reason: refusedAt === null ? null : 'signature_wrong',
      since_received: since,
    },
    waiting: 0,
    forward: null,
  });
  const of = (now: number, refusedAt: number | null, takenAt: number | null = null) =>
    warned({ now, receivers: [receiver(refusedAt, takenAt)] });
  assert.deepEqual(of(2000, 1000), ['warn: Receiver orders rejects deliveries. 12 (wrong signature).']);
  assert.deepEqual(of(DAY * 1000, 0, null).length, 1);
  const since = (count: number) => warned({ now: 2000, receivers: [receiver(1500, 1000, count)] });
  assert.deepEqual(since(2), [], 'a working receiver is not blamed for deliveries of another sender');
  assert.deepEqual(since(3), [
    'warn: Receiver orders rejects deliveries. 3 since its last accepted delivery. Last reason: wrong signature.',
  ]);
  for (const quiet of [of(2000, null), of(2000, 1000, 1500), of(DAY * 1000 + 1, 0)]) assert.deepEqual(quiet, []);
});
