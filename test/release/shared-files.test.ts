/** Completion scripts and the man page of a program that is upgraded: those that are installed are renewed, and no others appear. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeArchive } from '../../scripts/release/contents.ts';
import { renewSharedFiles, SHARED_FILES } from '../../src/base/release/shared-files.ts';

const [BASH = '', FISH = '', MAN = ''] = SHARED_FILES;

/** An archive, and a program with these files beside it. */
function installed(t: TestContext, files: readonly string[], bin = 'bin') {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-shared-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const release = { version: '1.2.3', epoch: 1_700_000_000, isTest: false, xzLevel: 0 };
  const { name, content } = makeArchive('linux-x64', randomBytes(300_000), release);
  const archive = join(folder, name);
  writeFileSync(archive, content);
  for (const file of files) {
    mkdirSync(dirname(join(folder, 'share', file)), { recursive: true });
    writeFileSync(join(folder, 'share', file), 'old');
  }
  return { archive, program: join(folder, bin, 'culvert'), pathOf: (file: string) => join(folder, 'share', file) };
}

test('upgrade: completion and man page that are installed are renewed, others stay away', async (t) => {
  const { archive, program, pathOf } = installed(t, [BASH, MAN]);
  assert.deepEqual(await renewSharedFiles(program, archive), [pathOf(BASH), pathOf(MAN)]);
  assert.match(readFileSync(pathOf(BASH), 'utf8'), /complete .*culvert/);
  assert.match(readFileSync(pathOf(MAN), 'utf8'), /^\.TH|\n\.TH/);
  assert.deepEqual(
    [FISH, `${BASH}.new`].map((file) => existsSync(pathOf(file))),
    [false, false],
  );
});

test('upgrade: a program in a folder of its own has none', async (t) => {
  const { archive, program, pathOf } = installed(t, [BASH], 'tools');
  assert.deepEqual(await renewSharedFiles(program, archive), []);
  assert.equal(readFileSync(pathOf(BASH), 'utf8'), 'old');
});
