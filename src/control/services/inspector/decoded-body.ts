/**
 * The content of a recorded response body without its content coding, for exports that are read by people. Called by har.ts. A few bytes may
 * stand for very many, so what comes out is bounded; zlib works on threads of its own.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

const MAX_BYTES = 1024 * 1024;

type Decoder = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** Undefined: more than one coding, one that nobody here knows, a body that is not whole, or one with more than a megabyte in it. */
export async function decodedBody(body: Uint8Array, coding: string): Promise<Buffer | undefined> {
  const decode = DECODERS.get(coding.trim().toLowerCase());
  if (decode === undefined) return undefined;
  try {
    return await decode(body, { maxOutputLength: MAX_BYTES });
  } catch {
    // Whatever the service sent: the caller shows it as it came.
    return undefined;
  }
}
