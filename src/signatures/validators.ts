/**
 * How each kind of sender signs a delivery, and what it says about it. Called with the bytes as they came. Every check covers all
 * signatures shown and all secrets given, in constant time. Senders get the same answer whatever was wrong.
 * Reasons: docs/decisions/0017-webhook-queue.md.
 */
import { discord, genericEd25519 } from './ed25519-schemes.ts';
import { genericHmac, github, linear, shopify, slack, stripe } from './hmac-schemes.ts';
import type { WebhookKind } from './kinds.ts';
import type { Delivery, Incoming, Scheme, SignatureFault } from './scheme.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { twilio } from './twilio.ts';

/** Secrets that hold at the same time: while one replaces another there are two. */
export const MAX_SECRETS = 4;

const SCHEMES: Readonly<Record<WebhookKind, Scheme>> = {
  generic_hmac_sha256: genericHmac,
  github,
  slack,
  stripe,
  standard_webhooks: standardWebhooks,
  shopify,
  twilio,
  discord,
  linear,
  generic_ed25519: genericEd25519,
};

/** Null: it is signed with one of these secrets, and lately where the sender says when. `now`: milliseconds. */
export function findFault(
  kind: WebhookKind,
  incoming: Incoming,
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): SignatureFault | null {
  const faults = secrets.map((secret) => SCHEMES[kind].faultOf(incoming, secret, now));
  // Too old with one secret, wrong with another: the sender has the first.
  const worst = faults.includes('signature_too_old') ? 'signature_too_old' : faults[0];
  return faults.includes(null) ? null : (worst ?? 'signature_wrong');
}

/** Only of what has no fault. */
export function describe(kind: WebhookKind, incoming: Incoming): Delivery {
  return SCHEMES[kind].describe(incoming);
}

/** Why no delivery of this sender can be signed with the secret, as "must be …"; null: one can. */
export function secretProblem(kind: WebhookKind, secret: string): string | null {
  return SCHEMES[kind].secretProblem?.(secret) ?? null;
}
