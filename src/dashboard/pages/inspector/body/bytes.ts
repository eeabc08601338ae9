/** Bytes of a body: out of the API's base64, as text where they are some, and as a dump where they are none. Pure: tested without a browser. */

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

/** UTF-8 in base64, for the API; in pieces, for a call has no room for as many arguments as a body has bytes. */
export function base64Of(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** What no text holds: controls other than those that divide lines, columns and pages, and the one that begins a terminal's colours. */
// oxlint-disable-next-line no-control-regex
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/** Undefined: it is no text. `charset`: as the sender says it; without one, UTF-8. The end may be cut in the middle of a character. */
export function textOf(bytes: Uint8Array<ArrayBuffer>, charset = 'utf-8'): string | undefined {
  for (let cut = 0; cut < 4; cut++) {
    // Only what can be a part of a character is cut off.
    if (cut > 0 && (bytes[bytes.length - cut] ?? 0) < 0x80) return undefined;
    const found = decoded(bytes.subarray(0, bytes.length - cut), charset);
    if (found !== undefined) return NO_TEXT.test(found) ? undefined : found;
  }
  return undefined;
}

function decoded(bytes: Uint8Array<ArrayBuffer>, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    // Not of this charset, cut in the middle of a character, or there is no such charset: the caller tries less, or shows bytes.
    return undefined;
  }
}

const PER_LINE = 16;

/** `000010  68 65 6c …  hel…`, sixteen bytes a line, from the beginning to at most `most` bytes. */
export function hexDump(bytes: Uint8Array, most: number): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += PER_LINE) {
    const part = bytes.subarray(at, Math.min(at + PER_LINE, most));
    const pairs = Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const signs = Array.from(part, (byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${pairs.padEnd(PER_LINE * 3 - 1)}  ${signs}`);
  }
  return lines.join('\n');
}
