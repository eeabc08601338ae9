/** The body of a response as text. Pure. */
import { visibleText } from '../inspector/visible-text.ts';

export interface BodyText {
  readonly text: string;
  /** Only the beginning was kept. */
  readonly isCut: boolean;
}

/** `size`: bytes of the whole body. JSON that is whole is indented. */
export function bodyText(base64: string, size: number): BodyText {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const text = new TextDecoder().decode(bytes);
  const isCut = bytes.length < size;
  const lines = (isCut ? text : indented(text)).split(/\r?\n/);
  return { text: lines.map(visibleText).join('\n'), isCut };
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Any text may be a response.
    return text;
  }
}
