/** Test events of senders that no service stands for: HMAC of the body, and Standard Webhooks. */
import { fromBase64 } from '../ed25519-keys.ts';
import { hmac } from '../scheme.ts';
import { signedHeaders } from '../sign.ts';
import { jsonBody, type TestContext, type TestSender } from './sender.ts';

const TYPES = ['test.event', 'order.created'] as const;
const SHARED = 'whsec_';
const PUBLIC = 'whpk_';

function payloadOf(type: string, { id, now }: TestContext): Buffer {
  const data = type === 'order.created' ? { order: id, total: 19.99, currency: 'USD' } : { text: 'Sent by Culvert' };
  return jsonBody({ type, timestamp: new Date(now).toISOString(), data });
}

export const genericHmac: TestSender = {
  types: TYPES,
  make: (type, context) => {
    const body = payloadOf(type, context);
    return {
      headers: {
        'content-type': 'application/json',
        'x-event-type': type,
        'x-delivery-id': context.id,
        'x-signature-256': `sha256=${hmac(context.secret, [body])}`,
      },
      body,
    };
  },
};

export const standardWebhooks: TestSender = {
  types: TYPES,
  make: (type, context) => {
    const { secret, now, id } = context;
    // The public key of a pair: the sender alone has the other half.
    if (secret.startsWith(PUBLIC)) return undefined;
    const shared = secret.startsWith(SHARED) ? secret : SHARED + secret;
    if (fromBase64(shared.slice(SHARED.length)) === undefined) return undefined;
    const body = payloadOf(type, context);
    const signed = signedHeaders(shared, { id: `msg_${id}`, at: now, body: body.toString() });
    return { headers: { 'content-type': 'application/json', ...signed }, body };
  },
};
