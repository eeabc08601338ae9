/** The program out of the archives that a release makes. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeArchive } from '../../scripts/release/contents.ts';
import { TARGET_NAMES } from '../../scripts/release/targets.ts';
import { unpackProgram } from '../../src/base/release/unpack.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-unpack-'));
after(() => rmSync(folder, { recursive: true }));

const release = { version: '1.2.3-rc.4', epoch: 1_700_000_000, isTest: false, xzLevel: 0 };

for (const target of TARGET_NAMES) {
  test(`unpack: the archive for ${target} gives its program, of any length`, async () => {
    for (const bytes of [1, 511, 512, 513, 200_000]) {
      const program = randomBytes(bytes);
      const { name, content } = makeArchive(target, program, release);
      const file = join(folder, name);
      writeFileSync(file, content);
      const to = join(folder, `${target}-${bytes}`);
      await unpackProgram(file, to);
      assert.ok(program.equals(readFileSync(to)));
      assert.equal(statSync(to).mode & 0o111, 0o111);
    }
  });
}

test('unpack: an archive without the program, one that is cut off, and other files are refused', async () => {
  const { name, content } = makeArchive('linux-x64', randomBytes(50_000), release);
  const to = join(folder, 'refused');
  const refused = async (file: string, bytes: Uint8Array, reason: RegExp): Promise<void> => {
    writeFileSync(join(folder, file), bytes);
    await assert.rejects(unpackProgram(join(folder, file), to), reason);
    assert.ok(!existsSync(to));
  };
  await refused('culvert-9.9.9-linux-x64.tar.gz', content, /has no culvert-9\.9\.9-linux-x64\/culvert/);
  await refused(name, content.subarray(0, content.length >> 1), /unexpected end of file/);
  await refused('culvert-9.9.9-windows-x64.zip', randomBytes(1_000), /no zip file/);
  const wrongSum = Buffer.from(content);
  wrongSum.writeUInt8(wrongSum.readUInt8(wrongSum.length - 8) ^ 1, wrongSum.length - 8);
  await refused(name, wrongSum, /incorrect data check/);
  for (const missing of ['culvert-8.8.8-linux-x64.tar.gz', 'culvert-8.8.8-windows-x64.zip']) {
    await assert.rejects(unpackProgram(join(folder, missing), to), { code: 'ENOENT' });
    assert.ok(!existsSync(to));
  }
  writeFileSync(to, 'mine');
  await assert.rejects(unpackProgram(join(folder, name), to), { code: 'EEXIST' });
  assert.equal(readFileSync(to, 'utf8'), 'mine');
});
