/** The bearer token of a request (RFC 6750 §2.1). */
import { COLON, FOLD } from '../edge/chars.ts';
import { word } from '../edge/fields.ts';
import type { PolicyRequest } from './step.ts';

const AUTHORIZATION = word('authorization');
/** Tokens that are longer are not looked at. */
const MAX_TOKEN_BYTES = 8_192;
const BEARER = /^bearer +([\w.-]+)[ \t]*$/i;

/** Null when there is none, when it is longer than 8 KB, and when there are two: the service might read the other one. */
export function bearerOf({ bytes, head }: PolicyRequest): string | null {
  let found: string | null = null;
  for (let l = 0; l < head.lineCount; l++) {
    const line = head.lines[l] as number;
    if (!isAuthorization(bytes, line)) continue;
    if (found !== null) return null;
    // Without its CR LF.
    found = bytes.toString('latin1', line + AUTHORIZATION.length + 1, (head.lines[l + 1] as number) - 2).trimStart();
  }
  const token = found === null ? undefined : BEARER.exec(found)?.[1];
  return token === undefined || token.length > MAX_TOKEN_BYTES ? null : token;
}

function isAuthorization(bytes: Buffer, line: number): boolean {
  for (let i = 0; i < AUTHORIZATION.length; i++) if (FOLD[bytes[line + i] as number] !== AUTHORIZATION[i]) return false;
  return bytes[line + AUTHORIZATION.length] === COLON;
}
