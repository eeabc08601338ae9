/** How deliveries and senders of webhooks are said, and the secrets that the page makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyText } from '../../src/dashboard/pages/webhooks/attempt-labels.ts';
import {
  attemptResult,
  lastTry,
  type Progress,
  progressState,
  readCommand,
} from '../../src/dashboard/pages/webhooks/delivery-labels.ts';
import { setTimeZone } from '../../src/dashboard/parts/time/time-zone.ts';
import { fromOf, keyOf, localText } from '../../src/dashboard/pages/webhooks/redeliver-range.ts';
import {
  hintFor,
  isAlarming,
  isRefusing,
  reasonsText,
  type RefusalReason,
  refusedSince,
  strayHintFor,
} from '../../src/dashboard/pages/webhooks/refusals.ts';
import { WEBHOOK_KINDS } from '../../src/signatures/kinds.ts';
import { makeSecret, SENDERS, senderOf, type Validator } from '../../src/dashboard/pages/webhooks/senders.ts';

const WAITING: Progress = {
  state: 'waiting',
  attempts: 0,
  last_status: null,
  last_error: null,
  next_attempt_at: null,
  delivered_at: null,
};

test('delivery state: one label, and a sentence for a failed attempt', () => {
  const states = ['none', 'waiting', 'sending', 'delivered', 'failed'] as const;
  const words = states.map((state) => progressState({ ...WAITING, state }).words);
  assert.deepEqual(words, ['Stored', 'Waiting', 'Sending', 'Delivered', 'Failed']);
  assert.equal(lastTry(WAITING), undefined);
  assert.equal(lastTry({ ...WAITING, state: 'delivered', attempts: 2, last_status: 200 }), undefined);
  assert.equal(lastTry({ ...WAITING, attempts: 1 }), '1 attempt, no response');
  assert.equal(lastTry({ ...WAITING, attempts: 3, last_status: 500 }), '3 attempts, last status 500');
  assert.equal(lastTry({ ...WAITING, attempts: 2, last_error: 'origin_down' }), '2 attempts, last error: origin_down');
});

test('senders: each has setup steps, and an unknown one has defaults', () => {
  for (const { setup, secret } of SENDERS) assert.ok(setup.length > 40 && secret.length > 20);
  assert.equal(senderOf('stripe').isOurs, false);
  // Every kind of the server, and none of its own.
  assert.deepEqual(SENDERS.map(({ value }) => value).sort(), [...WEBHOOK_KINDS].sort());
  assert.equal(senderOf('gitea' as Validator).label, 'gitea');
});

test('attempt: its status or the reason why there is none; failure is red', () => {
  assert.deepEqual(attemptResult({ status: 204, error: null }), { tone: 'good', words: '204' });
  assert.deepEqual(attemptResult({ status: 500, error: null }), { tone: 'bad', words: '500' });
  assert.deepEqual(attemptResult({ status: 504, error: 'local_timeout' }), { tone: 'bad', words: 'local_timeout' });
  assert.deepEqual(attemptResult({ status: null, error: null }), { tone: 'bad', words: 'No response' });
  assert.equal(progressState({ state: 'waiting', attempts: 0 }).tone, 'warn');
  assert.deepEqual(progressState({ state: 'waiting', attempts: 1 }), { tone: 'bad', words: 'Retrying' });
});

test('response of an attempt: JSON is indented if it is whole; a cut one says so', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  assert.deepEqual(bodyText(base64('{"a":1}'), 7), { text: '{\n  "a": 1\n}', isCut: false });
  assert.deepEqual(bodyText(base64('{"a":'), 900), { text: '{"a":', isCut: true });
  assert.deepEqual(bodyText(base64('<p>ü'), 5), { text: '<p>ü', isCut: false });
});

test('range of a redelivery: until now, or between two times, the earlier one first', () => {
  const now = Date.UTC(2026, 10, 21, 9);
  const typed = { from: '2026-11-21T02:00', to: '2026-11-21T04:30', now };
  assert.deepEqual(fromOf('24', typed), { from: '2026-11-20T09:00:00.000Z', to: '2026-11-21T09:00:00.000Z' });
  const custom = fromOf('custom', typed);
  assert.equal(custom?.from, new Date('2026-11-21T02:00').toISOString());
  assert.equal(custom.to, new Date('2026-11-21T04:30').toISOString());
  assert.equal(fromOf('custom', { ...typed, to: '' }), undefined);
  assert.equal(fromOf('custom', { ...typed, to: '2026-11-21T01:00' }), undefined);
  assert.equal(localText(Date.parse('2026-11-21T02:00')), '2026-11-21T02:00');
});

test('range of a redelivery: times are typed in the zone in which the dashboard shows them', (t) => {
  t.after(() => setTimeZone('local'));
  setTimeZone('utc');
  const typed = { from: '2026-11-21T02:00', to: '2026-11-21T04:30', now: 0 };
  const range = { from: '2026-11-21T02:00:00.000Z', to: '2026-11-21T04:30:00.000Z' };
  assert.deepEqual(fromOf('custom', typed), range);
  assert.equal(localText(Date.parse(range.from)), typed.from);
});

test('key of a redelivery: another range or state is another call, and each fits the API', () => {
  const dialog = crypto.randomUUID();
  const range = { from: '2026-11-21T02:00:00.000Z', to: '2026-11-21T04:30:00.000Z' };
  const keys = [
    keyOf(dialog, range, 'failed'),
    keyOf(dialog, range, 'delivered'),
    keyOf(dialog, { ...range, to: '2026-11-21T05:00:00.000Z' }, 'failed'),
  ];
  assert.equal(new Set(keys).size, 3);
  assert.equal(keyOf(dialog, range, 'failed'), keys[0]);
  for (const key of keys) assert.ok(key.length <= 100);
});

test('webhook secret: 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, makeSecret);
  assert.equal(new Set(secrets).size, 100);
  for (const secret of secrets) assert.match(secret, /^[\da-f]{64}$/);
});

test('API command: holds the address of the API, under a path too, and no key', () => {
  assert.equal(
    readCommand(new URL('https://culvert.example.com/api/'), '019a'),
    `curl -H "Authorization: Bearer $CULVERT_TOKEN" 'https://culvert.example.com/api/webhook-receivers/019a/events?wait=30'`,
  );
});

const NONE = { signature_missing: 0, signature_wrong: 0, signature_too_old: 0, too_large: 0, came_back: 0 };

test('refusals: by reason, the most frequent first', () => {
  assert.equal(reasonsText({ by_reason: { ...NONE, signature_wrong: 12 } }), 'wrong signature');
  const several = { ...NONE, signature_missing: 2, signature_wrong: 1_200, too_large: 30 };
  assert.equal(reasonsText({ by_reason: several }), '1,200 × wrong signature, 30 × too large, 2 × no signature');
  // Of a server that knows one more than this page.
  assert.equal(reasonsText({ by_reason: { ...NONE, of_tomorrow: 1 } as typeof NONE }), 'of tomorrow');
});

test('refusals: each reason has a hint for the sender', () => {
  for (const reason of Object.keys(NONE) as RefusalReason[])
    for (const { value: validator } of SENDERS) assert.ok(hintFor(reason, { validator }).length > 20, reason);
  assert.match(
    hintFor('signature_wrong', { validator: 'github' }),
    /^The secret at GitHub may differ from this receiver's secret/,
  );
  assert.match(
    hintFor('signature_wrong', { validator: 'stripe' }),
    /differ from the one at Stripe\. Copy it from Stripe again/,
  );
  assert.equal(hintFor('of_tomorrow' as RefusalReason, { validator: 'github' }), '');
});

test('receiver state: refusing until a delivery is accepted', () => {
  const at = (last: string | null, taken: string | null): boolean =>
    isRefusing({
      refused: { total: 1, by_reason: NONE, last_at: last, last_reason: 'signature_wrong', since_received: null },
      last_received_at: taken,
    });
  assert.equal(at(null, null), false);
  assert.equal(at('2026-11-22T10:00:00.000Z', null), true);
  assert.equal(at('2026-11-22T10:00:00.000Z', '2026-11-22T09:59:59.000Z'), true);
  assert.equal(at('2026-11-22T10:00:00.000Z', '2026-11-22T10:00:01.000Z'), false);
});

test('receiver state: a working secret is not blamed for deliveries of another sender', () => {
  const since = (count: number | null) => {
    const refused = {
      total: 12,
      by_reason: NONE,
      last_at: '2026-11-22T10:00:00.000Z',
      last_reason: 'too_large' as const,
    };
    return { refused: { ...refused, since_received: count }, last_received_at: '2026-11-22T09:00:00.000Z' };
  };
  assert.deepEqual(
    [null, 1, 2, 3].map((count) => [isAlarming(since(count)), refusedSince(since(count))]),
    [
      [true, 12],
      [false, 1],
      [false, 2],
      [true, 3],
    ],
  );
  assert.equal(isAlarming({ ...since(9), last_received_at: '2026-11-22T11:00:00.000Z' }), false);
  for (const reason of Object.keys(NONE) as RefusalReason[])
    for (const { value: validator } of SENDERS) {
      const hint = strayHintFor(reason, { validator });
      const isAboutSigner = reason === 'signature_wrong' || reason === 'signature_missing';
      if (isAboutSigner) assert.match(hint, /another sender that knows the URL/);
      else assert.equal(hint, hintFor(reason, { validator }));
    }
});
