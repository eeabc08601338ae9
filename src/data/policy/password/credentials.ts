/**
 * The user name and password that a request shows (RFC 7617), as bytes of its head say them. Nothing here is kept or logged.
 */
import type { Head } from '../../../http1/head.ts';
import { authorizationValue } from './authorization.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const FORM = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** In the head's line of Authorization; null when it holds nothing that is one user name and one password in UTF-8. */
export function credentialsIn(bytes: Buffer, head: Head, line: number): Credentials | null {
  const token = FORM.exec(authorizationValue(bytes, head, line))?.[1];
  return token === undefined ? null : decoded(Buffer.from(token, 'base64'));
}

function decoded(bytes: Buffer): Credentials | null {
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  // What is not UTF-8 came out changed, and would not go back to the same bytes.
  if (colon < 0 || !Buffer.from(text).equals(bytes)) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
