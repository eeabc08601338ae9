/** A multipart body taken apart (RFC 2046, RFC 7578), for a look: what is broken shows as far as it can be read. */

/** What a page lists; the rest is counted. */
const MAX_PARTS = 100;

export interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly type: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Parts {
  readonly parts: readonly Part[];
  /** Parts that are not listed. */
  readonly more: number;
}

/** Undefined: there is no boundary, or no part. */
export function partsOf(bytes: Uint8Array<ArrayBuffer>, contentType: string): Parts | undefined {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(contentType)?.slice(1).find(Boolean);
  if (boundary === undefined) return undefined;
  // One character per byte: places in the text are places in the body.
  const whole = `\r\n${new TextDecoder('x-user-defined').decode(bytes)}`;
  const pieces = whole.split(`\r\n--${boundary}`).slice(1);
  const found = pieces.filter((piece) => !piece.startsWith('--'));
  const parts = found.slice(0, MAX_PARTS).map(partOf);
  return parts.length === 0 ? undefined : { parts, more: found.length - parts.length };
}

function partOf(piece: string): Part {
  const end = piece.indexOf('\r\n\r\n');
  const head = end < 0 ? piece : piece.slice(0, end);
  const body = toBytes(end < 0 ? '' : piece.slice(end + 4));
  const disposition = fieldOf(head, 'content-disposition') ?? '';
  return {
    name: parameterOf(disposition, 'name') ?? '',
    fileName: parameterOf(disposition, 'filename'),
    type: fieldOf(head, 'content-type'),
    bytes: body,
  };
}

/** `x-user-defined` maps bytes from 80 to U+F780 and on. */
function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0) & 0xff);
}

function fieldOf(head: string, name: string): string | undefined {
  const line = head.split('\r\n').find((one) => one.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? undefined : utf8(line.slice(name.length + 1).trim());
}

function parameterOf(value: string, name: string): string | undefined {
  return new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(value)?.[1];
}

function utf8(text: string): string {
  return new TextDecoder().decode(toBytes(text));
}
