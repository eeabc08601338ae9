/** The body of a recorded message as lines of a terminal: out of its content coding, as far as it is text. Called by detail.ts. */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { harmless, type Line, span } from '../terminal/paint.ts';

/** A few bytes may stand for very many. */
const MAX_DECODED = 1024 * 1024;

export interface ShownBody {
  readonly bytes: Buffer;
  /** True size in bytes, of which `bytes` may be the beginning. */
  readonly size: number;
  readonly isCut: boolean;
  /** Of its `Content-Encoding`; empty: none. */
  readonly coding: string;
}

/** Nothing for an empty body. */
export function bodyLines({ bytes, size, isCut, coding }: ShownBody): Line[] {
  if (size === 0) return [];
  const opened = coding === '' ? bytes : decode(bytes, coding);
  // The kept beginning may end before the first block does.
  const decoded = opened?.length === 0 ? undefined : opened;
  const notes: Line[] = [];
  if (decoded !== undefined && coding !== '') notes.push(note(`sent as ${coding}, ${size} bytes`));
  if (isCut) notes.push(note(`… ${bytes.length} of ${size} bytes recorded`));
  const text = decoded === undefined ? undefined : textOf(decoded);
  if (text === undefined)
    return [[], note(`(${bytes.length} bytes of binary data; --json prints them in base64)`), ...notes];
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  return [[], ...lines.map((line): Line => [span(`  ${harmless(line.replaceAll('\t', '  '))}`)]), ...notes];
}

function note(words: string): Line {
  return [span(`  ${harmless(words)}`, 'dim')];
}

/** Undefined: it is no text. A cut may go through a character. */
function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text.replace(/\ufffd$/u, '')).length >= bytes.length - 3 && !/\0|\ufffd./su.test(text);
  return isText ? text : undefined;
}

/** What came out, also of a body of which only the beginning was kept; undefined: more than one coding, an unknown one, or not that one. */
function decode(bytes: Buffer, coding: string): Buffer | undefined {
  const most = { maxOutputLength: MAX_DECODED };
  try {
    switch (coding.trim().toLowerCase()) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, { ...most, finishFlush: constants.Z_SYNC_FLUSH });
      case 'deflate':
        return inflateSync(bytes, { ...most, finishFlush: constants.Z_SYNC_FLUSH });
      case 'br':
        return brotliDecompressSync(bytes, { ...most, finishFlush: constants.BROTLI_OPERATION_FLUSH });
      case 'zstd':
        return zstdDecompressSync(bytes, { ...most, finishFlush: constants.ZSTD_e_flush });
      default:
        return undefined;
    }
  } catch {
    // Whatever the service sent under that name: it is shown as bytes.
    return undefined;
  }
}
