/**
 * Events as each kind of sender would send them, signed with the receiver's secret: they show that a service takes what its sender signs. None
 * where the secret is a public key: no one but the sender can sign then.
 */
import type { WebhookKind } from '../kinds.ts';
import { genericHmac, standardWebhooks } from './generic.ts';
import { github } from './github.ts';
import { linear } from './linear.ts';
import type { TestContext, TestMessage, TestSender } from './sender.ts';
import { shopify } from './shopify.ts';
import { slack } from './slack.ts';
import { stripe } from './stripe.ts';
import { twilio } from './twilio.ts';

const SENDERS: Readonly<Record<WebhookKind, TestSender | null>> = {
  generic_hmac_sha256: genericHmac,
  github,
  slack,
  stripe,
  standard_webhooks: standardWebhooks,
  shopify,
  twilio,
  discord: null,
  linear,
  generic_ed25519: null,
};

/** Types of events that can be signed with the secret, the usual one first; empty: none can. */
export function testTypesOf(kind: WebhookKind, secret: string): readonly string[] {
  const sender = SENDERS[kind];
  const [usual = ''] = sender?.types ?? [];
  const signed = sender?.make(usual, { secret, now: 0, url: '', id: '' });
  return sender === null || signed === undefined ? [] : sender.types;
}

/** Undefined: the kind has no such type, or can't be signed with the secret. */
export function testEvent(kind: WebhookKind, type: string, context: TestContext): TestMessage | undefined {
  const sender = SENDERS[kind];
  return sender?.types.includes(type) === true ? sender.make(type, context) : undefined;
}
