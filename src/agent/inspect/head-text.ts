/**
 * A stored head as lines: its first line, and its fields as names and values in order. The head was read by the strict parser
 * before, so nothing is checked here. Used by request-view.ts and replay.ts.
 */

export type Fields = ReadonlyArray<readonly [name: string, value: string]>;

export interface HeadText {
  readonly firstLine: string;
  readonly fields: Fields;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Values are read as UTF-8 where they are that, else byte by byte. */
export function headText(head: Buffer): HeadText {
  const [firstLine = '', ...lines] = textOf(head).split('\r\n');
  return { firstLine, fields: lines.filter((line) => line !== '').map(fieldOfLine) };
}

/** The value of the first field of this name (in lower case). */
export function fieldValue(fields: Fields, name: string): string | undefined {
  return fields.find(([one]) => one.toLowerCase() === name)?.[1];
}

function fieldOfLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function textOf(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return bytes.toString('latin1'); // not UTF-8: each byte is a character, as HTTP once said
  }
}
