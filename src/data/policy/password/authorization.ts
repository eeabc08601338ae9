/** The field Authorization of a request's head, as a place in its bytes. Read by the steps that ask for credentials. */
import { COLON, FOLD, SPACE, TAB } from '../../../http1/chars.ts';
import { word } from '../../../http1/fields.ts';
import type { Head } from '../../../http1/head.ts';

const AUTHORIZATION = word('authorization');

/** Which line of the head it is; -1 when there is none, and when there are two: services differ in which one they use. */
export function authorizationLine(bytes: Buffer, head: Head): number {
  let found = -1;
  for (let l = 0; l < head.lineCount; l++) {
    if (!isAuthorization(bytes, head.lines[l] as number)) continue;
    if (found >= 0) return -1;
    found = l;
  }
  return found;
}

/** The value of that line, without spaces and tabs around it (RFC 9110 §5.5), and no other character for one. */
export function authorizationValue(bytes: Buffer, head: Head, line: number): string {
  let start = (head.lines[line] as number) + AUTHORIZATION.length + 1;
  // Before its CR LF.
  let end = (head.lines[line + 1] as number) - 2;
  while (start < end && isBlank(bytes[start] as number)) start++;
  while (end > start && isBlank(bytes[end - 1] as number)) end--;
  return bytes.toString('latin1', start, end);
}

function isBlank(c: number): boolean {
  return c === SPACE || c === TAB;
}

function isAuthorization(bytes: Buffer, line: number): boolean {
  for (let i = 0; i < AUTHORIZATION.length; i++) if (FOLD[bytes[line + i] as number] !== AUTHORIZATION[i]) return false;
  return bytes[line + AUTHORIZATION.length] === COLON;
}
