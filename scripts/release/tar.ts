/** tar files as bytes in memory: the same entries make the same bytes. Owner root, one time for all, the order as given. */

export interface Entry {
  /** Path with slashes, without a slash at either end. */
  readonly name: string;
  readonly mode: number;
  /** Empty for folders and links. */
  readonly content: Buffer;
  readonly kind?: 'file' | 'folder' | 'link';
  /** Where a symbolic link leads. */
  readonly target?: string;
  /** User and group as a number; 0 unless given. */
  readonly owner?: number;
}

const BLOCK = 512;
const NAME = 100;
const KINDS = { file: '0', link: '2', folder: '5' } as const;
const LONG_NAME = 'L';

/** A tar file of these entries; `epoch` is the time of each. */
export function makeTar(entries: readonly Entry[], epoch: number): Buffer {
  const parts = entries.flatMap((entry) => {
    const kind = entry.kind ?? 'file';
    const name = kind === 'folder' ? `${entry.name}/` : entry.name;
    const header = makeHeader({ ...entry, name, kind: KINDS[kind], size: entry.content.length, epoch });
    const body = [header, entry.content, padding(entry.content.length)];
    if (Buffer.byteLength(name) <= NAME) return body;
    const long = Buffer.from(`${name}\0`);
    const before = { name: '././@LongLink', mode: 0o644, kind: LONG_NAME, size: long.length, epoch: 0 };
    return [makeHeader(before), long, padding(long.length), ...body];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

interface Header {
  readonly name: string;
  readonly mode: number;
  readonly kind: string;
  readonly size: number;
  readonly epoch: number;
  readonly target?: string;
  readonly owner?: number;
}

function makeHeader({ name, mode, kind, size, epoch, target = '', owner = 0 }: Header): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  };
  if (Buffer.byteLength(target) > NAME) throw new Error(`the target of a link is too long: ${target}`);
  Buffer.from(name).copy(block, 0, 0, NAME);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(epoch, 136, 12);
  block.fill(' ', 148, 156); // the checksum counts itself as spaces
  block.write(kind, 156, 'latin1');
  block.write(target, 157, 'utf8');
  block.write('ustar  \0', 257, 'latin1');
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const padding = (length: number): Buffer => Buffer.alloc((BLOCK - (length % BLOCK)) % BLOCK);

/** The files in a tar; folders and links are left out. @throws for bytes that are no tar. */
export function readTar(tar: Buffer): Pick<Entry, 'name' | 'mode' | 'content'>[] {
  const entries: Pick<Entry, 'name' | 'mode' | 'content'>[] = [];
  let long: string | undefined;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const text = (from: number, length: number): string =>
      tar.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '');
    const size = Number.parseInt(text(124, 12), 8);
    const kind = text(156, 1);
    if (!text(257, 5).startsWith('ustar') || Number.isNaN(size)) throw new Error('not a tar file');
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (kind === LONG_NAME) {
      long = content.toString('utf8').replace(/\0.*$/s, '');
    } else {
      const prefix = text(345, 155);
      const isPosix = tar[at + 262] === 0; // the prefix is of POSIX's format, not of GNU's
      const name = long ?? (isPosix && prefix !== '' ? `${prefix}/${text(0, NAME)}` : text(0, NAME));
      if (kind === '0' || kind === '') entries.push({ name, mode: Number.parseInt(text(100, 8), 8), content });
      long = undefined;
    }
    at += BLOCK + size + padding(size).length;
  }
  return entries;
}
