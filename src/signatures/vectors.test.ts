/**
 * Signatures that others have published or made. Where each is from:
 * - Standard Webhooks: the reference vector of its repository and of Svix; the package standardwebhooks 1.1.1 signs the same.
 * - Twilio: the tests of its own libraries (php, python, csharp: RequestValidator; go for the seven fields); twilio 6.2.0 computes the same.
 * - Shopify, Linear, Discord: bodies in the form of their documentation, signed for this file; accepted by @shopify/shopify-api 15.0.0
 *   (webhooks.validate), @linear/sdk 98.0.0 (LinearWebhookClient.verify) and discord-interactions 4.4.0 (verifyKey). Key: RFC 8032, 7.1.
 */
import assert from 'node:assert/strict';
import { createPrivateKey, sign } from 'node:crypto';
import { test } from 'node:test';
import type { WebhookKind } from './kinds.ts';
import { findFault } from './validators.ts';

const TWILIO = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const CALL = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212';
/** RFC 8032, 7.1, test 1. */
const RFC_SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const RFC_PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

interface Vector {
  readonly name: string;
  readonly kind: WebhookKind;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly url?: string;
  /** Milliseconds. */
  readonly at?: number;
}

const VECTORS: readonly Vector[] = [
  {
    name: 'Standard Webhooks',
    kind: 'standard_webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330_000,
  },
  {
    name: 'Twilio, a form',
    kind: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', ...FORM },
    body: CALL,
    url: TWILIO,
  },
  {
    name: 'Twilio, a form with a port that it did not sign',
    kind: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', ...FORM },
    body: CALL,
    url: TWILIO.replace('.com', '.com:1234'),
  },
  {
    name: 'Twilio, a name that begins as another',
    kind: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'vOEb5UThFn24KEfnOFLQY2AE5FY=', ...FORM },
    body: `ReasonConferenceEnded=test&Reason=Participant&${CALL}`,
    url: TWILIO,
  },
  {
    name: 'Twilio, a field that is repeated',
    kind: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'IK+Dwps556ElfBT0I3Rgjkr1wJU=', ...FORM },
    body: 'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
    url: TWILIO,
  },
  {
    name: 'Twilio, the hash of a body',
    kind: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'a9nBmqA0ju/hNViExpshrM61xv4=', 'content-type': 'application/json' },
    body: '{"property": "value", "boolean": true}',
    url: `${TWILIO}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
  },
  {
    name: 'Shopify',
    kind: 'shopify',
    secret: 'hush',
    headers: { 'x-shopify-hmac-sha256': 'D0UMXmhjwBRi4y66TmhJrDlhQABD7zI2fm3p6/QLMo8=' },
    body: '{"id":820982911946154508,"email":"jon@example.com"}',
  },
  {
    name: 'Linear',
    kind: 'linear',
    secret: 'lin_wh_test',
    headers: { 'linear-signature': '30b0dd50a05ff32e71d8dd6e147c2946ea6706ab936b40a6b3236b35e225937c' },
    body: '{"action":"create","type":"Issue","webhookTimestamp":1795251600000,"webhookId":"000042e3-d123-4980-b49f-8e140eef9329"}',
    at: 1_795_251_600_000,
  },
  {
    name: 'Discord',
    kind: 'discord',
    secret: RFC_PUBLIC,
    headers: {
      'x-signature-timestamp': '1795251600',
      'x-signature-ed25519':
        '745aedbf07bc219f611d16f4ba866ae08030886bc572700c8a39c463487fd6bf5daa5c2a8f625383fb1c10c42ff61bb6b5465f2393d6f1e561f89c95b7446608',
    },
    body: '{"application_id":"1234560123453231555","type":1,"version":1}',
    at: 1_795_251_600_000,
  },
];

for (const { name, kind, secret, headers, body, url = 'https://api.example.com/', at = 0 } of VECTORS) {
  test(`vector of ${name}: passes, and not with another body or secret`, () => {
    const fault = (text: string, secrets: readonly string[]) =>
      findFault(kind, { headers, body: Buffer.from(text), url }, { secrets, now: at });
    assert.equal(fault(body, [secret]), null);
    assert.equal(fault(`${body} `, [secret]), 'signature_wrong');
    assert.equal(fault(body, [`${secret.slice(0, -1)}0`]), 'signature_wrong');
  });
}

test('generic Ed25519: signs as Discord does, under the key of RFC 8032', () => {
  const der = Buffer.from(`302e020100300506032b657004220420${RFC_SEED}`, 'hex');
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const body = Buffer.from('{"a":1}');
  const signature = sign(null, Buffer.concat([Buffer.from('1795251600'), body]), key).toString('hex');
  const headers = { 'x-signature-timestamp': '1795251600', 'x-signature-ed25519': signature };
  const of = { secrets: [RFC_PUBLIC], now: 1_795_251_600_000 };
  assert.equal(findFault('generic_ed25519', { headers, body, url: '' }, of), null);
});
