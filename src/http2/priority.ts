/** What a visitor says of a stream's priority (RFC 9218): the value of its `priority` field, or of a PRIORITY_UPDATE frame. */
import type { Priority } from './types.ts';

const USUAL_URGENCY = 3;
const COMMA = 44;
const EQUALS = 61;
const QUESTION = 63;
const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const LOWER_U = 117;
const LOWER_I = 105;
const ZERO = 48;
const ONE = 49;
const SEVEN = 55;

/** As it is where nothing was said (RFC 9218 §4). */
export function resetPriority(priority: Priority): void {
  priority.urgency = USUAL_URGENCY;
  priority.isIncremental = false;
}

/**
 * Reads `u=0` to `u=7`, `i`, `i=?0` and `i=?1` of the dictionary `bytes[start, end)` (RFC 8941 §3.2); what else it has is passed by, and so is a value
 * that is none (RFC 9218 §4).
 */
export function readPriority(bytes: Buffer, start: number, end: number, into: Priority): void {
  let i = start;
  while (i < end) {
    while (i < end && (bytes[i] === SPACE || bytes[i] === TAB || bytes[i] === COMMA)) i++;
    const key = bytes[i];
    const member = i;
    i = nextMember(bytes, i, end);
    const valueEnd = endOfValue(bytes, member, i);
    const first = bytes[member + 2] as number;
    if (key === LOWER_U) {
      const isUrgency = valueEnd - member === 3 && bytes[member + 1] === EQUALS && first >= ZERO && first <= SEVEN;
      if (isUrgency) into.urgency = first - ZERO;
    } else if (key === LOWER_I) {
      const digit = bytes[member + 3];
      if (valueEnd - member === 1) into.isIncremental = true;
      else if (
        valueEnd - member === 4 &&
        bytes[member + 1] === EQUALS &&
        first === QUESTION &&
        (digit === ZERO || digit === ONE)
      )
        into.isIncremental = digit === ONE;
    }
  }
}

/** The comma behind the member at `at`, or the end; not one in a string. */
function nextMember(bytes: Buffer, at: number, end: number): number {
  let isQuoted = false;
  let i = at;
  for (; i < end; i++) {
    if (bytes[i] === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted && bytes[i] === BACKSLASH) i++;
    else if (!isQuoted && bytes[i] === COMMA) return i;
  }
  return Math.min(i, end);
}

/** Where a member's value ends: before its parameters and blanks. */
function endOfValue(bytes: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && bytes[i] !== SEMICOLON && bytes[i] !== SPACE && bytes[i] !== TAB) i++;
  return i;
}
