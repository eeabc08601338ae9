/** Backup files: what is written is read back, and a file that is not as it was written is refused wherever it was changed. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import { openArchive, type PartSink, writeArchive, type Writing } from './archive.ts';
import type { ScryptCost } from './encryption.ts';
import { CHUNK } from './format.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-archive-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PASSPHRASE = new Secret('correct horse battery staple');
const ABOUT = {
  created_at: '2026-11-26T07:16:06.000Z',
  culvert: '1.0.0',
  schema: { count: 1, tag: '0000_start', hash: 'ab' },
  data_dir: '/var/lib/culvert',
  settings_file: null,
};
let files = 0;

/** The encryption is the same, and a key takes a millisecond. */
const CHEAP: ScryptCost = { log_n: 8, r: 8, p: 1 };

function write(database: Buffer, passphrase?: Secret, cost: Partial<Pick<Writing, 'cost'>> = { cost: CHEAP }): string {
  const file = join(folder, `${++files}.culvert`);
  const fd = openSync(file, 'wx+');
  const parts = [
    { name: 'seal.key', from: { bytes: Buffer.alloc(32, 7) } },
    { name: 'certificates/agents.key', from: { bytes: Buffer.alloc(0) } },
    { name: 'culvert.db', from: { bytes: database } },
  ];
  writeArchive(fd, parts, { about: ABOUT, passphrase, ...cost });
  closeSync(fd);
  return file;
}

function read(file: string, passphrase?: Secret): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  let name = '';
  const sink: PartSink = {
    begin: (part) => found.set((name = part.name), Buffer.alloc(0)),
    bytes: (chunk) => found.set(name, Buffer.concat([found.get(name) ?? Buffer.alloc(0), chunk])),
    end: () => undefined,
  };
  const archive = openArchive(file, passphrase);
  try {
    archive.read(sink);
    return found;
  } finally {
    archive.close();
  }
}

function changed(file: string, change: (bytes: Buffer) => Buffer): string {
  const other = join(folder, `${++files}.culvert`);
  writeFileSync(other, change(readFileSync(file)));
  return other;
}

/** Sizes around the ends of chunks: the last chunk may be full, or have one byte. */
const SIZES = [1, CHUNK - 600, CHUNK, 3 * CHUNK + 1];

test('backup file: parts come back as they were, with and without a passphrase', () => {
  for (const size of SIZES) {
    const database = Buffer.alloc(size, 'culvert');
    for (const passphrase of [undefined, PASSPHRASE]) {
      const found = read(write(database, passphrase), passphrase);
      assert.deepEqual([...found.keys()], ['seal.key', 'certificates/agents.key', 'culvert.db']);
      assert.ok(found.get('culvert.db')?.equals(database), `${size} bytes`);
      assert.equal(found.get('certificates/agents.key')?.length, 0);
    }
  }
});

test('backup file: a guess at a passphrase costs 128 MB, as the header says', () => {
  const file = write(Buffer.alloc(10), PASSPHRASE, {});
  const [, header = ''] = readFileSync(file, 'latin1').split('\n');
  const { log_n, r, p } = (JSON.parse(header) as { encryption: ScryptCost }).encryption;
  assert.deepEqual({ log_n, r, p }, { log_n: 17, r: 8, p: 1 });
  assert.equal(read(file, PASSPHRASE).get('culvert.db')?.length, 10);
});

test('backup file: a payload that ends with its chunk is read back', () => {
  // Every length of a payload around two chunks.
  const manifest = readFileSync(write(Buffer.alloc(CHUNK))).length - CHUNK;
  for (let size = 2 * CHUNK - manifest - 40; size <= 2 * CHUNK - manifest + 200; size += 3) {
    assert.equal(read(write(Buffer.alloc(size))).get('culvert.db')?.length, size);
  }
});

test('backup file: a changed byte anywhere is refused', () => {
  const plain = write(Buffer.alloc(2 * CHUNK, 'x'));
  const { length } = readFileSync(plain);
  for (const at of [0, 20, 60, 140, 200, 400, 1_000, CHUNK, length - 33, length - 1]) {
    const wrong = changed(plain, (bytes) => {
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes;
    });
    assert.throws(() => read(wrong), { name: 'BackupError' }, `byte ${at}`);
  }
});

