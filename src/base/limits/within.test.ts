import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from './within.ts';

const hold = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('work that is done in time, late, or fails', async () => {
  assert.equal(await within(Promise.resolve(), 1_000), true);
  assert.equal(await within(sleep(60_000, undefined, { ref: false }), 5, { holdsProcess: true }), false);
  await assert.rejects(within(Promise.reject(new Error('no')), 1_000), /^Error: no$/);
});

test('what the disk has done while the process stood still is not late', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-within-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = await open(join(folder, 'file'), 'w');
  t.after(() => file.close());
  const waiting = within(file.datasync(), 20);
  hold(1_000);
  assert.equal(await waiting, true);
});
