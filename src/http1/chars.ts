/** Character classes of HTTP/1.1 as tables: one load per byte in the parser. RFC 9110 §5.6.2, RFC 9112 §3, §5. */

/** tchar: what names of methods and fields consist of. */
export const TOKEN = new Uint8Array(256);
/** Field values: visible characters, space, tab and obs-text. No other control character, so no CR, LF or NUL. */
export const VALUE = new Uint8Array(256);
/** Request targets: anything visible but `#`, which never belongs in one. */
export const TARGET = new Uint8Array(256);
/** Names of hosts, and IPv4 addresses: letters, digits, `.`, `-`, `_`. */
export const HOST = new Uint8Array(256);
/** Lower case; `_` becomes `-`, because services behind CGI read both names as one (`X_Forwarded_For`). */
export const FOLD = new Uint8Array(256);
/** Value of a hexadecimal digit, 255 for anything else. */
export const HEX = new Uint8Array(256).fill(255);

for (let c = 0; c < 256; c++) {
  const upper = c >= 65 && c <= 90;
  FOLD[c] = upper ? c + 32 : c === 95 ? 45 : c;
  VALUE[c] = (c >= 0x20 && c !== 0x7f) || c === 9 ? 1 : 0;
  TARGET[c] = c > 0x20 && c !== 0x7f && c !== 35 ? 1 : 0;
  const digit = c >= 48 && c <= 57;
  const letter = upper || (c >= 97 && c <= 122);
  TOKEN[c] = digit || letter ? 1 : 0;
  HOST[c] = digit || letter || '.-_'.includes(String.fromCharCode(c)) ? 1 : 0;
  if (digit) HEX[c] = c - 48;
}
for (const c of "!#$%&'*+-.^_`|~") TOKEN[c.charCodeAt(0)] = 1;
for (let i = 0; i < 6; i++) HEX[97 + i] = HEX[65 + i] = 10 + i;

export const CR = 13;
export const LF = 10;
export const SPACE = 32;
export const TAB = 9;
export const COLON = 58;
export const QUESTION = 63;
