/** How alert rules are described: kinds, thresholds, channels and results of tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_CHANNELS, ALERT_KINDS } from '../../src/control/db/schema.ts';
import { Failure, otherByNow } from '../../src/dashboard/api/failure.ts';
import {
  CHANNELS,
  channelOf,
  KINDS,
  kindOf,
  ruleText,
  sentThreshold,
  shownThreshold,
  testText,
} from '../../src/dashboard/pages/alerts/alert-labels.ts';
import { sendToAll, sentText, waitingAddresses } from '../../src/dashboard/pages/alerts/resend.ts';
import { RULE_CHECKS } from '../../src/dashboard/pages/alerts/rule-checks.ts';

test('alerts: every kind and channel of the server has its words', () => {
  assert.deepEqual(KINDS.map(({ value }) => value).sort(), [...ALERT_KINDS].sort());
  assert.deepEqual(CHANNELS.map(({ value }) => value).sort(), [...ALERT_CHANNELS].sort());
  for (const { help, title } of CHANNELS) assert.ok(help.length > 10 && title.length > 2);
});

test('alerts: a rule is one line', () => {
  assert.equal(ruleText({ kind: 'tunnel_offline', threshold: null, for_minutes: 5 }), 'Tunnel offline for 5 min');
  assert.equal(ruleText({ kind: 'error_rate', threshold: 0.05, for_minutes: 10 }), 'Error rate above 5 % for 10 min');
  assert.equal(ruleText({ kind: 'budget', threshold: 80, for_minutes: 1 }), 'Budget from 80 % for 1 min');
  assert.equal(ruleText({ kind: 'new_address', threshold: null, for_minutes: 1 }), 'New address');
});

test('alerts: a share is shown in percent, and sent as a share', () => {
  assert.equal(shownThreshold('error_rate', 0.07), 7);
  assert.equal(sentThreshold('error_rate', 7), 0.07);
  assert.equal(sentThreshold('latency_p95', 250), 250);
  assert.equal(sentThreshold('certificate', 1), undefined);
});

test('alerts: numbers out of range are refused in the form', () => {
  const values = { kind: 'error_rate', threshold: '', forMinutes: 5 } as const;
  const rest = { isQuiet: false, quietFrom: '', quietTo: '', timeZone: 'UTC' };
  const check = (field: 'threshold' | 'forMinutes', value: number | '', kind = 'error_rate' as const) =>
    RULE_CHECKS[field](value, { ...values, ...rest, kind });
  assert.match(check('threshold', '') ?? '', /up to 100/);
  assert.match(check('threshold', 101) ?? '', /up to 100/);
  assert.equal(check('threshold', 5), null);
  assert.match(check('forMinutes', 0) ?? '', /1 to 1440/);
  assert.equal(check('forMinutes', 1440), null);
});

test('alerts: a test names the channels that failed', () => {
  const result = (ok: boolean, error: string | null) => ({ channel_id: 'c', type: 'slack' as const, ok, error });
  assert.equal(testText({ ok: true, results: [result(true, null)] }), 'Test sent.');
  assert.equal(testText({ ok: true, results: [result(true, null), result(true, null)] }), 'Test sent to 2 channels.');
  assert.equal(
    testText({ ok: false, results: [result(true, null), result(false, 'The response had the status 404.')] }),
    'Slack: The response had the status 404.',
  );
  assert.equal(kindOf('budget').hasScope, false);
  assert.equal(channelOf('pagerduty').field, 'routing_key');
});

const channel = (id: string, to: string, state: 'pending' | 'active' = 'pending') => ({
  ...{
    id,
    type: 'email' as const,
    to,
    state,
    confirm_until: null,
    last_error: null,
    last_sent_at: null,
    failing_since: null,
  },
});

test('alerts: a refused confirmation email does not stop the others, and is named with its reason', async () => {
  const waiting = waitingAddresses({
    channels: [
      channel('1', 'a@example.com'),
      channel('2', 'A@example.com'),
      channel('3', 'b@example.com'),
      channel('4', 'c@example.com'),
      channel('5', 'd@example.com', 'active'),
    ],
  });
  assert.equal(waiting.length, 3, 'one of each address');
  const tried: string[] = [];
  const limited = new Failure({ status: 429, code: 'rate_limited', message: 'Try again later.' });
  const send = async (id: string): Promise<void> => {
    tried.push(id);
    if (id !== '4') throw limited;
  };
  const refused = await sendToAll(waiting, send);
  assert.deepEqual(tried, ['2', '3', '4']);
  assert.equal(
    sentText(waiting, refused),
    'Confirmation sent to c@example.com. Not sent to A@example.com, b@example.com: Try again later.',
  );
  assert.equal(sentText(waiting, []), 'Confirmation sent.');
  const gone = async (): Promise<void> => {
    throw otherByNow();
  };
  await assert.rejects(sendToAll(waiting, gone), { code: 'other_session' });
});
