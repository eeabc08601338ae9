/**
 * Ad-hoc code signature of a thin 64-bit Mach-O file: what linkers write. One CodeDirectory (version 2.4, SHA-256, pages of 4 KiB), no
 * entitlements and no certificate. Apple silicon runs no program without one. It is no identity: the download of a browser stays quarantined.
 * The layout is in `cs_blobs.h` of XNU.
 */
import { createHash } from 'node:crypto';

const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const MAGIC_64 = 0xfeedfacf;
const MAGIC_SIGNATURE = 0xfade0cc0;
const MAGIC_DIRECTORY = 0xfade0c02;
const AD_HOC = 0x2;
const LINKER_SIGNED = 0x20000;
const MAIN_BINARY = 1n;
const ARM64 = 0x0100000c;
const PAGE = 4096;
const HASH = 32;
const DIRECTORY_HEADER = 88;
const BLOB_HEADER = 20;
const HEADER = 32;

interface Command {
  readonly type: number;
  readonly at: number;
  readonly name: string;
}

interface MachO {
  readonly commandsEnd: number;
  readonly firstSection: number;
  readonly text: Command;
  readonly linkedit: Command;
  readonly signature: Command | undefined;
  readonly isExecutable: boolean;
  readonly pageSize: number;
}

export interface SignatureState {
  readonly id: string;
  readonly pages: number;
  /** Pages whose hash fits. */
  readonly fitting: number;
}

const align = (value: number, to: number): number => Math.ceil(value / to) * to;

/** A copy of the file with a new signature; one that it has is replaced. @throws for a file of another shape. */
export function signMachO(input: Buffer, id: string): Buffer {
  const { file, mach, signature } = withRoom(input);
  const linkeditStart = Number(file.readBigUInt64LE(mach.linkedit.at + 40));
  const linkeditEnd = linkeditStart + Number(file.readBigUInt64LE(mach.linkedit.at + 48));
  if (linkeditEnd < file.length) throw new Error('__LINKEDIT is not the last segment');
  const limit = align(file.length, 16);
  const size = align(BLOB_HEADER + DIRECTORY_HEADER + id.length + 1 + Math.ceil(limit / PAGE) * HASH, 16);
  const whole = Buffer.alloc(limit + size);
  file.copy(whole);
  whole.writeUInt32LE(limit, signature.at + 8);
  whole.writeUInt32LE(size, signature.at + 12);
  whole.writeBigUInt64LE(BigInt(limit + size - linkeditStart), mach.linkedit.at + 48);
  whole.writeBigUInt64LE(BigInt(align(limit + size - linkeditStart, mach.pageSize)), mach.linkedit.at + 32);
  signatureBlob(whole, limit, { id, mach }).copy(whole, limit);
  return whole;
}

/** Checks each page against the signature; undefined for a file without one. */
export function readSignature(file: Buffer): SignatureState | undefined {
  const { signature } = parse(file);
  if (signature === undefined) return undefined;
  const start = file.readUInt32LE(signature.at + 8);
  const at = start + file.readUInt32BE(start + 16);
  if (file.readUInt32BE(at) !== MAGIC_DIRECTORY) throw new Error('the first part of the signature is no CodeDirectory');
  const [hashes, name] = [file.readUInt32BE(at + 16), file.readUInt32BE(at + 20)];
  const [pages, limit] = [file.readUInt32BE(at + 28), file.readUInt32BE(at + 32)];
  const fitting = pageHashes(file, limit).filter((hash, index) => {
    const from = at + hashes + index * HASH;
    return hash.equals(file.subarray(from, from + HASH));
  });
  const id = file.toString('latin1', at + name, file.indexOf(0, at + name));
  return { id, pages, fitting: fitting.length };
}

