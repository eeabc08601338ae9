/** Senders that sign the body, or a time and the body, by HMAC-SHA256 with the secret as it is. */
import { compare, delivered, hmac, isRecent, isTime, MAX_SIGNATURES, objectOf, type Scheme, word } from './scheme.ts';

export const genericHmac: Scheme = {
  faultOf: ({ headers, body }, secret) => compare(headers['x-signature-256'], `sha256=${hmac(secret, [body])}`),
  describe: ({ headers }) =>
    delivered({
      eventType: word(headers['x-event-type'] ?? headers['x-event']),
      deliveryId: word(headers['x-delivery-id'] ?? headers['webhook-id']),
    }),
};

// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
export const github: Scheme = {
  faultOf: ({ headers, body }, secret) => compare(headers['x-hub-signature-256'], `sha256=${hmac(secret, [body])}`),
  describe: ({ headers }) =>
    delivered({ eventType: word(headers['x-github-event']), deliveryId: word(headers['x-github-delivery']) }),
};

// https://docs.slack.dev/authentication/verifying-requests-from-slack
export const slack: Scheme = {
  faultOf: ({ headers, body }, secret, now) => {
    const at = headers['x-slack-request-timestamp'];
    if (!isTime(at)) return 'signature_missing';
    if (!isRecent(at, now)) return 'signature_too_old';
    return compare(headers['x-slack-signature'], `v0=${hmac(secret, [`v0:${at}:`, body])}`);
  },
  describe: ({ body }) => {
    const said = objectOf(body);
    const { event, challenge } = said;
    const isChallenge = said['type'] === 'url_verification' && typeof challenge === 'string';
    return delivered({
      eventType: word(typeof event === 'object' && event !== null ? (event as { type?: unknown }).type : said['type']),
      deliveryId: word(said['event_id']),
      challenge: isChallenge ? { status: 200, body: { challenge } } : null,
    });
  },
};

// https://docs.stripe.com/webhooks#verify-manually
export const stripe: Scheme = {
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
    return delivered({ eventType: word(said['type']), deliveryId: word(said['id']) });
  },
};

// https://shopify.dev/docs/apps/build/webhooks/subscribe/https
export const shopify: Scheme = {
  faultOf: ({ headers, body }, secret) =>
    compare(headers['x-shopify-hmac-sha256'], hmac(secret, [body], { encoding: 'base64' })),
  // Not the event's id: two topics of one receiver may share it.
  describe: ({ headers }) =>
    delivered({ eventType: word(headers['x-shopify-topic']), deliveryId: word(headers['x-shopify-webhook-id']) }),
};

/** As Linear's own library has it: each retry has a time of its own. */
const LINEAR_TOLERANCE_SECONDS = 60;

// https://linear.app/developers/webhooks#securing-webhooks
export const linear: Scheme = {
  faultOf: ({ headers, body }, secret, now) => {
    const fault = compare(headers['linear-signature'], hmac(secret, [body]));
    if (fault !== null) return fault;
    // The header Linear-Timestamp is not signed; this one is. Read only of what Linear has signed.
    const at = objectOf(body)['webhookTimestamp'];
    if (typeof at !== 'number') return 'signature_missing';
    return isRecent(at / 1000, now, LINEAR_TOLERANCE_SECONDS) ? null : 'signature_too_old';
  },
  describe: ({ headers, body }) => {
    const { type, action } = objectOf(body);
    const event = word(headers['linear-event'] ?? type);
    return delivered({
      eventType: event !== null && typeof action === 'string' ? word(`${event}.${action}`) : event,
      deliveryId: word(headers['linear-delivery']),
      // It sends again what was answered with anything but 200.
      accepted: { status: 200, body: { ok: true } },
    });
  },
};
