/** Foreign text as literals of JavaScript and Python: nothing in it ends the text, and what people can't see is written as an escape. Pure. */
import { base64Of } from '../body/bytes.ts';
import { UNSEEN } from '../visible-text.ts';

interface LiteralOptions {
  /** Bytes of a header, one per character: they are not read as the letters that they look like. */
  readonly ascii?: boolean;
}

export function jsText(text: string, { ascii = false }: LiteralOptions = {}): string {
  return written(text, ascii, (code) => (code > 0xffff ? `\\u{${code.toString(16)}}` : unit(code)));
}

export function pythonText(text: string, { ascii = false }: LiteralOptions = {}): string {
  return written(text, ascii, (code) => (code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : unit(code)));
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Escapes of JSON mean the same in both languages. */
function written(text: string, ascii: boolean, escape: (code: number) => string): string {
  const visible = JSON.stringify(text).replaceAll(UNSEEN, (sign) => escape(sign.codePointAt(0) as number));
  return ascii ? visible.replaceAll(/[\u0080-\u00ff]/g, (sign) => escape(sign.charCodeAt(0))) : visible;
}

/** `b"\x00…"` */
export function byteLiteral(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `b"${text.join('')}"`;
}

export function base64Literal(bytes: Uint8Array): string {
  return `Uint8Array.from(atob("${base64Of(bytes)}"), (sign) => sign.charCodeAt(0))`;
}
