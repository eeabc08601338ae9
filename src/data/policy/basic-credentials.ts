/**
 * The user name and password that a request shows (RFC 7617), as bytes of its head say them. Nothing here is kept or logged.
 */
import { COLON, FOLD } from '../edge/chars.ts';
import type { Head } from '../edge/head.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const AUTHORIZATION = Buffer.from('authorization');
const FORM = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/**
 * null: the request shows none, or nothing that is one user name and one password in UTF-8. Two Authorization lines are none: which one a
 * service would go by is anybody's guess.
 */
export function credentialsIn(bytes: Buffer, head: Head): Credentials | null {
  let value: string | null = null;
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    if (!isAuthorization(bytes, line)) continue;
    if (value !== null) return null;
    value = bytes.toString('latin1', line + AUTHORIZATION.length + 1, head.lines[l + 1]).trim();
  }
  const token = value === null ? undefined : FORM.exec(value)?.[1];
  return token === undefined ? null : decoded(Buffer.from(token, 'base64'));
}

function decoded(bytes: Buffer): Credentials | null {
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  // What is not UTF-8 came out changed, and would not go back to the same bytes.
  if (colon < 0 || !Buffer.from(text).equals(bytes)) return null;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function isAuthorization(bytes: Buffer, line: number): boolean {
  let i = 0;
  while (i < AUTHORIZATION.length && FOLD[bytes[line + i] as number] === AUTHORIZATION[i]) i++;
  return i === AUTHORIZATION.length && bytes[line + i] === COLON;
}
