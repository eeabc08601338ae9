/** Test events: each passes the check of its own kind, and says its type and an ID of its own. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { verify as githubVerify } from '@octokit/webhooks-methods';
import { default as StripeClient } from 'stripe';
import { WEBHOOK_KINDS, type WebhookKind } from '../kinds.ts';
import { describe, findFault } from '../validators.ts';
import { testEvent, testTypesOf } from './test-events.ts';

const NOW = Date.UTC(2026, 10, 21, 9);
const URL = 'https://culvert.example.com/webhooks/1';
const SVIX = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const PUBLIC_ONLY: readonly WebhookKind[] = ['discord', 'generic_ed25519'];

const secretOf = (kind: WebhookKind) => (kind === 'standard_webhooks' ? SVIX : 'shared');

function made(kind: WebhookKind, type: string, id: string = randomUUID()) {
  const message = testEvent(kind, type, { secret: secretOf(kind), now: NOW, url: URL, id });
  assert.ok(message !== undefined, `${kind} ${type}`);
  return { ...message, url: URL };
}

for (const kind of WEBHOOK_KINDS.filter((one) => !PUBLIC_ONLY.includes(one)))
  test(`${kind}: test events are signed with the secret, and are no check of the address`, () => {
    const types = testTypesOf(kind, secretOf(kind));
    assert.ok(types.length > 1);
    for (const type of types) {
      const [one, other] = [made(kind, type), made(kind, type)];
      assert.equal(findFault(kind, one, { secrets: [secretOf(kind)], now: NOW }), null, type);
      assert.equal(findFault(kind, one, { secrets: [`${secretOf(kind)}x`], now: NOW }), 'signature_wrong', type);
      const said = describe(kind, one);
      assert.equal(said.challenge, null);
      // An incoming message of Twilio says no type.
      assert.equal(said.eventType, kind === 'twilio' && type === 'received' ? null : type);
      assert.ok(said.deliveryId !== null);
      assert.notEqual(describe(kind, other).deliveryId, said.deliveryId, 'none is a repeat');
      for (const [name, value] of Object.entries(one.headers)) {
        assert.equal(name, name.toLowerCase());
        assert.match(value, /^[\x20-\x7e]+$/);
      }
    }
    assert.equal(testEvent(kind, 'nothing', { secret: secretOf(kind), now: NOW, url: URL, id: '1' }), undefined);
  });

test('GitHub and Stripe: their own libraries take them', async () => {
  const push = made('github', 'push');
  assert.ok(await githubVerify('shared', push.body.toString(), String(push.headers['x-hub-signature-256'])));
  const paid = made('stripe', 'checkout.session.completed');
  const { webhooks } = new StripeClient('sk_test_x');
  const header = String(paid.headers['stripe-signature']);
  const event = webhooks.constructEvent(paid.body, header, 'shared', 1e10);
  assert.deepEqual([event.type, event.livemode], ['checkout.session.completed', false]);
});

test('a public key: no test event can be signed', () => {
  for (const kind of PUBLIC_ONLY) assert.deepEqual(testTypesOf(kind, 'ab'.repeat(32)), []);
  const key = `whpk_${Buffer.alloc(32, 7).toString('base64')}`;
  assert.deepEqual(testTypesOf('standard_webhooks', key), []);
  assert.equal(testEvent('standard_webhooks', 'test.event', { secret: key, now: NOW, url: URL, id: '1' }), undefined);
});
