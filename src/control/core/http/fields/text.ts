/**
 * Fields of text that hold what the API document says of them. JSON Schema counts characters, where JavaScript counts UTF-16 units, and it
 * looks at a value before the server trims it.
 */
import { z } from '@hono/zod-openapi';

interface Rules {
  /** Of the untrimmed text, with `\s*` around it where the text is trimmed. */
  readonly pattern?: RegExp;
  /** What a text that does not fit the pattern lacks. */
  readonly says?: string;
  readonly isTrimmed?: boolean;
}

/** Text of `min` to `max` characters. */
export function text(min: number, max: number, { pattern, says, isTrimmed = false }: Rules = {}) {
  const why = min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`;
  // Ends the check: a pattern with blanks around it takes quadratic time on text of any length.
  const counted = z.string().refine((value) => isBetween(value, min, max), { error: why, abort: true });
  const matched = pattern === undefined ? counted : counted.regex(pattern, says);
  return (isTrimmed ? matched.trim() : matched).openapi({
    ...(min === 0 ? {} : { minLength: min }),
    maxLength: max,
    // By itself it would get slashes and flags, which JSON Schema does not know.
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
  });
}

function isBetween(value: string, min: number, max: number): boolean {
  // No character has more than two units.
  if (value.length > 2 * max) return false;
  const { length } = Array.from(value);
  return length >= min && length <= max;
}
