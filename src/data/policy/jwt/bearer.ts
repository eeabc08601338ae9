/** The bearer token of a request (RFC 6750 §2.1). */
import type { Head } from '../../../http1/head.ts';
import { authorizationValue } from '../password/authorization.ts';

/** Tokens that are longer are not looked at. */
const MAX_TOKEN_BYTES = 8_192;
const BEARER = /^bearer +([\w.-]+)$/i;

/** In the head's line of Authorization; null when it holds none, or a longer one than 8 KB. */
export function bearerIn(bytes: Buffer, head: Head, line: number): string | null {
  const token = BEARER.exec(authorizationValue(bytes, head, line))?.[1];
  return token === undefined || token.length > MAX_TOKEN_BYTES ? null : token;
}
