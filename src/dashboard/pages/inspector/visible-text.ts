/**
 * One line of somebody else's text with its unseen characters made seen: controls, and those that turn the direction of what follows, which would
 * let a path look like another one. They stand there as JavaScript writes them.
 */

/** C0 and C1 controls, soft hyphen, zero-width characters, marks and overrides of direction, separators of lines, byte order mark, tags. */
// oxlint-disable-next-line no-control-regex
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export function visibleText(text: string): string {
  return text.replace(UNSEEN, (sign) => {
    const code = (sign.codePointAt(0) as number).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
