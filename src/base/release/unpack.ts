/** Takes the program out of the archive of a release: a tar.gz, or a zip for Windows. Written for archives of ours, whose checksum was verified. */
import { closeSync, createReadStream, createWriteStream, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createInflateRaw } from 'node:zlib';

const BLOCK = 512;
/** Of a zip: end record, entry of the directory, head of a file. */
const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY = 0x02014b50;
const LOCAL_BYTES = 30;
const MAX_DIRECTORY_BYTES = 1_000_000;
const MAX_SMALL_BYTES = 4_000_000;

/** Writes the program to `to` (0755), which must not exist. @throws when the archive has none; then nothing is left. */
export async function unpackProgram(archive: string, to: string): Promise<void> {
  const folder = basename(archive).replace(/\.(tar\.gz|zip)$/, '');
  const fd = openSync(to, 'wx', 0o755);
  const out = createWriteStream(to, { fd, flush: true });
  try {
    if (archive.endsWith('.zip')) {
      await pipeline(openZipEntry(archive, `${folder}/culvert.exe`), createInflateRaw(), out);
    } else {
      const entry = (tar: AsyncIterable<Buffer>) => tarEntry(tar, `${folder}/culvert`);
      await pipeline(createReadStream(archive), createGunzip(), entry, out);
    }
  } catch (error) {
    await closed(out);
    rmSync(to, { force: true });
    throw error;
  }
}

/** Windows deletes no open file. */
function closed(stream: Writable): Promise<void> {
  stream.destroy();
  return new Promise((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));
}

/** The content of one file of a tar, piece by piece. Reads to the end, where gzip has its checksum. */
async function* tarEntry(tar: AsyncIterable<Buffer>, wanted: string): AsyncGenerator<Buffer> {
  let bytes: Buffer = Buffer.alloc(0);
  let left = 0; // of the entry that is passed
  let isWanted = false;
  let isWhole = false;
  for await (const piece of tar) {
    if (isWhole) continue;
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    while (bytes.length > 0) {
      if (left === 0) {
        isWhole = isWanted;
        if (isWhole) break;
        if (bytes.length < BLOCK) break;
        const { name, size } = readHead(bytes);
        isWanted = name === wanted;
        left = isWanted ? size : Math.ceil(size / BLOCK) * BLOCK;
        bytes = bytes.subarray(BLOCK);
      }
      const taken = bytes.subarray(0, left);
      if (isWanted && taken.length > 0) yield taken;
      left -= taken.length;
      bytes = bytes.subarray(taken.length);
    }
  }
  if (!isWanted || left > 0) throw new Error(`the archive has no ${wanted}`);
}

/** Small files of a tar, by their names, as they come. */
export async function* tarFiles(
  tar: AsyncIterable<Buffer>,
  names: ReadonlySet<string>,
): AsyncGenerator<{ readonly name: string; readonly content: Buffer }> {
  let bytes: Buffer = Buffer.alloc(0);
  let skip = 0;
  for await (const piece of tar) {
    // What is passed over is not joined: a program has a hundred megabytes.
    const passed = Math.min(skip, piece.length);
    skip -= passed;
    bytes = Buffer.concat([bytes, piece.subarray(passed)]);
    while (skip === 0 && bytes.length >= BLOCK) {
      const { name, size } = readHead(bytes);
      const padded = Math.ceil(size / BLOCK) * BLOCK;
      const isWanted = names.has(name);
      if (isWanted && size > MAX_SMALL_BYTES) throw new Error(`${name} is too large`);
      if (isWanted && bytes.length < BLOCK + padded) break;
      if (isWanted) yield { name, content: Buffer.from(bytes.subarray(BLOCK, BLOCK + size)) };
      skip = Math.max(0, BLOCK + padded - bytes.length);
      bytes = bytes.subarray(Math.min(bytes.length, BLOCK + padded));
    }
  }
}

function readHead(block: Buffer): { name: string; size: number } {
  const text = (from: number, length: number): string =>
    block.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  if (block[0] === 0) return { name: '', size: 0 }; // the end
  const size = Number.parseInt(text(124, 12), 8);
  if (!text(257, 5).startsWith('ustar') || Number.isNaN(size)) throw new Error('the archive is no tar file');
  return { name: text(0, 100), size };
}

/** The packed content of one file of a zip. */
function openZipEntry(archive: string, wanted: string): Readable {
  const fd = openSync(archive, 'r');
  try {
    const { size, start } = findZipEntry(fd, wanted);
    return createReadStream(archive, { start, end: start + size - 1 });
  } finally {
    closeSync(fd);
  }
}

function findZipEntry(fd: number, wanted: string): { start: number; size: number } {
  const read = (length: number, position: number): Buffer => {
    const bytes = Buffer.alloc(length);
    if (readSync(fd, bytes, 0, length, position) < length) throw new Error('the archive is cut off');
    return bytes;
  };
  const end = read(END_BYTES, fstatSync(fd).size - END_BYTES);
  const directoryBytes = end.readUInt32LE(12);
  if (end.readUInt32LE(0) !== END || directoryBytes > MAX_DIRECTORY_BYTES)
    throw new Error('the archive is no zip file');
  const directory = read(directoryBytes, end.readUInt32LE(16));
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === ENTRY; ) {
    const nameBytes = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = directory.readUInt32LE(at + 42);
    if (name === wanted) {
      const head = read(LOCAL_BYTES, local);
      const start = local + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
      return { start, size: directory.readUInt32LE(at + 20) };
    }
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${wanted}`);
}
