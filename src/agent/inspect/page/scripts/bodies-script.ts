/**
 * `bodies.js`: a body as people read it. JSON is set out, forms become tables, pictures are shown; what is no text is shown as bytes. It is
 * the sender that says what its body is: so no more than a few kinds of picture ever become an element, each from a blob of that
 * kind alone, and nothing is ever a document.
 */
export const BODIES_SCRIPT = String.raw`import { make, size } from './parts.js';

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'image/x-icon']);
const MAX_HEX_BYTES = 4096;
const blobs = [];

/** Blobs of bodies that are not shown any more. */
export function forgetBodies() {
  for (const url of blobs.splice(0)) URL.revokeObjectURL(url);
}

/** Elements for the body of a message; none when it has none. */
export function showBody(body) {
  const bytes = Uint8Array.fromBase64(body.base64);
  if (body.size === 0) return [];
  const remarks = [];
  if (body.truncated) remarks.push('Only the first ' + size(bytes.length) + ' of ' + size(body.size) + ' are shown.');
  if (body.coding !== null) remarks.push(body.decoded ? 'Decoded: ' + body.coding + '.' : 'Still encoded: ' + body.coding + '.');
  const shown = bytes.length === 0 ? [] : picture(body, bytes) ?? form(body, bytes) ?? json(body, bytes) ?? text(bytes) ?? hex(bytes, remarks);
  return [...shown, ...remarks.map((remark) => make('p', { className: 'quiet' }, remark))];
}

const kindOf = ({ type }) => (type ?? '').split(';')[0].trim().toLowerCase();

function picture(body, bytes) {
  const type = kindOf(body);
  if (!PICTURES.has(type) || body.truncated) return undefined;
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  blobs.push(url);
  const image = make('img', { className: 'body', src: url, alt: 'Body: an image of type ' + type });
  image.addEventListener('error', () => image.replaceWith(...hex(bytes, [])));
  return [image];
}

function form(body, bytes) {
  if (kindOf(body) !== 'application/x-www-form-urlencoded') return undefined;
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  const rows = [...new URLSearchParams(text)].map(([name, value]) => make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)));
  return [make('table', { className: 'form' }, make('tbody', {}, ...rows))];
}

function json(body, bytes) {
  const type = kindOf(body);
  const looks = type === '' || type === 'text/plain' ? bytes[0] === 123 || bytes[0] === 91 : /[/+]json$|^application\/json/.test(type);
  const text = looks ? textOf(bytes) : undefined;
  if (text === undefined) return undefined;
  try {
    return [make('pre', { tabIndex: 0 }, JSON.stringify(JSON.parse(text), null, 2))];
  } catch {
    return undefined;
  }
}

function text(bytes) {
  const found = textOf(bytes);
  return found === undefined ? undefined : [make('pre', { tabIndex: 0 }, found)];
}

/** Undefined: it is no text. The end may be cut in the middle of a character. */
export function textOf(bytes) {
  for (let cut = 0; cut < 4 && cut <= bytes.length; cut++) {
    try {
      const found = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.length - cut));
      return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(found) ? undefined : found;
    } catch {
      // not UTF-8, or cut here: one byte less
    }
  }
  return undefined;
}

function hex(bytes, remarks) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, MAX_HEX_BYTES); at += 16) {
    const part = bytes.subarray(at, at + 16);
    const pairs = [...part].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const signs = [...part].map((byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(at.toString(16).padStart(6, '0') + '  ' + pairs.padEnd(48) + ' ' + signs);
  }
  if (bytes.length > MAX_HEX_BYTES) remarks.push('Bytes beyond the first ' + size(MAX_HEX_BYTES) + ' are not shown.');
  return [make('pre', { className: 'hex', tabIndex: 0 }, lines.join('\n'))];
}
`;
