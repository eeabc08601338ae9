/**
 * Signs that a name of a person or an organization may not hold: control characters and line ends, and what makes a reader see another
 * text than there is (embeddings, overrides, isolates, signs without width). Refused where people type them, blanked where a provider says them.
 * As they stand in a class of a regular expression, without `\p`, which not every reader of the API document knows.
 */
export const UNSEEN_SIGNS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff';

/** The text as one line without such signs; each run of them becomes a space. */
export function withoutUnseen(text: string): string {
  return text.replaceAll(new RegExp(`[${UNSEEN_SIGNS}]+`, 'gu'), ' ').trim();
}
