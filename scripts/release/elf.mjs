/**
 * The parts of a 64-bit little-endian ELF file that the loader reads: segments, dynamic section, strings. Plain JavaScript, for it also runs
 * on older releases of Node (scripts/mend-node.mjs).
 */

const MAGIC = 0x7f454c46;
const DYNAMIC_ENTRY = 16;
const PROGRAM_HEADER = 56;
/** Kinds of segments. */
export const LOAD = 1;
const DYNAMIC = 2;
/** Tags of the dynamic section. */
export const TAG = {
  needed: 1,
  pltSize: 2,
  strings: 5,
  symbols: 6,
  relocations: 7,
  relocationsSize: 8,
  pltRelocations: 23,
  flags: 30,
  versions: 0x6ffffff0,
  flags1: 0x6ffffffb,
  versionNeeds: 0x6ffffffe,
  versionNeedCount: 0x6fffffff,
};

/** True for bytes that begin as a 64-bit little-endian ELF file does. */
export function isElf(file) {
  return file.length > 64 && file.readUInt32BE(0) === MAGIC && file[4] === 2 && file[5] === 1;
}

export class Elf {
  constructor(file) {
    if (!isElf(file)) throw new Error('not a 64-bit little-endian ELF file');
    this.file = file;
    this.machine = file.readUInt16LE(18);
    this.segments = this.#readSegments();
    this.loads = this.segments.filter(({ type }) => type === LOAD);
    this.dynamic = this.#readDynamic();
    this.strings = this.offsetOf(this.value(TAG.strings));
  }

  u64(at) {
    return Number(this.file.readBigUInt64LE(at));
  }

  set64(at, value) {
    this.file.writeBigUInt64LE(BigInt(value), at);
  }

  #readSegments() {
    const { file } = this;
    const start = this.u64(32);
    return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
      const at = start + index * PROGRAM_HEADER;
      return {
        at,
        type: file.readUInt32LE(at),
        flags: file.readUInt32LE(at + 4),
        offset: this.u64(at + 8),
        address: this.u64(at + 16),
        fileSize: this.u64(at + 32),
      };
    });
  }

  #readDynamic() {
    const segment = this.segments.find(({ type }) => type === DYNAMIC);
    if (segment === undefined) throw new Error('not dynamically linked');
    const entries = [];
    for (let at = segment.offset; at < segment.offset + segment.fileSize; at += DYNAMIC_ENTRY) {
      entries.push({ at, tag: this.u64(at), value: this.u64(at + 8) });
      if (this.u64(at) === 0) break;
    }
    return entries;
  }

  /** The place in the file of an address in memory. */
  offsetOf(address) {
    const load = this.loads.find((one) => address >= one.address && address < one.address + one.fileSize);
    if (load === undefined) throw new Error(`no segment holds the address 0x${Number(address).toString(16)}`);
    return address - load.address + load.offset;
  }

  entry(tag) {
    return this.dynamic.find((one) => one.tag === tag);
  }

  /** Undefined where the dynamic section has no such entry. */
  value(tag) {
    const entry = this.entry(tag);
    return entry === undefined ? undefined : entry.value;
  }

  /** A text of the string table. */
  text(at) {
    return this.file.toString('latin1', this.strings + at, this.file.indexOf(0, this.strings + at));
  }

  /** Names of the libraries that the loader opens. */
  needed() {
    return this.dynamic.filter(({ tag }) => tag === TAG.needed).map(({ value }) => this.text(value));
  }
}
