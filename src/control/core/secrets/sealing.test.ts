import assert from 'node:assert/strict';
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeSealKey, openSealer, SEAL_KEY_FILE, Sealer } from './sealing.ts';

test('opens what it sealed, for the same purpose and with the same key alone', () => {
  const sealer = new Sealer(Buffer.alloc(32, 1));
  const sealed = sealer.seal('a', Buffer.from('secret'));
  assert.equal(sealer.open('a', sealed).toString(), 'secret');
  assert.notEqual(sealer.seal('a', Buffer.from('secret')), sealed, 'a fresh nonce each time');
  assert.throws(() => sealer.open('b', sealed), /can't be decrypted/);
  assert.throws(() => new Sealer(Buffer.alloc(32, 2)).open('a', sealed), /can't be decrypted/);
  for (const bent of [
    '',
    's1.',
    sealed.slice(0, -1),
    `${sealed.slice(0, 10)}${sealed[10] === 'A' ? 'B' : 'A'}${sealed.slice(11)}`,
  ]) {
    assert.throws(() => sealer.open('a', bent), /can't be decrypted/, bent);
  }
});

test('keeps its key in a private file of the data folder', (t) => {
  const dataDir = newFolder(t);
  makeSealKey(dataDir);
  const sealed = openSealer(dataDir).seal('a', Buffer.from('secret'));
  makeSealKey(dataDir);
  assert.equal(statSync(join(dataDir, SEAL_KEY_FILE)).mode & 0o777, 0o600);
  assert.equal(openSealer(dataDir).open('a', sealed).toString(), 'secret');
  assert.deepEqual(readdirSync(dataDir), [SEAL_KEY_FILE], 'nothing else is left');
});

test('a key that is not there is not invented', (t) => {
  const dataDir = newFolder(t);
  assert.throws(() => openSealer(dataDir), /there is no seal\.key next to the database .*restore it from your backup/);
  assert.deepEqual(readdirSync(dataDir), []);
});

test('a key file that holds no key is named, with what to do, and left as it is', (t) => {
  const dataDir = newFolder(t);
  const file = join(dataDir, SEAL_KEY_FILE);
  for (const size of [0, 31, 33]) {
    writeFileSync(file, Buffer.alloc(size, 1));
    assert.throws(
      () => openSealer(dataDir),
      ({ message }: Error) =>
        message.includes(`${file} is damaged: it has ${size} bytes`) && /Restore it from your backup/.test(message),
    );
    assert.deepEqual(readFileSync(file), Buffer.alloc(size, 1));
  }
});

test('a full disk at the first start leaves no half of a key, and the next start makes one', (t) => {
  const dataDir = newFolder(t);
  failing(t, 'fsyncSync');
  assert.throws(() => makeSealKey(dataDir), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(dataDir), []);
  restore(t);
  makeSealKey(dataDir);
  assert.deepEqual(readdirSync(dataDir), [SEAL_KEY_FILE]);
});

test('the key is whole and on the disk when it gets its name, and its name is on the disk before it is used', (t) => {
  const dataDir = newFolder(t);
  const seen: string[] = [];
  const { fsyncSync, linkSync } = fs;
  t.mock.method(fs, 'fsyncSync', (fd: number) => {
    seen.push(fs.fstatSync(fd).isDirectory() ? 'folder' : `file of ${fs.fstatSync(fd).size}`);
    fsyncSync(fd);
  });
  t.mock.method(fs, 'linkSync', (from: string, to: string) => {
    seen.push('name');
    linkSync(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => restore(t));
  makeSealKey(dataDir);
  assert.deepEqual(seen, ['file of 32', 'name', 'folder']);
});

test('of two processes that make the key at once, the second takes that of the first', (t) => {
  const dataDir = newFolder(t);
  const { linkSync } = fs;
  const theirs = Buffer.alloc(32, 7);
  t.mock.method(fs, 'linkSync', (from: string, to: string) => {
    writeFileSync(to, theirs);
    linkSync(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => restore(t));
  makeSealKey(dataDir);
  const sealed = openSealer(dataDir).seal('a', Buffer.from('secret'));
  assert.equal(new Sealer(theirs).open('a', sealed).toString(), 'secret');
  assert.deepEqual(readdirSync(dataDir), [SEAL_KEY_FILE]);
});

function newFolder(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
}

/** As on a disk without room, until `restore`. */
function failing(t: TestContext, name: 'fsyncSync'): void {
  t.mock.method(fs, name, () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  t.after(() => restore(t));
}

function restore(t: TestContext): void {
  t.mock.restoreAll();
  syncBuiltinESMExports();
}