test('backup file: a changed byte of an encrypted one is refused, also in its header', () => {
  const sealed = write(Buffer.alloc(2 * CHUNK, 'x'), PASSPHRASE);
  const head = readFileSync(sealed).indexOf('"culvert":"1.0.0"') + 12;
  const { length } = readFileSync(sealed);
  for (const at of [head, 500, CHUNK + 500, length - 1]) {
    const wrong = changed(sealed, (bytes) => {
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes;
    });
    assert.throws(() => read(wrong, PASSPHRASE), { name: 'BackupError', message: /is damaged/ }, `byte ${at}`);
  }
});

test('backup file: one that was cut short or made longer is refused', () => {
  for (const passphrase of [undefined, PASSPHRASE]) {
    const whole = write(Buffer.alloc(2 * CHUNK, 'x'), passphrase);
    const header = readFileSync(whole).indexOf('\n', 20) + 1;
    // Whole chunks that are missing, too.
    for (const keep of [10, header, header + 1, header + CHUNK, header + CHUNK + 16, header + 2 * (CHUNK + 16)]) {
      const short = changed(whole, (bytes) => bytes.subarray(0, keep));
      assert.throws(() => read(short, passphrase), { name: 'BackupError' }, `${keep} bytes`);
    }
    const long = changed(whole, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]));
    assert.throws(() => read(long, passphrase), { name: 'BackupError' });
  }
});

test('backup file: chunks in another order are refused', () => {
  const sealed = write(Buffer.alloc(4 * CHUNK, 'x'), PASSPHRASE);
  const step = CHUNK + 16;
  const swapped = changed(sealed, (bytes) => {
    const at = bytes.indexOf('\n', 20) + 1;
    const first = Buffer.from(bytes.subarray(at + step, at + 2 * step));
    bytes.copy(bytes, at + step, at + 2 * step, at + 3 * step);
    first.copy(bytes, at + 2 * step);
    return bytes;
  });
  assert.throws(() => read(swapped, PASSPHRASE), { message: /is damaged/ });
});

test('backup file: nothing of the parts is readable in an encrypted one', () => {
  const bytes = readFileSync(write(Buffer.from('a secret of the database'), PASSPHRASE));
  for (const text of ['a secret', 'culvert.db', '/var/lib/culvert', Buffer.alloc(32, 7)])
    assert.equal(bytes.indexOf(text), -1);
});

test('backup file: a missing, wrong or unexpected passphrase is refused with the reason', () => {
  const sealed = write(Buffer.alloc(10), PASSPHRASE);
  assert.throws(() => openArchive(sealed, undefined), { message: /is encrypted\. Give its passphrase/ });
  assert.throws(() => openArchive(sealed, new Secret('another one')), { message: /the passphrase does not open/ });
  assert.throws(() => openArchive(write(Buffer.alloc(10)), PASSPHRASE), { message: /is not encrypted, although/ });
});

test('backup file: another kind of file is named', () => {
  for (const [content, message] of [
    ['SQLite format 3\0', /is a copy of a database alone/],
    ['culvert-backup/2\n{}\n', /has format 2, and this program reads format 1/],
    ['PK', /is not a backup of Culvert/],
    ['', /is not a backup of Culvert/],
    ['culvert-backup/1\n{}\n', /is damaged/],
  ] as const) {
    const file = join(folder, `${++files}.culvert`);
    writeFileSync(file, content);
    assert.throws(() => openArchive(file, undefined), { name: 'BackupError', message });
  }
  assert.throws(() => openArchive(folder, undefined), /is not a file/);
  assert.throws(() => openArchive(join(folder, 'missing'), undefined), /can't be read/);
});

test('backup file: a part with a path out of the folder is refused', () => {
  const file = join(folder, `${++files}.culvert`);
  const fd = openSync(file, 'wx+');
  const part = (name: string) => ({ name, from: { bytes: Buffer.alloc(1) } });
  const parts = [part('culvert.db'), part('seal.key'), part('certificates/../../passwd')];
  assert.throws(() => writeArchive(fd, parts, { about: ABOUT, passphrase: undefined }), { message: /is damaged/ });
  closeSync(fd);
});
