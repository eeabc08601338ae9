/**
 * The content of a recorded response body without its content coding, for exports that are read by people. Called by har.ts. A few bytes may
 * stand for very many, so what comes out is bounded, of one body and of an archive; zlib works on threads of its own.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

/** Of one body. */
const MAX_BYTES = 1024 * 1024;
/** Of all bodies of an archive, whatever becomes of them: several times what it holds, for what can't be opened counts as full. */
const MAX_IN_ALL = 64 * 1024 * 1024;

type Decoder = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** Opens the bodies of one archive. */
export class BodyDecoder {
  #left = MAX_IN_ALL;

  /**
   * Undefined: more than one coding, an unknown one, a body that is not whole, one with more in it than a megabyte or `room` bytes,
   * or the archive has had its share. The caller shows it as it came.
   */
  async decode(body: Uint8Array, coding: string, room: number): Promise<Buffer | undefined> {
    const decode = DECODERS.get(coding.trim().toLowerCase());
    const most = Math.floor(Math.min(MAX_BYTES, room, this.#left));
    if (decode === undefined || body.length === 0 || most < 1) return undefined;
    try {
      const decoded = await decode(body, { maxOutputLength: most });
      this.#left -= decoded.length;
      return decoded;
    } catch {
      // Whatever the service sent; how much of it came out before is unknown.
      this.#left -= most;
      return undefined;
    }
  }
}
