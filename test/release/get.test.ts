/** scripts/get.sh, and the structure of scripts/install.ps1, on a release of small programs. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { hostTarget } from '../../scripts/release/targets.ts';
import { findProgram, missing, type Outcome, run } from '../harness/tools.ts';
import { changeByte, fakeProgram, makeFakeRelease, serveFolder } from './fake-release.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'culvert-get-'));
after(() => rmSync(folder, { recursive: true }));

const target = hostTarget() ?? '';
const archive = `culvert-1.2.3-${target}.tar.gz`;
const skip = process.platform === 'win32' ? 'get.sh is for Linux and macOS' : missing('openssl', 'curl');
/** What get.sh needs besides a verifier. */
const TOOLS = 'awk cat chmod cp curl cut grep gzip ls mkdir mktemp mv rm sha256sum shasum tail tar uname wc';

/** A folder for PATH with the tools and these programs alone. */
function pathWith(...programs: string[]): string {
  const path = mkdtempSync(join(folder, 'path-'));
  for (const name of [...TOOLS.split(' '), ...programs]) {
    const found = findProgram(name);
    if (found !== undefined) symlinkSync(found, join(path, name));
  }
  return path;
}

const withOpenSsl = skip === false ? pathWith('openssl') : '';
const fresh = (): string => mkdtempSync(join(folder, 'case-'));

interface Run {
  readonly shell?: string;
  readonly path?: string;
  readonly args?: readonly string[];
}

async function get(from: string, to: string, { shell = 'sh', path = withOpenSsl, args = [] }: Run = {}) {
  const release = from.startsWith('http') ? join(folder, 'release') : from;
  const script = existsSync(join(release, 'get.sh')) ? join(release, 'get.sh') : join(folder, 'release/get.sh');
  const command = [findProgram(shell) ?? shell, script, '--from', from, '--to', to, ...args];
  return run(['/usr/bin/env', '-i', `PATH=${path}`, `HOME=${folder}`, ...command]);
}

function assertInstalled({ code, stdout, stderr }: Outcome, to: string): void {
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Installed: .*\/culvert, culvert 1\.2\.3 \(commit 0000000\)\n/);
  assert.match(stdout, /culvert setup DOMAIN\n.*culvert login\n$/);
  assert.equal(readFileSync(join(to, 'culvert'), 'utf8'), fakeProgram('1.2.3'));
  assert.deepEqual(readdirSync(to), ['culvert']);
  assert.ok(existsSync(join(to, '../share/culvert/installed-from')), 'the note for culvert setup');
}

function assertRefused({ code, stdout, stderr }: Outcome, to: string, reason: RegExp): void {
  assert.equal(code, 1, stdout);
  assert.match(stderr, reason);
  assert.equal(stdout, '');
  assert.deepEqual(existsSync(to) ? readdirSync(to) : [], []);
}

const release = makeFakeRelease(join(folder, 'release'));
const SHARED = [
  'bash-completion/completions/culvert',
  'fish/vendor_completions.d/culvert.fish',
  'man/man1/culvert.1',
  'zsh/site-functions/_culvert',
];

for (const shell of ['dash', 'bash']) {
  test(`get.sh: ${shell} installs from a folder and from a URL`, { skip: skip || missing(shell) }, async (t) => {
    const [one, two] = [join(fresh(), 'bin'), join(fresh(), 'bin')];
    assertInstalled(await get(release.folder, one, { shell }), one);
    assertInstalled(await get(await serveFolder(t, release.folder), two, { shell }), two);
    assert.equal((await run([shell, '-n', join(root, 'scripts/get.sh')])).code, 0);
  });
}

test('get.sh: completion and man page go beside ~/.local/bin; elsewhere it names the command', { skip }, async () => {
  const to = join(folder, '.local/bin');
  const installed = await get(release.folder, to);
  assertInstalled(installed, to);
  assert.doesNotMatch(installed.stdout, /help completion/);
  const share = join(folder, '.local/share');
  for (const name of SHARED) assert.match(readFileSync(join(share, name), 'utf8'), /culvert/i, name);
  const elsewhere = await get(release.folder, join(fresh(), 'bin'));
  assert.match(elsewhere.stdout, /\nFor completion in your shell, see: culvert help completion\n/);
});

