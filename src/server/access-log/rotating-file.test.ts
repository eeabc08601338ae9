import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { messageOf } from '../../base/errors.ts';
import { RotatingFile, type RotationRules } from './rotating-file.ts';

const HOUR = 3_600_000;

function opened(t: TestContext, rules: Partial<RotationRules>) {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-access-'));
  const clock = { now: Date.now() };
  const path = join(folder, 'access.log');
  const told: string[] = [];
  const watch = {
    failed: (error: unknown) => void told.push(messageOf(error)),
    mended: () => void told.push('mended'),
  };
  const open = (): RotatingFile =>
    new RotatingFile(path, { maxBytes: null, maxAgeMs: null, keep: 2, ...rules }, { now: () => clock.now, watch });
  const file = open();
  t.after(async () => {
    await file.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const old = (): string[] => readdirSync(folder).filter((name) => name !== 'access.log');
  return { file, told, open, clock, folder, path, old, text: () => readFileSync(path, 'utf8') };
}

const line = (text: string): Buffer => Buffer.from(`${text}\n`);

test('access log file: rotates by size, keeps the newest files, and counts what a restart finds', async (t) => {
  const { file, open, old, text, folder } = opened(t, { maxBytes: 10 });
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six', 'seven']) await file.append(line(word));
  assert.equal(text(), 'six\nseven\n'.slice(-10));
  assert.equal(old().length, 2, 'two are kept');
  const kept = old()
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  assert.deepEqual(kept, ['three\n', 'four\nfive\n']);
  await file.close();
  const next = open();
  await next.append(line('eight'));
  assert.equal(text(), 'eight\n');
  await next.close();
});

test('access log file: rotates by age', async (t) => {
  const { file, clock, old, text } = opened(t, { maxAgeMs: 24 * HOUR });
  await file.append(line('one'));
  clock.now += 23 * HOUR;
  await file.append(line('two'));
  assert.deepEqual(old(), []);
  clock.now += HOUR;
  await file.append(line('three'));
  assert.equal(text(), 'three\n');
  assert.equal(old().length, 1);
  assert.match(old()[0] ?? '', /^access\.log\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/);
});

test('access log file: goes on in a new file when another program has moved it, once it reopens', async (t) => {
  const { file, path, text } = opened(t, {});
  await file.append(line('one'));
  renameSync(path, `${path}.1`);
  await file.append(line('two'));
  assert.equal(readFileSync(`${path}.1`, 'utf8'), 'one\ntwo\n', 'as logrotate expects');
  file.reopen();
  await file.append(line('three'));
  assert.equal(text(), 'three\n');
});

test('access log file: files of others beside it stay', async (t) => {
  const { file, path, old } = opened(t, { maxBytes: 4, keep: 0 });
  await file.append(line('one'));
  renameSync(path, `${path}.1`);
  file.reopen();
  for (const word of ['two', 'six', 'ten']) await file.append(line(word));
  assert.deepEqual(old(), ['access.log.1']);
});

test('access log file: a write that fails tells so, and a later one tries again', async (t) => {
  const { file, folder, text } = opened(t, {});
  await file.append(line('one'));
  file.reopen();
  rmSync(folder, { recursive: true });
  await assert.rejects(file.append(line('two')), { code: 'ENOENT' });
  await import('node:fs/promises').then(({ mkdir }) => mkdir(folder));
  await file.append(line('three'));
  assert.equal(text(), 'three\n');
});

test('access log file: a rotation that fails is logged once, loses no line, and is tried again after a minute', async (t) => {
  const { file, told, clock, path, old, text } = opened(t, { maxBytes: 4 });
  // A folder stands where the file would go: rename fails, for root too.
  await file.append(line('one'));
  mkdirSync(`${path}.${new Date(clock.now).toISOString().slice(0, 19).replaceAll(':', '-')}Z.1`);
  await file.append(line('two'));
  await file.append(line('six'));
  assert.equal(text(), 'one\ntwo\nsix\n');
  assert.equal(file.failedRotations, 1, 'not tried with each line');
  clock.now += 59_000;
  await file.append(line('ten'));
  assert.equal(file.failedRotations, 1);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /EISDIR|ENOTEMPTY|EEXIST/);
  clock.now += 1_000;
  await file.append(line('end'));
  assert.deepEqual([text(), told.at(-1)], ['end\n', 'mended']);
  assert.equal(old().length, 2);
});
