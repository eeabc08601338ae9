/**
 * Lines of styled text that fit a terminal: cropping by visible cells, and nothing in them that a terminal would obey. What is
 * drawn comes partly from visitors (paths) and from the server (messages), so control characters never get through.
 */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan' | 'underline';

export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

export type Line = readonly Span[];

/** Controls, and the marks that reorder or hide text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Those of them that JSON writes as they are. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** The text on one line, with nothing in it that a terminal obeys: for words of a server or a visitor. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, '?');
}

/** The same of a text of several lines: their ends and tabs stay. */
export function harmlessLines(text: string): string {
  return text.replace(UNSAFE, (mark) => (mark === '\n' || mark === '\t' ? mark : '?'));
}

/** A value as JSON on one line: what a terminal would obey is written as an escape, so that a reader still gets the value itself. */
export function jsonText(value: unknown): string {
  return escapedMarks(JSON.stringify(value));
}

/** The same of text in which all strings are JSON, as in lines of a log. */
export function escapedMarks(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A piece of a line. */
export function span(text: string, ...styles: Style[]): Span {
  return { text: harmless(text), styles };
}

/** Number of cells; every character counts as one, wide ones are rare here and only cost a cropped end. */
export function widthOf(line: Line): number {
  return line.reduce((sum, piece) => sum + Array.from(piece.text).length, 0);
}

/** The line in at most `columns` cells; `more` marks a cut. */
export function crop(line: Line, columns: number, more: string): Line {
  if (widthOf(line) <= columns) return line;
  const out: Span[] = [];
  let left = columns - more.length;
  for (const piece of line) {
    const characters = Array.from(piece.text);
    if (characters.length >= left) {
      out.push({ text: characters.slice(0, Math.max(0, left)).join('') + more, styles: piece.styles });
      return out;
    }
    out.push(piece);
    left -= characters.length;
  }
  return out;
}

/** The text of a line, with colours or without. */
export function paint(line: Line, color: boolean): string {
  return line
    .map(({ text, styles }) =>
      color && styles.length > 0 && text !== '' ? styleText([...styles], text, { validateStream: false }) : text,
    )
    .join('')
    .trimEnd();
}
