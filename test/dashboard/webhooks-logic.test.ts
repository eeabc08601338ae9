/** How deliveries and senders of webhooks are said, and the secrets that the page makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  lastTry,
  type Progress,
  progressState,
  readCommand,
} from '../../src/dashboard/pages/webhooks/delivery-words.ts';
import { makeSecret, SENDERS, senderOf, type Validator } from '../../src/dashboard/pages/webhooks/senders.ts';

const WAITING: Progress = {
  state: 'waiting',
  attempts: 0,
  last_status: null,
  last_error: null,
  next_attempt_at: null,
  delivered_at: null,
};

test('what became of a delivery is one word, and its last try a sentence where it went wrong', () => {
  const states = ['none', 'waiting', 'sending', 'delivered', 'failed'] as const;
  const words = states.map((state) => progressState({ ...WAITING, state }).words);
  assert.deepEqual(words, ['Kept', 'Waiting', 'Sending', 'Delivered', 'Given up']);
  assert.equal(lastTry(WAITING), undefined);
  assert.equal(lastTry({ ...WAITING, state: 'delivered', attempts: 2, last_status: 200 }), undefined);
  assert.equal(lastTry({ ...WAITING, attempts: 1 }), '1 try, no answer');
  assert.equal(lastTry({ ...WAITING, attempts: 3, last_status: 500 }), '3 tries, the last was answered with 500');
  assert.equal(lastTry({ ...WAITING, attempts: 2, last_error: 'origin_down' }), '2 tries, the last: origin_down');
});

test('each sender says where its address goes, and a new one of the server breaks nothing', () => {
  for (const { setup, secret } of SENDERS) assert.ok(setup.length > 40 && secret.length > 20);
  assert.equal(senderOf('stripe').isOurs, false);
  assert.equal(senderOf('gitea' as Validator).label, 'gitea');
});

test('a secret is 32 bytes, another one each time', () => {
  const secrets = Array.from({ length: 100 }, makeSecret);
  assert.equal(new Set(secrets).size, 100);
  for (const secret of secrets) assert.match(secret, /^[\da-f]{64}$/);
});

test('the command of a program has the address of the API, also under a path, and no key', () => {
  assert.equal(
    readCommand(new URL('https://culvert.example.com/api/'), '019a'),
    `curl -H "Authorization: Bearer $CULVERT_TOKEN" 'https://culvert.example.com/api/webhook-receivers/019a/events?wait=30'`,
  );
});
