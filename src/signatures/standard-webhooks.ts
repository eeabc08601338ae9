/** Standard Webhooks, as Svix and its customers sign: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
import { fromBase64, isSigned, publicKeyOf } from './ed25519-keys.ts';
import {
  compare,
  delivered,
  hmac,
  type Incoming,
  isRecent,
  isTime,
  MAX_SIGNATURES,
  objectOf,
  type Scheme,
  word,
} from './scheme.ts';

const SHARED = 'whsec_';
const PUBLIC = 'whpk_';

interface Shown {
  readonly id: string | undefined;
  readonly at: string | undefined;
  readonly signatures: readonly string[];
}

/** Does the part of the header sign the message? Undefined: no key is in the secret. */
type Check = (signature: string, message: readonly [string, Buffer]) => boolean;

export const standardWebhooks: Scheme = {
  faultOf: (incoming, secret, now) => {
    const { id, at, signatures } = shownBy(incoming);
    const version = secret.startsWith(PUBLIC) ? 'v1a,' : 'v1,';
    const own = signatures.filter((one) => one.startsWith(version)).slice(0, MAX_SIGNATURES);
    if (id === undefined || id === '' || !isTime(at) || own.length === 0) return 'signature_missing';
    if (!isRecent(at, now)) return 'signature_too_old';
    const check = checkBy(secret);
    if (check === undefined) return 'signature_wrong';
    // All of them are looked at, so that the time does not tell which one was nearly right.
    const results = own.map((one) => check(one.slice(version.length), [`${id}.${at}.`, incoming.body]));
    return results.includes(true) ? null : 'signature_wrong';
  },
  describe: (incoming) =>
    delivered({ eventType: word(objectOf(incoming.body)['type']), deliveryId: word(shownBy(incoming).id) }),
  secretProblem: (secret) =>
    checkBy(secret) === undefined
      ? `must be the signing secret of the sender: ${SHARED} and base64 (or ${PUBLIC} and base64, its public key)`
      : null,
};

/** Svix names its headers otherwise for customers that were there before the standard. */
function shownBy({ headers }: Incoming): Shown {
  const prefix = headers['webhook-signature'] === undefined ? 'svix' : 'webhook';
  const signature = headers[`${prefix}-signature`] ?? '';
  return { id: headers[`${prefix}-id`], at: headers[`${prefix}-timestamp`], signatures: signature.split(' ') };
}

function checkBy(secret: string): Check | undefined {
  if (secret.startsWith(PUBLIC)) {
    const key = publicKeyOf(secret.slice(PUBLIC.length));
    if (key === undefined) return undefined;
    return (signature, [head, body]) =>
      isSigned(key, Buffer.concat([Buffer.from(head), body]), fromBase64(signature) ?? Buffer.alloc(0));
  }
  const key = fromBase64(secret.startsWith(SHARED) ? secret.slice(SHARED.length) : secret);
  if (key === undefined) return undefined;
  return (signature, parts) => compare(signature, hmac(key, parts, { encoding: 'base64' })) === null;
}
