/** Who sends webhooks, and where each wants the address and has the secret. Pure. */
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
    secret: 'GitHub signs with it. It goes into the field Secret there.',
    setup:
      'At the repository or organization: Settings, Webhooks, Add webhook. The address goes into Payload URL, the secret into Secret; choose application/json as the content type.',
  },
  {
    value: 'slack',
    label: 'Slack',
    isOurs: false,
    secret: 'The Signing Secret of your Slack app: Basic Information, App Credentials.',
    setup:
      'At your app: Event Subscriptions, Enable Events. The address goes into Request URL; Slack asks there at once, and is answered.',
  },
  {
    value: 'stripe',
    label: 'Stripe',
    isOurs: false,
    secret: 'Stripe makes it (whsec_…) once its endpoint has the address. Leave this empty until then.',
    setup:
      'In the dashboard of Stripe: Developers, Webhooks, Add endpoint. The address goes into Endpoint URL; then take its signing secret, and set it here.',
  },
  {
    value: 'generic_hmac_sha256',
    label: 'Another sender',
    isOurs: true,
    secret: 'The sender signs with it: X-Signature-256: sha256=<hex HMAC-SHA256 of the body>.',
    setup:
      'Have your sender POST to the address, with the header X-Signature-256: sha256= and the HMAC-SHA256 of the body under the secret, in hex. X-Delivery-Id and X-Event-Type say what it is, where it has them.',
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