test('get.sh: signify verifies too', { skip: skip || missing('signify-openbsd') }, async () => {
  const [one, two] = [join(fresh(), 'bin'), join(fresh(), 'bin')];
  const path = pathWith('signify-openbsd');
  assertInstalled(await get(release.folder, one, { path }), one);
  assertRefused(await get(changed('SHA256SUMS'), two, { path }), two, /the signature of SHA256SUMS is not valid/);
});

/** A copy of the release where a byte of one file differs. */
function changed(name: string): string {
  const { folder: copy } = makeFakeRelease(fresh(), { key: release.key });
  changeByte(join(copy, name));
  return copy;
}

for (const [name, reason] of [
  [archive, /its checksum differs/],
  ['SHA256SUMS', /the signature of SHA256SUMS is not valid/],
  ['SHA256SUMS.sig', /the signature of SHA256SUMS is not valid/],
] as const) {
  test(`get.sh: refuses a changed byte in ${name.replace(target, 'TARGET')}`, { skip }, async (t: TestContext) => {
    const [one, two] = [join(fresh(), 'bin'), join(fresh(), 'bin')];
    const copy = changed(name);
    assertRefused(await get(copy, one), one, reason);
    assertRefused(await get(await serveFolder(t, copy), two), two, reason);
  });
}

test('get.sh: refuses a release that another key signed', { skip }, async () => {
  const to = join(fresh(), 'bin');
  const other = makeFakeRelease(fresh());
  rmSync(join(other.folder, 'get.sh'));
  assertRefused(await get(other.folder, to), to, /the signature of SHA256SUMS is not valid/);
});

test('get.sh: refuses without a verifier unless --no-verify-signature is given', { skip }, async () => {
  const to = join(fresh(), 'bin');
  const path = pathWith();
  assertRefused(await get(release.folder, to, { path }), to, /install OpenSSL 3 or signify/);
  const told = await get(release.folder, to, { path, args: ['--no-verify-signature'] });
  assertInstalled(told, to);
  assert.match(told.stderr, /the signature is not verified/);
  const checked = await get(changed(archive), join(fresh(), 'bin'), { path, args: ['--no-verify-signature'] });
  assert.match(checked.stderr, /its checksum differs/);
});

test('get.sh: a program that does not start leaves the old one in place', { skip }, async () => {
  const to = fresh();
  writeFileSync(join(to, 'culvert'), 'old');
  const broken = makeFakeRelease(fresh(), { program: '#!/bin/sh\nexit 1\n' });
  const { code, stderr } = await get(broken.folder, to);
  assert.equal(code, 1);
  assert.match(stderr, /the program does not start on this machine/);
  assert.equal(readFileSync(join(to, 'culvert'), 'utf8'), 'old');
  assert.deepEqual(readdirSync(to), ['culvert']);
});

test('get.sh: needs an address, and says what is missing in it', { skip }, async () => {
  const script = join(release.folder, 'get.sh');
  const { code, stderr } = await run(['sh', script]);
  assert.equal(code, 2);
  assert.match(stderr, /usage: get\.sh --from URL\|FOLDER/);
  const empty = fresh();
  mkdirSync(join(empty, 'none'));
  const to = join(fresh(), 'bin');
  assertRefused(await get(join(empty, 'none'), to), to, /there is no SHA256SUMS at/);
  const { folder: partial } = makeFakeRelease(fresh(), { key: release.key });
  renameSync(join(partial, archive), join(partial, 'elsewhere'));
  assertRefused(await get(partial, to), to, /could not be fetched/);
});

test('get.sh: is clean for shellcheck', { skip: missing('shellcheck') }, async () => {
  const { code, stdout } = await run(['shellcheck', join(root, 'scripts/get.sh')]);
  assert.equal(code, 0, stdout);
});

test('get.sh and install.ps1: a release writes its key into them', () => {
  for (const name of ['get.sh', 'install.ps1']) {
    const text = readFileSync(join(release.folder, name), 'utf8');
    assert.ok(text.includes(release.key.publicKey), name);
    assert.ok(!text.includes('@RELEASE_KEY@'), name);
  }
});

test('install.ps1: checks before it unpacks, and runs the program before it replaces the old one', () => {
  const text = readFileSync(join(root, 'scripts/install.ps1'), 'utf8');
  const main = text.slice(text.indexOf('\ntry {'));
  const steps = ['Assert-Signature', 'Get-FileHash', 'Expand-Archive', '$program version', 'Move-Item'];
  const places = steps.map((step) => main.indexOf(step));
  assert.ok(!places.includes(-1), places.join(' '));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.equal(text.split('{').length, text.split('}').length);
});
