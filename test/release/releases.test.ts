/** `culvert admin releases` on a release of small programs: from a folder and from a URL, again after a failure, and what it refuses. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { openReleaseKey } from '../../scripts/release/keys.ts';
import { TARGET_NAMES } from '../../scripts/release/targets.ts';
import { messageOf } from '../../src/base/errors.ts';
import { ownPlatform } from '../../src/base/release/signed-release.ts';
import { releasesOf } from '../../src/cli/admin/releases.ts';
import { installedFrom } from '../../src/cli/server/installed-from.ts';
import { keepForDownload } from '../../src/cli/setup/releases.ts';
import type { Io } from '../../src/cli/terminal/io.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { changeByte, makeFakeRelease, serveFolder } from './fake-release.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-releases-'));
after(() => rmSync(folder, { recursive: true }));
const key = openReleaseKey(undefined);
const VERSION = '1.1.0';
const good = makeFakeRelease(join(folder, 'good'), { version: VERSION, key });
const OWN = `culvert-${VERSION}-${ownPlatform()}${process.platform === 'win32' ? '.zip' : '.tar.gz'}`;
const INSTALLERS = ['SHA256SUMS', 'SHA256SUMS.sig', 'culvert.pub', 'get.sh', 'install.ps1'];
let homes = 0;

interface Home {
  readonly config: string;
  readonly releases: string;
}

function newHome(toml = ''): Home {
  const home = join(folder, `home-${++homes}`);
  mkdirSync(join(home, 'data'), { recursive: true });
  const config = join(home, 'culvert.toml');
  writeFileSync(config, `data_dir = "${join(home, 'data')}"\n${toml}`);
  return { config, releases: join(home, 'data', 'releases') };
}

function newIo(text: { out: string }): Io {
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text.out += chunk.toString();
      done();
    },
  });
  return {
    ...{ stdin: new PassThrough().end(), stdout: sink, stderr: sink, env: {}, cwd: folder },
    ...{ onSignal: () => () => {}, onCrash: () => {}, pause: async () => {} },
  };
}

/** All that it prints, and the message of its refusal. */
async function run(home: Home, action: string, flags: object = {}, program: object = {}): Promise<string> {
  const text = { out: '' };
  const body = releasesOf({ version: VERSION, releaseKey: key.publicKey, path: '/nowhere/bin/culvert', ...program });
  try {
    await body(newIo(text), { args: [action], flags: { config: home.config, ...flags } });
    return text.out;
  } catch (error) {
    return `${text.out}refused: ${messageOf(error)}`;
  }
}

const filesOf = ({ releases }: Home): string[] => readdirSync(join(releases, VERSION)).sort();

test('admin releases fetch: keeps this platform, or all, from a folder and from a URL', async (t) => {
  for (const from of [good.folder, await serveFolder(t, good.folder)]) {
    const home = newHome();
    const umask = process.umask(0o077); // as root may have it
    const first = await run(home, 'fetch', { from }).finally(() => process.umask(umask));
    assert.match(first, new RegExp(`Fetching ${OWN}\n  ${OWN}: \\d+\\.\\d MB\n`));
    assert.deepEqual(filesOf(home), [...INSTALLERS, OWN].sort());
    assert.equal(statSync(join(home.releases, VERSION, OWN)).mode & 0o777, 0o644);
    assert.equal(statSync(join(home.releases, VERSION)).mode & 0o777, 0o755);
    const all = await run(home, 'fetch', { from, allPlatforms: true });
    assert.match(all, new RegExp(`${OWN}: already there`));
    assert.equal(filesOf(home).length, INSTALLERS.length + TARGET_NAMES.length);
    for (const name of filesOf(home))
      assert.deepEqual(readFileSync(join(home.releases, VERSION, name)), readFileSync(join(good.folder, name)), name);
    assert.match(await run(home, 'list'), /1\.1\.0 \(this server\) .*linux-x64/);
  }
});

test('admin releases fetch: without --from and releases_url, it takes the place that get.sh installed from', async () => {
  const prefix = mkdtempSync(join(folder, 'prefix-'));
  mkdirSync(join(prefix, 'share/culvert'), { recursive: true });
  writeFileSync(join(prefix, 'share/culvert/installed-from'), `${good.folder}\n`);
  const home = newHome();
  assert.match(await run(home, 'fetch', {}, { path: join(prefix, 'bin/culvert') }), /is in .*1\.1\.0\.$/m);
  assert.ok(filesOf(home).includes(OWN));
});

