/** Senders of webhooks, and where each needs the address and the secret. Pure. */
import type { Schemas } from '../../api/types.ts';

export type Receiver = Schemas['WebhookReceiver'];
export type Validator = Receiver['validator'];

interface Sender {
  readonly value: Validator;
  readonly label: string;
  /** The secret is chosen here; else the sender makes it. */
  readonly isOurs: boolean;
  /** The sender has it before it gets the URL: it is required at once. */
  readonly isFirst?: boolean;
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
    isFirst: true,
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
    value: 'standard_webhooks',
    label: 'Standard Webhooks (Svix)',
    isOurs: false,
    secret: 'The sender creates it (whsec_…) with the endpoint. Leave this empty until then.',
    setup:
      'Add an endpoint with this URL at the sender, such as Clerk, Resend or another customer of Svix. Then copy its signing secret and set it here.',
  },
  {
    value: 'shopify',
    label: 'Shopify',
    isOurs: false,
    isFirst: true,
    secret: "The client secret of your app; for webhooks of a store's own settings, the secret shown there.",
    setup:
      'Subscribe to topics with this URL: in shopify.app.toml, with the Admin API, or in the store under Settings, Notifications, Webhooks.',
  },
  {
    value: 'twilio',
    label: 'Twilio',
    isOurs: false,
    isFirst: true,
    secret: 'The Auth Token of your Twilio account: Console, Account Info.',
    setup:
      'Enter this URL as the webhook, with HTTP POST: of a phone number, a messaging service, or as a status callback. Twilio signs the URL, so enter it exactly as it is here.',
  },
  {
    value: 'discord',
    label: 'Discord',
    isOurs: false,
    isFirst: true,
    secret: 'The Public Key of your Discord app: General Information.',
    setup:
      'In the Discord Developer Portal, open your app, Webhooks. Enter this URL as the Endpoint URL and choose events. Discord verifies it immediately.',
  },
  {
    value: 'linear',
    label: 'Linear',
    isOurs: false,
    secret: 'Linear creates it (lin_wh_…) with the webhook. Leave this empty until then.',
    setup:
      'In Linear, open Settings, API, Webhooks, New webhook. Enter this URL. Then copy its signing secret and set it here.',
  },
  {
    value: 'generic_ed25519',
    label: 'Another sender (Ed25519)',
    isOurs: false,
    isFirst: true,
    secret: 'The public key of the sender: 64 hexadecimal digits, or base64.',
    setup:
      'Send a POST request to this URL, with the headers X-Signature-Timestamp (seconds) and X-Signature-Ed25519: the signature of the timestamp and the body, in hex. Optional headers: X-Delivery-Id and X-Event-Type.',
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
