/** A release as its users read it: behind its signature, from the files that `npm run release` makes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openReleaseKey } from '../../scripts/release/keys.ts';
import { hostTarget, TARGET_NAMES } from '../../scripts/release/targets.ts';
import { checkRelease, INSTALLER_FILES, ownPlatform, readRelease } from '../../src/base/release/signed-release.ts';
import { openSource } from '../../src/base/release/source.ts';
import { sha256 } from '../../src/base/release/verify.ts';
import { changeByte, makeFakeRelease, serveFolder } from './fake-release.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-signed-'));
after(() => rmSync(folder, { recursive: true }));
const key = openReleaseKey(undefined);

test('signed release: names its version and an archive for each platform, from a folder and a URL', async (t) => {
  const release = makeFakeRelease(join(folder, 'good'), { version: '1.2.3-rc.4', key });
  for (const place of [release.folder, await serveFolder(t, release.folder)]) {
    const { version, archives, sums } = await readRelease(openSource(place), key.publicKey);
    assert.equal(version, '1.2.3-rc.4');
    assert.deepEqual([...archives.keys()].sort(), TARGET_NAMES.toSorted());
    assert.equal(archives.get('windows-x64'), 'culvert-1.2.3-rc.4-windows-x64.zip');
    for (const name of INSTALLER_FILES) assert.ok(sums.has(name), name);
  }
});

test('signed release: a changed list, a changed signature and another key are refused', async () => {
  for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) {
    const release = makeFakeRelease(join(folder, `changed-${name}`), { key });
    changeByte(join(release.folder, name));
    await assert.rejects(readRelease(openSource(release.folder), key.publicKey), /is not of the key of this program/);
  }
  const other = makeFakeRelease(join(folder, 'other'));
  await assert.rejects(readRelease(openSource(other.folder), key.publicKey), /is not of the key of this program/);
});

test('signed release: a list without archives, or with those of two versions, is refused', () => {
  const refused = (names: readonly string[], reason: RegExp): void => {
    const list = Buffer.from(names.map((name) => `${sha256(Buffer.from(name))}  ${name}\n`).join(''));
    assert.throws(() => checkRelease({ list, signature: key.sign(list) }, key.publicKey, 'here'), reason);
  };
  refused(['get.sh'], /has no archives/);
  refused(['culvert-1.0.0-linux-x64.tar.gz', 'culvert-1.0.1-linux-arm64.tar.gz'], /archives of two versions/);
});

test('signed release: the platform of this machine is named as its archive is', () => {
  if (hostTarget() !== undefined) assert.equal(ownPlatform(), hostTarget());
});
