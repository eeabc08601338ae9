/**
 * Masks a recorded body: JSON, events of `text/event-stream`, and forms, each also with a content coding. What can't be read is left out
 * (docs/inspector.md): nothing that a rule might mean may pass. Called by mask-record.ts.
 */
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
} from 'node:zlib';
import { maskMultipart, maskPairs } from './fields.ts';
import { maskJson } from './json-mask.ts';
import type { MaskRules } from './rules.ts';

const MAX_DECODED = 1024 * 1024;

export interface BodyHead {
  /** '' where there is none. */
  readonly contentType: string;
  readonly coding: string;
}

export interface MaskedBody {
  readonly bytes: Buffer;
  readonly hit: readonly { readonly kind: 'json_path' | 'form'; readonly name: string }[];
  /** Some of it was left out. */
  readonly isCut: boolean;
}

interface Coding {
  readonly decode: (body: Buffer) => Buffer;
  readonly encode: (body: Buffer) => Buffer;
}

const LENIENT = { maxOutputLength: MAX_DECODED, finishFlush: constants.Z_SYNC_FLUSH };
const GZIP: Coding = { decode: (body) => gunzipSync(body, LENIENT), encode: (body) => gzipSync(body, { level: 1 }) };
const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { decode: (body) => inflateSync(body, LENIENT), encode: (body) => deflateSync(body, { level: 1 }) }],
  [
    'br',
    {
      decode: (body) =>
        brotliDecompressSync(body, { maxOutputLength: MAX_DECODED, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
      encode: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    },
  ],
]);
const NOTHING = Buffer.alloc(0);

/** Undefined: no rule is about it, and it stays as it is. */
export function maskBody(body: Buffer, head: BodyHead, rules: MaskRules): MaskedBody | undefined {
  if (body.length === 0 || (rules.paths.length === 0 && rules.forms.size === 0)) return undefined;
  const coding = head.coding.trim().toLowerCase();
  if (coding === '' || coding === 'identity') return maskPlain(body, head.contentType, rules);
  const known = CODINGS.get(coding);
  if (known === undefined) return { bytes: NOTHING, hit: [], isCut: true };
  try {
    const masked = maskPlain(known.decode(body), head.contentType, rules);
    return masked && { ...masked, bytes: known.encode(masked.bytes) };
  } catch {
    // Broken, or too much in it to be looked through.
    return { bytes: NOTHING, hit: [], isCut: true };
  }
}

function maskPlain(body: Buffer, contentType: string, rules: MaskRules): MaskedBody | undefined {
  const type = contentType.toLowerCase();
  // `curl -d` sends JSON as a form.
  const isJson = rules.paths.length > 0 && beginsAsJson(body);
  if (type.includes('x-www-form-urlencoded') && !isJson) return byName(maskPairs(body.toString('latin1'), rules.forms));
  if (type.includes('multipart/form-data')) {
    if (rules.forms.size === 0) return undefined;
    const masked = maskMultipart(body.toString('latin1'), contentType, rules.forms);
    return masked === undefined ? { bytes: NOTHING, hit: [], isCut: true } : byName(masked);
  }
  if (rules.paths.length === 0) return undefined;
  if (type.includes('event-stream')) return maskEvents(body, rules);
  if (!type.includes('json') && !isJson) return undefined;
  return byPath(body, rules);
}

function byName({ text, hit }: { readonly text: string; readonly hit: ReadonlySet<string> }): MaskedBody | undefined {
  if (hit.size === 0) return undefined;
  return { bytes: Buffer.from(text, 'latin1'), hit: [...hit].map((name) => ({ kind: 'form', name })), isCut: false };
}

function byPath(body: Buffer, rules: MaskRules): MaskedBody | undefined {
  const { bytes, hit, isCut } = maskJson(
    body,
    rules.paths.map(({ path }) => path),
  );
  if (hit.size === 0 && !isCut) return undefined;
  return { bytes, hit: [...hit].map((i) => ({ kind: 'json_path', name: rules.paths[i]?.name ?? '' })), isCut };
}

/** The data of each event by itself. Where one event's JSON goes over several lines, the rest is left out. */
function maskEvents(body: Buffer, rules: MaskRules): MaskedBody | undefined {
  const hit = new Map<string, { kind: 'json_path' | 'form'; name: string }>();
  const out: Buffer[] = [];
  let isCut = false;
  for (let start = 0; start < body.length && !isCut; ) {
    const feed = body.indexOf(0x0a, start);
    const end = feed < 0 ? body.length : feed + 1;
    const line = body.subarray(start, end);
    start = end;
    const data = /^data: ?/.exec(line.toString('latin1', 0, 6))?.[0].length ?? line.length;
    const value = line.subarray(data);
    if (!beginsAsJson(value)) {
      out.push(line);
      continue;
    }
    const masked = maskJson(
      value,
      rules.paths.map(({ path }) => path),
    );
    for (const i of masked.hit) hit.set(String(i), { kind: 'json_path', name: rules.paths[i]?.name ?? '' });
    out.push(line.subarray(0, data), masked.bytes);
    isCut = !masked.isWhole;
  }
  if (hit.size === 0 && !isCut) return undefined;
  return { bytes: Buffer.concat(out), hit: [...hit.values()], isCut };
}

function beginsAsJson(body: Buffer): boolean {
  return /^\s*[[{]/.test(body.toString('latin1', 0, 64).replace(/^\u00ef\u00bb\u00bf/, ''));
}