/** The file without the bytes of an old signature, and with a load command for the new one. */
function withRoom(input: Buffer): { file: Buffer; mach: MachO; signature: Command } {
  const mach = parse(input);
  if (mach.signature !== undefined) {
    const end = input.readUInt32LE(mach.signature.at + 8);
    return { file: Buffer.from(input.subarray(0, end)), mach, signature: mach.signature };
  }
  if (mach.commandsEnd + 16 > mach.firstSection)
    throw new Error('there is no room for the load command of a signature');
  const file = Buffer.from(input);
  file.writeUInt32LE(CODE_SIGNATURE, mach.commandsEnd);
  file.writeUInt32LE(16, mach.commandsEnd + 4);
  file.writeUInt32LE(file.readUInt32LE(16) + 1, 16);
  file.writeUInt32LE(file.readUInt32LE(20) + 16, 20);
  return { file, mach, signature: { type: CODE_SIGNATURE, at: mach.commandsEnd, name: '' } };
}

function parse(file: Buffer): MachO {
  if (file.readUInt32LE(0) !== MAGIC_64) throw new Error('not a thin 64-bit Mach-O file');
  const commands: Command[] = [];
  let firstSection = Infinity;
  let at = HEADER;
  for (let i = 0; i < file.readUInt32LE(16); i++) {
    const type = file.readUInt32LE(at);
    const isSegment = type === SEGMENT_64;
    const name = isSegment ? file.toString('latin1', at + 8, at + 24).replace(/\0.*$/s, '') : '';
    if (isSegment) firstSection = Math.min(firstSection, ...sectionOffsets(file, at));
    commands.push({ type, at, name });
    at += file.readUInt32LE(at + 4);
  }
  const text = commands.find(({ name }) => name === '__TEXT');
  const linkedit = commands.find(({ name }) => name === '__LINKEDIT');
  if (text === undefined || linkedit === undefined) throw new Error('the file has no __TEXT or no __LINKEDIT');
  return {
    commandsEnd: at,
    firstSection,
    text,
    linkedit,
    signature: commands.find(({ type }) => type === CODE_SIGNATURE),
    isExecutable: file.readUInt32LE(12) === 2,
    pageSize: file.readUInt32LE(4) === ARM64 ? 16_384 : PAGE,
  };
}

/** Places in the file of a segment's sections; those without bytes have none. */
function sectionOffsets(file: Buffer, segment: number): number[] {
  const count = file.readUInt32LE(segment + 64);
  const offsets = Array.from({ length: count }, (_, index) => file.readUInt32LE(segment + 72 + 80 * index + 48));
  return offsets.filter((offset) => offset > 0);
}

function pageHashes(file: Buffer, limit: number): Buffer[] {
  return Array.from({ length: Math.ceil(limit / PAGE) }, (_, index) =>
    createHash('sha256')
      .update(file.subarray(index * PAGE, Math.min((index + 1) * PAGE, limit)))
      .digest(),
  );
}

/** The signature of the first `limit` bytes: a super blob that holds a CodeDirectory. */
function signatureBlob(file: Buffer, limit: number, { id, mach }: { id: string; mach: MachO }): Buffer {
  const pages = Math.ceil(limit / PAGE);
  const hashes = DIRECTORY_HEADER + id.length + 1;
  const length = hashes + pages * HASH;
  const blob = Buffer.alloc(BLOB_HEADER + length);
  const put = (at: number, ...values: number[]): void =>
    values.forEach((value, index) => blob.writeUInt32BE(value, at + 4 * index));
  const start = BLOB_HEADER;
  put(0, MAGIC_SIGNATURE, BLOB_HEADER + length, 1, 0, start);
  put(start, MAGIC_DIRECTORY, length, 0x20400, AD_HOC | LINKER_SIGNED, hashes, DIRECTORY_HEADER, 0, pages, limit);
  blob.set([HASH, 2, 0, 12], start + 36); // SHA-256, no platform, pages of 2^12 bytes
  blob.writeBigUInt64BE(file.readBigUInt64LE(mach.text.at + 40), start + 64); // where __TEXT begins in the file
  blob.writeBigUInt64BE(file.readBigUInt64LE(mach.text.at + 48), start + 72); // its size
  blob.writeBigUInt64BE(mach.isExecutable ? MAIN_BINARY : 0n, start + 80);
  blob.write(id, start + DIRECTORY_HEADER, 'latin1');
  pageHashes(file, limit).forEach((hash, index) => hash.copy(blob, start + hashes + index * HASH));
  return blob;
}
