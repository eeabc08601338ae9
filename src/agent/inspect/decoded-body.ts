/**
 * A body without its content coding, for people who look at it. Bounded, for a few KB of gzip can be gigabytes: it stops where enough has
 * come out. The beginning of a body that was cut off is decoded as far as it goes. Used by the routes.
 */
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export const MAX_DECODED_BYTES = 262_144;

export interface DecodedBody {
  readonly bytes: Buffer;
  /** There would be more. */
  readonly truncated: boolean;
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** Undefined: there is no coding, or one that is not known, or nothing comes out of it. Never rejects. */
export function decodedBody(coding: string | undefined, bytes: Buffer): Promise<DecodedBody | undefined> {
  const make = DECODERS.get((coding ?? '').trim().toLowerCase());
  if (make === undefined || bytes.length === 0) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const decoder = make();
    const parts: Buffer[] = [];
    let length = 0;
    const settle = (isWhole: boolean): void => {
      decoder.destroy();
      const whole = Buffer.concat(parts);
      const isCut = !isWhole || whole.length > MAX_DECODED_BYTES;
      resolve(whole.length === 0 ? undefined : { bytes: whole.subarray(0, MAX_DECODED_BYTES), truncated: isCut });
    };
    decoder.on('data', (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length > MAX_DECODED_BYTES) settle(false);
    });
    decoder.on('end', () => settle(true));
    // The end is missing, or it is no such coding: what came out before is shown.
    decoder.on('error', () => settle(false));
    decoder.end(bytes);
  });
}
