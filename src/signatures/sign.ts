/** How this server signs webhooks of its own: Standard Webhooks, which receivers check with a library of their language. */
import { randomBytes } from 'node:crypto';
import { fromBase64 } from './ed25519-keys.ts';
import { hmac } from './scheme.ts';

const SHARED = 'whsec_';
/** The standard asks for 24 to 64. */
const [LEAST_BYTES, KEY_BYTES, MOST_BYTES] = [24, 32, 64] as const;

/** A secret that a receiver checks signatures with. */
export function newSigningSecret(): string {
  return SHARED + randomBytes(KEY_BYTES).toString('base64');
}

/** Can it be the secret of such a signature? */
export function isSigningSecret(secret: string): boolean {
  const key = secret.startsWith(SHARED) ? fromBase64(secret.slice(SHARED.length)) : undefined;
  return key !== undefined && key.length >= LEAST_BYTES && key.length <= MOST_BYTES;
}

/** The headers of a message. `id`: the same at each attempt. `at`: now, milliseconds. Throws for what is no signing secret. */
export function signedHeaders(secret: string, { id, at, body }: { id: string; at: number; body: string }) {
  const key = fromBase64(secret.slice(SHARED.length));
  if (key === undefined) throw new Error('no signing secret');
  const seconds = String(Math.floor(at / 1000));
  const signature = hmac(key, [`${id}.${seconds}.`, body], { encoding: 'base64' });
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}
