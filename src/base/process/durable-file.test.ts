import assert from 'node:assert/strict';
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { placeDurably, writeDurably } from './durable-file.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Lets the code under test see what was mocked, until the test ends. */
function mocked(t: TestContext): void {
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test('durable file: file and folder are flushed, the file before it has its name', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'agents.key');
  const flushed: Array<{ what: 'file' | 'folder'; isNamed: boolean }> = [];
  const real = fs.fsyncSync;
  t.mock.method(fs, 'fsyncSync', (fd: number) => {
    flushed.push({ what: fs.fstatSync(fd).isDirectory() ? 'folder' : 'file', isNamed: existsSync(file) });
    real(fd);
  });
  mocked(t);
  writeDurably(file, 'secret', { replaces: true });
  assert.deepEqual(flushed, [
    { what: 'file', isNamed: false },
    { what: 'folder', isNamed: true },
  ]);
  assert.equal(readFileSync(file, 'utf8'), 'secret');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('durable file: a write that fails or dies half way leaves the old file, and none under a new name', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'copy');
  for (const replaces of [true, false]) {
    const fails = (): void =>
      placeDurably(file, { replaces }, (part) => {
        writeFileSync(part, 'half');
        assert.equal(existsSync(file), replaces, 'what a kill at this moment would leave');
        throw new Error('no room');
      });
    if (replaces) writeFileSync(file, 'old');
    else rmSync(file);
    assert.throws(fails, /no room/);
    assert.deepEqual(readdirSync(folder), replaces ? ['copy'] : []);
  }
});

test('durable file: a file that must not exist is never replaced, also when it comes meanwhile', (t) => {
  const folder = newFolder(t);
  const file = join(folder, 'copy');
  const racing = (): void => placeDurably(file, { replaces: false }, () => writeFileSync(file, 'theirs'));
  assert.throws(racing, { code: 'EEXIST' });
  assert.throws(() => writeDurably(file, 'ours', { replaces: false }), { code: 'EEXIST' });
  assert.equal(readFileSync(file, 'utf8'), 'theirs');
  assert.deepEqual(readdirSync(folder), ['copy']);
});

test('durable file: a disk without hard links takes it too', (t) => {
  const folder = newFolder(t);
  t.mock.method(fs, 'linkSync', () => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
  });
  mocked(t);
  writeDurably(join(folder, 'copy'), 'ours', { replaces: false });
  assert.deepEqual(readdirSync(folder), ['copy']);
});
