/**
 * How each kind of sender signs a delivery, and what it says about it. Called by mailbox.ts with the bytes as they came. Every
 * check covers all signatures shown, in constant time. Senders get the same answer whatever was wrong.
 * Reasons: docs/decisions/0017-webhook-queue.md.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isTooDeep } from '../../base/json-depth.ts';

export const VALIDATORS = ['generic_hmac_sha256', 'github', 'slack', 'stripe'] as const;
export type Validator = (typeof VALIDATORS)[number];

/** What came. Header names are lower case. */
export interface Incoming {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** True source address of the sender. */
  readonly remoteIp: string;
}

/** What the sender says about a genuine delivery. */
export interface Delivery {
  readonly eventType: string | null;
  /** The same when it is sent again; null: the sender gives none. */
  readonly deliveryId: string | null;
  /** Answered at once with this text and not stored: the sender checks the address. */
  readonly challenge: string | null;
}

/**
 * What is wrong with how a delivery is signed. `signature_missing`: it shows none, or none as its kind of sender writes it. `signature_too_old`:
 * the sender's own timestamp is too far away, before or behind.
 */
export type SignatureFault = 'signature_missing' | 'signature_wrong' | 'signature_too_old';

interface Scheme {
  readonly faultOf: (incoming: Incoming, secret: string, now: number) => SignatureFault | null;
  readonly describe: (incoming: Incoming) => Delivery;
}

/** Older or newer than this by the sender's own timestamp is a replay (Slack's and Stripe's figure). */
const TOLERANCE_SECONDS = 300;
/** Signatures of one Stripe header that are looked at: two while a secret is rolled. */
const MAX_SIGNATURES = 8;
/** Longest event type and delivery id that is kept. */
const MAX_WORD = 200;

/** Null: it is signed with this secret, and lately where the sender says when. `now`: milliseconds. */
export function findFault(
  validator: Validator,
  incoming: Incoming,
  of: { readonly secret: string; readonly now: number },
): SignatureFault | null {
  return SCHEMES[validator].faultOf(incoming, of.secret, of.now);
}

/** Only of what has no fault. */
export function describe(validator: Validator, incoming: Incoming): Delivery {
  return SCHEMES[validator].describe(incoming);
}

const SCHEMES: Readonly<Record<Validator, Scheme>> = {
  generic_hmac_sha256: {
    faultOf: ({ headers, body }, secret) => compare(headers['x-signature-256'], `sha256=${hmac(secret, [body])}`),
    describe: ({ headers }) => ({
      eventType: word(headers['x-event-type'] ?? headers['x-event']),
      deliveryId: word(headers['x-delivery-id'] ?? headers['webhook-id']),
      challenge: null,
    }),
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    faultOf: ({ headers, body }, secret) => compare(headers['x-hub-signature-256'], `sha256=${hmac(secret, [body])}`),
    describe: ({ headers }) => ({
      eventType: word(headers['x-github-event']),
      deliveryId: word(headers['x-github-delivery']),
      challenge: null,
    }),
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    faultOf: ({ headers, body }, secret, now) => {
      const at = headers['x-slack-request-timestamp'];
      if (!isTime(at)) return 'signature_missing';
      if (!isRecent(at, now)) return 'signature_too_old';
      return compare(headers['x-slack-signature'], `v0=${hmac(secret, [`v0:${at}:`, body])}`);
    },
    describe: ({ body }) => {
      const said = objectOf(body);
      const event = said['event'];
      const isChallenge = said['type'] === 'url_verification' && typeof said['challenge'] === 'string';
      return {
        eventType: word(
          typeof event === 'object' && event !== null ? (event as { type?: unknown }).type : said['type'],
        ),
        deliveryId: word(said['event_id']),
        challenge: isChallenge ? String(said['challenge']) : null,
      };
    },
  },
  // https://docs.stripe.com/webhooks#verify-manually
  stripe: {
    faultOf: ({ headers, body }, secret, now) => {
      const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim());
      const at = parts.find((part) => part.startsWith('t='))?.slice('t='.length);
      const shown = parts.filter((part) => part.startsWith('v1=')).slice(0, MAX_SIGNATURES);
      if (!isTime(at) || shown.length === 0) return 'signature_missing';
      if (!isRecent(at, now)) return 'signature_too_old';
      const wanted = hmac(secret, [`${at}.`, body]);
      // All of them are compared, so that the time does not tell which one was nearly right.
      return shown.map((part) => compare(part, `v1=${wanted}`)).includes(null) ? null : 'signature_wrong';
    },
    describe: ({ body }) => {
      const said = objectOf(body);
      return { eventType: word(said['type']), deliveryId: word(said['id']), challenge: null };
    },
  },
};

function hmac(secret: string, parts: ReadonlyArray<string | Buffer>): string {
  const mac = createHmac('sha256', secret);
  for (const part of parts) mac.update(part);
  return mac.digest('hex');
}

function compare(shown: string | undefined, wanted: string): SignatureFault | null {
  if (shown === undefined || shown === '') return 'signature_missing';
  const [a, b] = [Buffer.from(shown), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b) ? null : 'signature_wrong';
}

/** Seconds since the epoch, as senders write them. */
function isTime(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}$/.test(text);
}

function isRecent(at: string, now: number): boolean {
  return Math.abs(now / 1000 - Number(at)) <= TOLERANCE_SECONDS;
}

/** Of a body that is a JSON object, whatever it says that it is; of anything else, or what is too deep, nothing. Slack also sends forms. */
function objectOf(body: Buffer): Readonly<Record<string, unknown>> {
  if (isTooDeep(body)) return {};
  try {
    const said: unknown = JSON.parse(body.toString('utf8'));
    return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A name that can be kept; null for everything else. */
function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_WORD ? value : null;
}
