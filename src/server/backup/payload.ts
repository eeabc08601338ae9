/** The payload of a backup as a stream of bytes: sealed when there is a key, and else followed by a SHA-256 of the whole file before it. */
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { Pace } from '../../base/process/pace.ts';
import { type ChunkPlace, openChunk, sealChunk, TAG_BYTES } from './encryption.ts';
import { CHUNK, damaged, writeAll } from './format.ts';

const HASH_BYTES = 32;

/** Writes a payload behind a header, in chunks. */
export class PayloadWriter {
  readonly #fd: number;
  readonly #key: Buffer | null;
  readonly #pace: Pace;
  readonly #hash = createHash('sha256');
  readonly #chunk = Buffer.alloc(CHUNK);
  #used = 0;
  #index = 0;

  constructor(fd: number, header: Buffer, key: Buffer | null) {
    this.#fd = fd;
    this.#key = key;
    this.#pace = new Pace(fd);
    this.#hash.update(header);
    writeAll(fd, header);
  }

  write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      // Not before more comes: the last chunk is sealed as the last one.
      if (this.#used === CHUNK) this.#flush(false);
      const taken = bytes.copy(this.#chunk, this.#used, at);
      this.#used += taken;
      at += taken;
    }
  }

  end(): void {
    this.#flush(true);
    if (this.#key === null) writeAll(this.#fd, this.#hash.digest());
  }

  #flush(isLast: boolean): void {
    const plain = this.#chunk.subarray(0, this.#used);
    if (this.#key === null) this.#hash.update(plain);
    writeAll(this.#fd, this.#key === null ? plain : sealChunk(this.#key, { index: this.#index, isLast }, plain));
    this.#pace.wrote(this.#used);
    this.#index++;
    this.#used = 0;
  }
}

export interface PayloadSource {
  readonly fd: number;
  /** For messages. */
  readonly file: string;
  readonly size: number;
  readonly header: Buffer;
  readonly key: Buffer | null;
}

/**
 * The bytes of a payload in pieces. Without a key the last piece comes before the file is known to be whole: who uses them reads to the end first.
 * Throws BackupError where the file is not as it was written.
 */
export function* readPayload({ fd, file, size, header, key }: PayloadSource): Generator<Buffer, void> {
  const step = key === null ? CHUNK : CHUNK + TAG_BYTES;
  const end = key === null ? size - HASH_BYTES : size;
  if (end <= header.length) throw damaged(file);
  const hash = createHash('sha256').update(header);
  for (let at = header.length, index = 0; at < end; at += step, index++) {
    const bytes = readExactly(fd, { at, length: Math.min(step, end - at), file });
    if (key === null) {
      hash.update(bytes);
      yield bytes;
    } else yield opened(key, { index, isLast: at + step >= end }, { bytes, file });
  }
  if (key !== null) return;
  const stored = readExactly(fd, { at: end, length: HASH_BYTES, file });
  if (!hash.digest().equals(stored)) throw damaged(file);
}

function opened(key: Buffer, place: ChunkPlace, { bytes, file }: { bytes: Buffer; file: string }): Buffer {
  if (bytes.length <= TAG_BYTES) throw damaged(file);
  try {
    return openChunk(key, place, bytes);
  } catch (cause) {
    throw damaged(file, cause);
  }
}

function readExactly(fd: number, { at, length, file }: { at: number; length: number; file: string }): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(fd, bytes, read, length - read, at + read);
    if (count === 0) throw damaged(file);
    read += count;
  }
  return bytes;
}