test('admin releases fetch: takes releases_url without --from, and says what to do without both', async (t) => {
  const url = await serveFolder(t, good.folder);
  assert.match(await run(newHome(`releases_url = "${url}"\n`), 'fetch'), /is in .*1\.1\.0\.$/m);
  assert.match(await run(newHome(), 'fetch'), /refused: name the release with --from URL .* releases_url/);
  assert.match(await run(newHome(), 'fetch', { from: good.folder }, { releaseKey: null }), /not built as a release/);
  assert.match(
    await run(newHome(), 'fetch', { from: good.folder }, { version: '1.0.0' }),
    /is 1\.1\.0, and this program is 1\.0\.0/,
  );
  assert.match(await run(newHome(), 'drop'), /refused: there is no command "admin releases drop"/);
});

test('admin releases fetch: a changed byte is refused, and the next fetch gets what is missing', async () => {
  const changed = makeFakeRelease(join(folder, 'changed'), { version: VERSION, key });
  changeByte(join(changed.folder, OWN));
  const home = newHome();
  assert.match(
    await run(home, 'fetch', { from: changed.folder }),
    new RegExp(`refused: ${OWN} .* is not the signed file`),
  );
  assert.deepEqual(filesOf(home), INSTALLERS, 'no part of it stays');
  await run(home, 'fetch', { from: good.folder });
  changeByte(join(home.releases, VERSION, OWN));
  assert.match(await run(home, 'fetch', { from: good.folder }), new RegExp(`Fetching ${OWN}`));
  changeByte(join(changed.folder, 'SHA256SUMS'));
  const other = newHome();
  assert.match(await run(other, 'fetch', { from: changed.folder }), /refused: the signature of SHA256SUMS/);
  assert.deepEqual(readdirSync(join(other.releases, '..')), [], 'nothing is made for a list that is not signed');
});

test('admin releases fetch: keeps one other version, and follows no link', async () => {
  const home = newHome();
  for (const version of ['0.9.0', '1.0.0']) mkdirSync(join(home.releases, version), { recursive: true });
  mkdirSync(join(home.releases, 'notes'));
  const outside = join(folder, 'outside');
  writeFileSync(outside, 'outside');
  mkdirSync(join(home.releases, VERSION));
  symlinkSync(outside, join(home.releases, VERSION, OWN));
  assert.match(await run(home, 'fetch', { from: good.folder }), /Removed 0\.9\.0\n/);
  assert.deepEqual(readdirSync(home.releases).sort(), ['1.0.0', VERSION, 'notes']);
  assert.equal(readFileSync(outside, 'utf8'), 'outside');
  assert.deepEqual(readFileSync(join(home.releases, VERSION, OWN)), readFileSync(join(good.folder, OWN)));
});

test('setup: keeps the release from where get.sh had it, else names the command', async () => {
  const home = newHome();
  const bin = join(folder, `prefix-${homes}`, 'bin');
  mkdirSync(bin, { recursive: true });
  const { settings } = checkServerConfig(readFileSync(home.config, 'utf8'), home.config);
  const text = { out: '' };
  const keep = (flags: object): Promise<string | undefined> =>
    keepForDownload({
      ...{ io: newIo(text), flags: { ...flags }, settings, file: home.config, path: join(bin, 'culvert') },
      program: { version: VERSION, releaseKey: key.publicKey },
    });
  assert.match(
    (await keep({ yes: true })) ?? '',
    /^none yet\. .*sudo culvert admin releases fetch --all-platforms --from URL/,
  );
  mkdirSync(join(bin, '../share/culvert'), { recursive: true });
  writeFileSync(join(bin, '../share/culvert/installed-from'), `${good.folder}\n`);
  assert.equal(installedFrom(join(bin, 'culvert')), good.folder);
  assert.match((await keep({ yes: true })) ?? '', new RegExp(`^kept for ${ownPlatform()}\\. Other platforms: `));
  assert.deepEqual(filesOf(home), [...INSTALLERS, OWN].sort());
  assert.equal(await keep({ yes: true }), `kept for ${ownPlatform()}`);
  assert.doesNotMatch((await keep({ allPlatforms: true })) ?? '', /Other platforms/);
  assert.equal(filesOf(home).length, INSTALLERS.length + TARGET_NAMES.length);
});
