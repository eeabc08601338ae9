/** How this server signs webhooks: the vector of the Standard Webhooks specification, and its own check. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSigningSecret, newSigningSecret, signedHeaders } from './sign.ts';
import { findFault } from './validators.ts';

test('signing: the vector of the specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signedHeaders(secret, {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: 1_614_265_330_000,
    body: '{"test": 2432232314}',
  });
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('signing: a secret that was made is one, and its signature is found right', () => {
  const secret = newSigningSecret();
  assert.ok(isSigningSecret(secret));
  for (const no of [
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    secret.slice(6),
    `${secret}!`,
    `whsec_${Buffer.alloc(65).toString('base64')}`,
  ])
    assert.ok(!isSigningSecret(no), no);
  const at = Date.UTC(2026, 10, 21);
  const headers = signedHeaders(secret, { id: 'm1', at, body: '{}' });
  const incoming = { headers, body: Buffer.from('{}'), url: 'https://example.test/' };
  assert.equal(findFault('standard_webhooks', incoming, { secrets: [secret], now: at }), null);
});
