/**
 * One line of foreign text with its invisible characters made visible: controls, and those that turn the direction of what follows, which would
 * let a path look like another one. They stand there as JavaScript writes them.
 */

/** C0 and C1 controls, soft hyphen, zero-width characters, marks and overrides of direction, separators of lines, byte order mark, tags. */
// oxlint-disable-next-line no-control-regex
export const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** In a text of many lines: controls that are no line end and no tab, and what turns the direction. Joiners are parts of letters and pictures there. */
// oxlint-disable-next-line no-control-regex
const TURNING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** More than the screen's width is not read, and a long text costs every redraw. */
const MAX_PATH = 300;

export function visibleText(text: string): string {
  return text.replace(UNSEEN, written);
}

/** A path for a row of a list. */
export function visiblePath(path: string): string {
  return visibleText(path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path);
}

/** Lines stay lines. */
export function visibleLines(text: string): string {
  return text.replace(TURNING, written);
}

function written(sign: string): string {
  const code = (sign.codePointAt(0) as number).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
