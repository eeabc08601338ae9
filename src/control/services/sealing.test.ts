import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSealer, SEAL_KEY_FILE, Sealer } from './sealing.ts';

test('opens what it sealed, for the same purpose and with the same key alone', () => {
  const sealer = new Sealer(Buffer.alloc(32, 1));
  const sealed = sealer.seal('a', Buffer.from('secret'));
  assert.equal(sealer.open('a', sealed).toString(), 'secret');
  assert.notEqual(sealer.seal('a', Buffer.from('secret')), sealed, 'a fresh nonce each time');
  assert.throws(() => sealer.open('b', sealed), /does not open/);
  assert.throws(() => new Sealer(Buffer.alloc(32, 2)).open('a', sealed), /does not open/);
  for (const bent of [
    '',
    's1.',
    sealed.slice(0, -1),
    `${sealed.slice(0, 10)}${sealed[10] === 'A' ? 'B' : 'A'}${sealed.slice(11)}`,
  ]) {
    assert.throws(() => sealer.open('a', bent), /does not open/, bent);
  }
});

test('keeps its key in a private file of the data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  const sealed = openSealer(dataDir).seal('a', Buffer.from('secret'));
  assert.equal(statSync(join(dataDir, SEAL_KEY_FILE)).mode & 0o777, 0o600);
  assert.equal(openSealer(dataDir).open('a', sealed).toString(), 'secret');
  rmSync(dataDir, { recursive: true });
});
