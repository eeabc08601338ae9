/**
 * The check of an address as Meta and others do it (WebSub's, before it had another name): a GET with a word that the owner has given
 * them, answered with the text that it brings. https://developers.facebook.com/docs/graph-api/webhooks/getting-started
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';

/** Longest text that is sent back: Meta's has ten digits. */
const MAX_CHALLENGE = 256;

export interface HubQuery {
  readonly 'hub.mode'?: string | undefined;
  readonly 'hub.verify_token'?: string | undefined;
  readonly 'hub.challenge'?: string | undefined;
}

/** The text to send back. Throws `invalid_request` for another request, `forbidden` for another word. */
export function challengeText(query: HubQuery, token: string): string {
  const { 'hub.mode': mode, 'hub.verify_token': shown, 'hub.challenge': text } = query;
  if (mode !== 'subscribe' || shown === undefined || text === undefined || text === '' || text.length > MAX_CHALLENGE)
    throw new AppError(
      'invalid_request',
      'This is the URL of a webhook receiver. Send deliveries with POST. GET only answers hub.mode=subscribe with hub.verify_token and hub.challenge.',
    );
  if (!isSame(shown, token))
    throw new AppError(
      'forbidden',
      'hub.verify_token is not the verify token of the receiver. Copy it again from the receiver.',
    );
  return text;
}

/** In constant time, whatever their lengths. */
function isSame(shown: string, wanted: string): boolean {
  const [a, b] = [shown, wanted].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
