/** Backup files: made of parts, and read back part by part. Neither holds more than a chunk of a part in memory. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fileFault } from '../../base/process/file-fault.ts';
import type { Secret } from '../../base/secret.ts';
import { COST, newFileKey, openFileKey, payloadKey, type ScryptCost } from './encryption.ts';
import {
  BackupError,
  CHUNK,
  damaged,
  type Header,
  headerBytes,
  type Manifest,
  manifestOf,
  MAX_MANIFEST,
  type PartInfo,
  readHeader,
} from './format.ts';
import { type PayloadSource, PayloadWriter, readPayload } from './payload.ts';

/** A part to be stored: a file, or bytes. */
export interface Part extends Pick<PartInfo, 'name' | 'path' | 'executable'> {
  readonly from: { readonly file: string } | { readonly bytes: Buffer };
}

/** How a backup is written. */
export interface Writing {
  readonly about: Omit<Manifest, 'parts'>;
  readonly passphrase: Secret | undefined;
  /** Of a guess at the passphrase; that of every backup unless given. */
  readonly cost?: ScryptCost;
}

/** Writes a backup to an open, empty file. Throws when a part changes meanwhile, or the disk is full. */
export function writeArchive(
  fd: number,
  parts: readonly Part[],
  { about, passphrase, cost = COST }: Writing,
): Manifest {
  const manifest = { ...about, parts: parts.map(infoOf) };
  const sealed = passphrase === undefined ? undefined : newFileKey(passphrase, cost);
  const { created_at, culvert } = about;
  const header = headerBytes({ created_at, culvert, encryption: sealed?.encryption ?? null });
  const key = sealed === undefined ? null : payloadKey(sealed.fileKey, sealed.encryption, header);
  const writer = new PayloadWriter(fd, header, key);
  const text = Buffer.from(JSON.stringify(manifest));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  writer.write(length);
  writer.write(text);
  for (const part of parts) for (const bytes of bytesOf(part)) writer.write(bytes);
  writer.end();
  readBack({ fd, file: 'the backup', size: fstatSync(fd).size, header, key });
  return manifest;
}

function infoOf(part: Part): PartInfo {
  const hash = createHash('sha256');
  let size = 0;
  for (const bytes of bytesOf(part)) {
    hash.update(bytes);
    size += bytes.length;
  }
  const { from: _, ...info } = part;
  return { ...info, size, sha256: hash.digest('hex') };
}

function* bytesOf({ from }: Part): Generator<Buffer, void> {
  if ('bytes' in from) yield from.bytes;
  else yield* chunksOf(from.file);
}

function* chunksOf(file: string): Generator<Buffer, void> {
  const fd = openSync(file, 'r');
  try {
    for (;;) {
      const bytes = Buffer.alloc(CHUNK);
      const count = readSync(fd, bytes);
      if (count === 0) return;
      yield bytes.subarray(0, count);
    }
  } finally {
    closeSync(fd);
  }
}

/** What is done with the parts of a backup while it is read. */
export interface PartSink {
  begin(part: PartInfo): void;
  bytes(chunk: Buffer): void;
  end(part: PartInfo): void;
}

const NOTHING: PartSink = { begin: () => undefined, bytes: () => undefined, end: () => undefined };

/** An open backup. */
export class Archive {
  readonly header: Header;
  readonly #source: PayloadSource;

  constructor(header: Header, source: PayloadSource) {
    this.header = header;
    this.#source = source;
  }

  get size(): number {
    return this.#source.size;
  }

  /** Reads all of it, compares every hash, and hands the parts to `sink`. Throws BackupError when the file is not as it was written. */
  read(sink: PartSink = NOTHING): Manifest {
    return readBack(this.#source, sink);
  }

  close(): void {
    closeSync(this.#source.fd);
  }
}

/** Opens a backup. Throws BackupError with what to do: no backup, no or another passphrase. */
export function openArchive(file: string, passphrase: Secret | undefined): Archive {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (cause) {
    throw fileFault(cause, { doing: `the backup ${file} can't be read`, file });
  }
  try {
    if (!fstatSync(fd).isFile()) throw new BackupError(`${file} is not a file. Name the file of a backup.`);
    const { header, bytes } = readHeader(fd, file);
    const key = keyOf(file, { header, bytes, passphrase });
    return new Archive(header, { fd, file, size: fstatSync(fd).size, header: bytes, key });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

interface Opening {
  readonly header: Header;
  readonly bytes: Buffer;
  readonly passphrase: Secret | undefined;
}

function keyOf(file: string, { header: { encryption }, bytes, passphrase }: Opening): Buffer | null {
  if (encryption === null) {
    if (passphrase === undefined) return null;
    // Another file may be in the place of the one that only the owner of the passphrase can make.
    throw new BackupError(
      `${file} is not encrypted, although a passphrase was given. Leave out the passphrase if this is the right file.`,
    );
  }
  if (passphrase === undefined)
    throw new BackupError(`${file} is encrypted. Give its passphrase with --passphrase-file.`);
  return payloadKey(openFileKey(encryption, passphrase, file), encryption, bytes);
}

function readBack(source: PayloadSource, sink: PartSink = NOTHING): Manifest {
  const reader = new PieceReader(readPayload(source), source.file);
  const length = reader.take(4).readUInt32BE();
  if (length > MAX_MANIFEST) throw damaged(source.file);
  const manifest = manifestOf(reader.take(length).toString());
  if (manifest === undefined) throw damaged(source.file);
  for (const part of manifest.parts) {
    const hash = createHash('sha256');
    sink.begin(part);
    for (let left = part.size; left > 0; ) {
      const bytes = reader.upTo(left);
      hash.update(bytes);
      sink.bytes(bytes);
      left -= bytes.length;
    }
    if (hash.digest('hex') !== part.sha256) throw damaged(source.file);
    sink.end(part);
  }
  reader.expectEnd();
  return manifest;
}

/** Bytes by number out of pieces of any size. */
class PieceReader {
  readonly #pieces: Iterator<Buffer, void>;
  readonly #file: string;
  #piece: Buffer = Buffer.alloc(0);

  constructor(pieces: Iterator<Buffer, void>, file: string) {
    this.#pieces = pieces;
    this.#file = file;
  }

  take(count: number): Buffer {
    const taken: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const bytes = this.upTo(left);
      taken.push(bytes);
      left -= bytes.length;
    }
    return Buffer.concat(taken);
  }

  /** At least one byte. */
  upTo(count: number): Buffer {
    if (this.#piece.length === 0 && !this.#next()) throw damaged(this.#file);
    const bytes = this.#piece.subarray(0, count);
    this.#piece = this.#piece.subarray(count);
    return bytes;
  }

  expectEnd(): void {
    if (this.#piece.length > 0 || this.#next()) throw damaged(this.#file);
  }

  #next(): boolean {
    const { done, value } = this.#pieces.next();
    if (done === true || value === undefined) return false;
    this.#piece = value;
    return true;
  }
}
