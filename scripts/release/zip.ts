/** zip files as bytes in memory: the same entries make the same bytes. */
import { crc32, deflateRawSync } from 'node:zlib';
import type { Entry } from './tar.ts';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const DEFLATE = 8;
const UTF8 = 0x800;
const VERSION = 20;
/** The file says that its modes are of Unix. */
const MADE_BY_UNIX = (3 << 8) | VERSION;
const REGULAR_FILE = 0o100000;

/** A zip of files (folders and links are none of it); `epoch` is the time of each. */
export function makeZip(entries: readonly Entry[], epoch: number): Buffer {
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, mode, content } of entries) {
    const packed = deflateRawSync(content, { level: 9 });
    const title = Buffer.from(name);
    const common = commonFields({ title, content, packed, epoch });
    const local = Buffer.alloc(30);
    local.writeUInt32LE(LOCAL, 0);
    common.copy(local, 4);
    files.push(local, title, packed);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(CENTRAL, 0);
    central.writeUInt16LE(MADE_BY_UNIX, 4);
    common.copy(central, 6);
    central.writeUInt32LE(((REGULAR_FILE | mode) << 16) >>> 0, 38);
    central.writeUInt32LE(offset, 42);
    list.push(central, title);
    offset += local.length + title.length + packed.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, directory, end]);
}

interface Fields {
  readonly title: Buffer;
  readonly content: Buffer;
  readonly packed: Buffer;
  readonly epoch: number;
}

/** What both heads of a file have: from the version to the lengths. */
function commonFields({ title, content, packed, epoch }: Fields): Buffer {
  const fields = Buffer.alloc(26);
  const { date, time } = dosTime(epoch);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(UTF8, 2);
  fields.writeUInt16LE(DEFLATE, 4);
  fields.writeUInt16LE(time, 6);
  fields.writeUInt16LE(date, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(title.length, 22);
  return fields;
}

/** Two-second steps since 1980, in UTC. */
function dosTime(epoch: number): { date: number; time: number } {
  const at = new Date(Math.max(epoch, Date.UTC(1980, 0, 1) / 1000) * 1000);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return { date, time };
}
