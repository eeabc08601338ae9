/** Bytes as a word of a POSIX shell, as the server writes them for curl: in single quotes when people can read them, else made by `printf`. Pure. */
import { textOf } from '../body/bytes.ts';
import { UNSEEN } from '../visible-text.ts';

interface ShellWord {
  readonly text: string;
  /** It has bytes that people can't read. */
  readonly isEscaped: boolean;
  /** The command that prints these bytes. */
  readonly printf: string;
}

export function shellText(bytes: Uint8Array<ArrayBuffer>): ShellWord {
  const printf = `printf '${printfText(bytes)}'`;
  const text = readable(bytes);
  if (text === undefined) return { text: `"$(${printf})"`, isEscaped: true, printf };
  return { text: `'${text.replaceAll("'", "'\\''")}'`, isEscaped: false, printf };
}

/** Line ends and tabs are read; other controls, and what hides or turns text, are not. */
function readable(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  const text = textOf(bytes);
  if (text === undefined || new TextEncoder().encode(text).length !== bytes.length) return undefined;
  return text.replaceAll(/[\n\t]/g, '').search(UNSEEN) >= 0 ? undefined : text;
}

/** Octal escapes are the only ones that every shell knows. */
function printfText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte, at) => {
    // Not `!` either: an interactive shell looks for it within double quotes. A dash in front would be an option.
    const isPlain =
      byte >= 0x20 && byte < 0x7f && !(at === 0 && byte === 0x2d) && ![0x21, 0x25, 0x27, 0x5c].includes(byte);
    return isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  }).join('');
}
