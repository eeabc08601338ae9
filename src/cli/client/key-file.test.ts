/** The file of --save-file: readable by its owner only, complete or absent, and never over another user's file. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempHome } from '../fixtures/program.ts';
import { KeyFile } from './key-file.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a new file is for its owner alone, and appears with the key in it', async (t) => {
  const cwd = tempHome(t);
  const file = await KeyFile.open('key', { cwd, replaces: false, keepsReaders: true });
  assert.ok(!existsSync(join(cwd, 'key')));
  await file.keep('mtk_new');
  assert.equal(readFileSync(join(cwd, 'key'), 'utf8'), 'mtk_new\n');
  assert.equal(modeOf(join(cwd, 'key')), 0o600);
  assert.deepEqual(readdirSync(cwd), ['key']);
});

test('what is there is not overwritten, nor what comes while the key is made', async (t) => {
  const cwd = tempHome(t);
  writeFileSync(join(cwd, 'key'), 'theirs');
  await assert.rejects(
    KeyFile.open('key', { cwd, replaces: false, keepsReaders: true }),
    /key: already exists\. Use --force/,
  );
  const file = await KeyFile.open('late', { cwd, replaces: false, keepsReaders: true });
  writeFileSync(join(cwd, 'late'), 'theirs');
  await assert.rejects(file.keep('mtk_new'), { code: 'EEXIST' });
  for (const name of ['key', 'late']) assert.equal(readFileSync(join(cwd, name), 'utf8'), 'theirs');
  assert.deepEqual(readdirSync(cwd).sort(), ['key', 'late']);
});

test('a file that is replaced is another one at once, for the same readers but no others', async (t) => {
  const cwd = tempHome(t);
  const path = join(cwd, 'key');
  writeFileSync(path, 'mtk_old\n');
  chmodSync(path, 0o664);
  const before = statSync(path).ino;
  const file = await KeyFile.open('key', { cwd, replaces: true, keepsReaders: true });
  assert.equal(readFileSync(path, 'utf8'), 'mtk_old\n', 'until the new key is there the old one is');
  await file.keep('mtk_new');
  assert.equal(readFileSync(path, 'utf8'), 'mtk_new\n');
  assert.notEqual(statSync(path).ino, before);
  assert.equal(modeOf(path), 0o640);
  assert.deepEqual(readdirSync(cwd), ['key']);
});

test('a link stays a link', async (t) => {
  const cwd = tempHome(t);
  writeFileSync(join(cwd, 'real'), 'mtk_old\n', { mode: 0o600 });
  symlinkSync('real', join(cwd, 'key'));
  await (await KeyFile.open('key', { cwd, replaces: true, keepsReaders: true })).keep('mtk_new');
  assert.ok(lstatSync(join(cwd, 'key')).isSymbolicLink());
  assert.equal(readFileSync(join(cwd, 'real'), 'utf8'), 'mtk_new\n');
});

test('an agent that runs as another user can read the new key too', { skip: process.getuid?.() !== 0 }, async (t) => {
  const { chownSync } = await import('node:fs');
  const cwd = tempHome(t);
  writeFileSync(join(cwd, 'key'), 'mtk_old\n', { mode: 0o600 });
  chownSync(join(cwd, 'key'), 12_345, 12_346);
  await (await KeyFile.open('key', { cwd, replaces: true, keepsReaders: true })).keep('mtk_new');
  const { uid, gid } = statSync(join(cwd, 'key'));
  assert.deepEqual([uid, gid, modeOf(join(cwd, 'key'))], [12_345, 12_346, 0o600]);
});

test('key file: without kept readers, only its owner can read the new one', async (t) => {
  const { chownSync } = await import('node:fs');
  const cwd = tempHome(t);
  writeFileSync(join(cwd, 'wg0.conf'), 'planted\n');
  chmodSync(join(cwd, 'wg0.conf'), 0o666);
  if (process.getuid?.() === 0) chownSync(join(cwd, 'wg0.conf'), 12_345, 12_346);
  await (await KeyFile.open('wg0.conf', { cwd, replaces: true, keepsReaders: false })).keep('PrivateKey = new');
  const { uid, gid } = statSync(join(cwd, 'wg0.conf'));
  assert.deepEqual([uid, gid, modeOf(join(cwd, 'wg0.conf'))], [process.getuid?.(), process.getgid?.(), 0o600]);
  assert.equal(readFileSync(join(cwd, 'wg0.conf'), 'utf8'), 'PrivateKey = new\n');
});

test('closed without a key it leaves everything as it was', async (t) => {
  const cwd = tempHome(t);
  writeFileSync(join(cwd, 'key'), 'mtk_old\n');
  const file = await KeyFile.open('key', { cwd, replaces: true, keepsReaders: true });
  await file.close();
  await file.close();
  assert.equal(readFileSync(join(cwd, 'key'), 'utf8'), 'mtk_old\n');
  assert.deepEqual(readdirSync(cwd), ['key']);
});
