/**
 * What a body is shown as. It is the sender who says what it is, and the sender may lie: so there are few kinds, and nothing is ever a document.
 * Pure: tested without a browser.
 */
import { textOf } from './bytes.ts';
import { eventsOf, type StreamEvents } from './events.ts';
import { operationsIn, type Operation } from './graphql.ts';
import { framesOf, type GrpcFrames } from './grpc.ts';
import { type JsonTree, parseTree } from './json-tree.ts';
import { type Parts, partsOf } from './multipart.ts';
import { protoJson } from './protobuf.ts';

export type Shown =
  | { readonly kind: 'picture'; readonly type: string }
  | {
      readonly kind: 'form';
      readonly fields: ReadonlyArray<readonly [name: string, value: string]>;
      readonly more: number;
    }
  | { readonly kind: 'parts'; readonly parts: Parts }
  | { readonly kind: 'json'; readonly tree: JsonTree }
  | { readonly kind: 'graphql'; readonly operations: readonly Operation[]; readonly tree: JsonTree }
  | { readonly kind: 'events'; readonly events: StreamEvents }
  /** JSON documents, one a line. */
  | { readonly kind: 'lines'; readonly lines: readonly string[]; readonly more: number }
  | { readonly kind: 'grpc'; readonly frames: GrpcFrames }
  /** Protobuf without its schema. */
  | { readonly kind: 'message'; readonly tree: JsonTree }
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
const PROTOBUF = /^application\/(?:(?:x-|vnd\.google\.)?protobuf|x-google-protobuf|[\w.-]+\+proto)$/;
const JSON_LINES = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/;
/** Documents of such a body that a page lists. */
const MAX_LINES = 1_000;
/** Deeper multiparts within multiparts are shown as text: their parts open by themselves, and a page of any depth ends the browser's stack. */
const MAX_NESTED = 3;
/** Rows of a form that a page lists. */
const MAX_FIELDS = 500;

/** `text/html; charset=utf-8` → `text/html`. */
export function typeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** `bytes`: with the codings undone. `mayBeCut`: their end may be missing. */
export function shownAs(bytes: Uint8Array<ArrayBuffer>, contentType: string, mayBeCut = false): Shown {
  const type = typeOf(contentType);
  if (PICTURES.has(type)) return { kind: 'picture', type };
  if (type.startsWith('multipart/')) {
    const parts = partsOf(bytes, contentType);
    if (parts !== undefined) return { kind: 'parts', parts };
  }
  return binaryShown(bytes, type) ?? textShown(textOf(bytes, charsetOf(contentType)), type, mayBeCut);
}

/** A part of a multipart body. `depth`: multiparts around it. */
export function partShownAs(bytes: Uint8Array<ArrayBuffer>, contentType: string, depth: number): Shown {
  const isTooDeep = depth > MAX_NESTED && typeOf(contentType).startsWith('multipart/');
  return shownAs(bytes, isTooDeep ? 'text/plain' : contentType);
}

/** Of formats whose messages look like text only by chance. */
function binaryShown(bytes: Uint8Array<ArrayBuffer>, type: string): Shown | undefined {
  if (/^application\/grpc(?:$|[-+;])/.test(type)) {
    const frames = framesOf(bytes, type);
    return frames === undefined ? undefined : { kind: 'grpc', frames };
  }
  if (!PROTOBUF.test(type)) return undefined;
  const tree = messageTree(bytes);
  return tree === undefined ? undefined : { kind: 'message', tree };
}

/** A protobuf message as a tree of its fields. Undefined: it is none. */
export function messageTree(bytes: Uint8Array<ArrayBuffer>): JsonTree | undefined {
  const json = protoJson(bytes);
  return json === undefined ? undefined : parseTree(json);
}

function textShown(text: string | undefined, type: string, mayBeCut: boolean): Shown {
  if (text === undefined) return { kind: 'bytes' };
  if (type === 'application/x-www-form-urlencoded') return formOf(text);
  if (type === 'text/event-stream') return { kind: 'events', events: eventsOf(text) };
  if (JSON_LINES.test(type)) return linesOf(text);
  const tree = mayBeJson(type, text) ? parseTree(text, { mayBeCut }) : undefined;
  if (tree === undefined) return { kind: 'text', text };
  const operations = operationsIn(tree);
  return operations === undefined ? { kind: 'json', tree } : { kind: 'graphql', operations, tree };
}

function formOf(text: string): Shown {
  const fields = [...new URLSearchParams(text.trim())];
  return { kind: 'form', fields: fields.slice(0, MAX_FIELDS), more: Math.max(fields.length - MAX_FIELDS, 0) };
}

function linesOf(text: string): Shown {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return { kind: 'lines', lines: lines.slice(0, MAX_LINES), more: Math.max(lines.length - MAX_LINES, 0) };
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
