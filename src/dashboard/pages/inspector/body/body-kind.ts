/**
 * What a body is shown as. It is the sender who says what it is, and the sender may lie: so there are few kinds, and nothing is ever a document.
 * Pure: tested without a browser.
 */
import { textOf } from './bytes.ts';
import { type SetOut, setOutJson } from './json-text.ts';
import { type Parts, partsOf } from './multipart.ts';

export type Shown =
  | { readonly kind: 'picture'; readonly type: string }
  | {
      readonly kind: 'form';
      readonly fields: ReadonlyArray<readonly [name: string, value: string]>;
      readonly more: number;
    }
  | { readonly kind: 'parts'; readonly parts: Parts }
  | { readonly kind: 'json'; readonly json: SetOut }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes' };

/**
 * Drawn by `<img>`. SVG is shown as the text that it is: it would run nothing, but a few nested `<use>` in 2 KB make a picture whose drawing never
 * ends.
 */
const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/x-icon',
]);
/** Rows of a form that a page lists. */
const MAX_FIELDS = 500;

/** `text/html; charset=utf-8` → `text/html`. */
export function typeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** `bytes`: with the codings undone. */
export function shownAs(bytes: Uint8Array<ArrayBuffer>, contentType: string): Shown {
  const type = typeOf(contentType);
  if (PICTURES.has(type)) return { kind: 'picture', type };
  if (type === 'multipart/form-data') {
    const parts = partsOf(bytes, contentType);
    if (parts !== undefined) return { kind: 'parts', parts };
  }
  const text = textOf(bytes, charsetOf(contentType));
  if (text === undefined) return { kind: 'bytes' };
  if (type === 'application/x-www-form-urlencoded') return formOf(text);
  const json = mayBeJson(type, text) ? setOutJson(text) : undefined;
  return json === undefined ? { kind: 'text', text } : { kind: 'json', json };
}

function formOf(text: string): Shown {
  const fields = [...new URLSearchParams(text.trim())];
  return { kind: 'form', fields: fields.slice(0, MAX_FIELDS), more: Math.max(fields.length - MAX_FIELDS, 0) };
}

function mayBeJson(type: string, text: string): boolean {
  if (/[/+]json$/.test(type)) return true;
  return (type === '' || type === 'text/plain') && /^\s*[[{]/.test(text);
}

export function charsetOf(contentType: string): string {
  return /;\s*charset="?([\w:.-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
}

/** The ending of a file that the body is saved as. */
export function endingOf(contentType: string): string {
  const type = typeOf(contentType);
  if (/[/+]json$/.test(type)) return 'json';
  const picture = /^image\/(png|jpeg|gif|webp|avif|bmp)$/.exec(type)?.[1];
  if (picture !== undefined) return picture;
  // Neither .html nor .svg: opening the file would run a visitor's script.
  return type.startsWith('text/') ? 'txt' : 'bin';
}
