/** Senders that sign a time and the body by Ed25519. Their "secret" is the public key, which is none. */
import { isSigned, publicKeyOf } from './ed25519-keys.ts';
import {
  delivered,
  type Incoming,
  isRecent,
  isTime,
  objectOf,
  type Reply,
  type Scheme,
  type SignatureFault,
  word,
} from './scheme.ts';

const NO_CONTENT: Reply = { status: 204, body: null };
/** Kinds of Discord's messages: of interactions, and of events. */
const PING_OF_INTERACTIONS = 1;
const PING_OF_EVENTS = 0;

function faultOf({ headers, body }: Incoming, secret: string, now: number): SignatureFault | null {
  const { 'x-signature-ed25519': shown = '', 'x-signature-timestamp': at } = headers;
  if (shown === '' || !isTime(at)) return 'signature_missing';
  if (!isRecent(at, now)) return 'signature_too_old';
  const key = publicKeyOf(secret);
  if (key === undefined || !/^[0-9a-f]{128}$/.test(shown)) return 'signature_wrong';
  const message = Buffer.concat([Buffer.from(at), body]);
  return isSigned(key, message, Buffer.from(shown, 'hex')) ? null : 'signature_wrong';
}

// https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint
export const discord: Scheme = {
  faultOf,
  describe: ({ body }) => {
    const { type, event, id } = objectOf(body);
    // https://docs.discord.com/developers/events/webhook-events: its messages of type 1 have an event, those of interactions have none.
    const isEvent = typeof event === 'object' && event !== null;
    if (type === PING_OF_EVENTS) return delivered({ challenge: NO_CONTENT });
    if (type === PING_OF_INTERACTIONS && !isEvent)
      return delivered({ challenge: { status: 200, body: { type: PING_OF_INTERACTIONS } } });
    if (!isEvent) return delivered({ deliveryId: word(id) });
    return delivered({ eventType: word((event as { type?: unknown }).type), accepted: NO_CONTENT });
  },
  secretProblem: (secret) =>
    /^[0-9a-f]{64}$/i.test(secret)
      ? null
      : 'must be the public key of the Discord app: 64 hexadecimal digits, from General Information',
};

export const genericEd25519: Scheme = {
  faultOf,
  describe: ({ headers }) =>
    delivered({
      eventType: word(headers['x-event-type'] ?? headers['x-event']),
      deliveryId: word(headers['x-delivery-id'] ?? headers['webhook-id']),
    }),
  secretProblem: (secret) =>
    publicKeyOf(secret) === undefined
      ? 'must be the Ed25519 public key of the sender: 64 hexadecimal digits, base64 or PEM'
      : null,
};
