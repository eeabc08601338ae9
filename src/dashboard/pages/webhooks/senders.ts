/** Senders of webhooks, and where each needs the address and the secret. Pure. */
import type { Schemas } from '../../api/types.ts';

export type Receiver = Schemas['WebhookReceiver'];
export type Validator = Receiver['validator'];

interface Sender {
  readonly value: Validator;
  readonly label: string;
  /** The secret is chosen here; else the sender makes it. */
  readonly isOurs: boolean;
  /** Where the secret is, or goes. */
  readonly secret: string;
  /** Where the address goes. */
  readonly setup: string;
}

export const SENDERS: readonly Sender[] = [
  {
    value: 'github',
    label: 'GitHub',
    isOurs: true,
    secret: 'Enter it in the Secret field at GitHub.',
    setup:
      'In the repository or organization, open Settings, Webhooks, Add webhook. Enter this URL as the Payload URL, and the secret as the Secret. Choose the content type application/json.',
  },
  {
    value: 'slack',
    label: 'Slack',
    isOurs: false,
    secret: 'The Signing Secret of your Slack app: Basic Information, App Credentials.',
    setup:
      'In your app, open Event Subscriptions, Enable Events. Enter this URL as the Request URL. Slack verifies it immediately.',
  },
  {
    value: 'stripe',
    label: 'Stripe',
    isOurs: false,
    secret: 'Stripe creates it (whsec_…) with the endpoint. Leave this empty until then.',
    setup:
      'In the Stripe dashboard, open Developers, Webhooks, Add endpoint. Enter this URL as the Endpoint URL. Then copy its signing secret and set it here.',
  },
  {
    value: 'generic_hmac_sha256',
    label: 'Another sender',
    isOurs: true,
    secret: 'The sender signs with it: X-Signature-256: sha256=<hex HMAC-SHA256 of the body>.',
    setup:
      'Send a POST request to this URL, with the header X-Signature-256: sha256= and the HMAC-SHA256 of the body under the secret, in hex. Optional headers: X-Delivery-Id and X-Event-Type.',
  },
];

export function senderOf(validator: Validator): Sender {
  const found = SENDERS.find(({ value }) => value === validator);
  // The server may know one more than this page.
  return found ?? { value: validator, label: validator, isOurs: true, secret: '', setup: '' };
}

const SECRET_BYTES = 32;

/** Random, and in hex, which every sender accepts. */
export function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
