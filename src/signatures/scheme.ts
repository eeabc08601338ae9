/** What every scheme is made of: the delivery as it came, what can be wrong with it, and comparisons in constant time. */
import { type BinaryToTextEncoding, createHmac, timingSafeEqual } from 'node:crypto';
import { isTooDeep } from '../base/json-depth.ts';

/** What came. Header names are lower case. */
export interface Incoming {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The whole URL to which the sender sent it, with its query: Twilio signs it. */
  readonly url: string;
}

/** Response to a sender. */
export type Reply =
  | { readonly status: 200 | 202; readonly body: Readonly<Record<string, unknown>> }
  | { readonly status: 204; readonly body: null };

/** What the sender says about a genuine delivery. */
export interface Delivery {
  readonly eventType: string | null;
  /** The same when it is sent again; null: the sender gives none. */
  readonly deliveryId: string | null;
  /** The sender checks the address: it is answered at once with this, and the delivery is for no service. */
  readonly challenge: Reply | null;
  /** Response that the sender takes for success. */
  readonly accepted: Reply;
}

/**
 * What is wrong with how a delivery is signed. `signature_missing`: it shows none, or none as its kind of sender writes it. `signature_too_old`:
 * the sender's own timestamp is too far away, before or behind.
 */
export type SignatureFault = 'signature_missing' | 'signature_wrong' | 'signature_too_old';

export interface Scheme {
  /** `now`: milliseconds. */
  readonly faultOf: (incoming: Incoming, secret: string, now: number) => SignatureFault | null;
  readonly describe: (incoming: Incoming) => Delivery;
  /** What a secret lacks that can't be one of this sender; null: nothing. Absent: any text is one. */
  readonly secretProblem?: (secret: string) => string | null;
}

/** Older or newer than this by the sender's own timestamp is a replay (Slack's, Stripe's and Standard Webhooks' figure). */
export const TOLERANCE_SECONDS = 300;
/** Signatures of one header that are looked at: two while a secret is rolled. */
export const MAX_SIGNATURES = 8;
/** Longest event type and delivery id that is kept. */
const MAX_WORD = 200;

const ACCEPTED: Reply = { status: 202, body: { ok: true } };

/** A delivery for the service; what is not given is unknown. */
export function delivered(about: Partial<Delivery>): Delivery {
  return { eventType: null, deliveryId: null, challenge: null, accepted: ACCEPTED, ...about };
}

export function hmac(
  key: string | Buffer,
  parts: ReadonlyArray<string | Buffer>,
  as: { readonly hash?: 'sha1' | 'sha256'; readonly encoding?: BinaryToTextEncoding } = {},
): string {
  const mac = createHmac(as.hash ?? 'sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest(as.encoding ?? 'hex');
}

/** In constant time. */
export function compare(shown: string | undefined, wanted: string): SignatureFault | null {
  if (shown === undefined || shown === '') return 'signature_missing';
  const [a, b] = [Buffer.from(shown), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b) ? null : 'signature_wrong';
}

/** Seconds since the epoch, as senders write them. */
export function isTime(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,12}$/.test(text);
}

export function isRecent(at: string | number, now: number, tolerance = TOLERANCE_SECONDS): boolean {
  return Math.abs(now / 1000 - Number(at)) <= tolerance;
}

/** Of a body that is a JSON object, whatever it says that it is; of anything else, or what is too deep, nothing. Slack also sends forms. */
export function objectOf(body: Buffer): Readonly<Record<string, unknown>> {
  if (isTooDeep(body)) return {};
  try {
    const said: unknown = JSON.parse(body.toString('utf8'));
    return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A name that can be kept; null for everything else. */
export function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_WORD ? value : null;
}
