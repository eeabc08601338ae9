/** The files of a release by their structure, around a program of a few bytes; release.test.ts has the real ones. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { composeFile } from '../../scripts/release/compose.ts';
import { makeArchive, packageSettings, type Release, TEST_FILE } from '../../scripts/release/contents.ts';
import { makeDeb, packageVersion } from '../../scripts/release/deb.ts';
import { makeImage } from '../../scripts/release/image.ts';
import { packageFolder } from '../../scripts/release/sbom.ts';
import { makeTar, readTar } from '../../scripts/release/tar.ts';
import { shareEntries } from '../../scripts/release/share/share.ts';
import { TARGETS } from '../../scripts/release/targets.ts';
import { sha256 } from '../../src/base/release/verify.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { missing } from '../harness/tools.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'culvert-artifacts-'));
after(() => rmSync(folder, { recursive: true }));

const release: Release = { version: '1.2.3-rc.4', epoch: 1_700_000_000, isTest: false, xzLevel: 6 };
const program = Buffer.from('#!/bin/sh\necho culvert\n');
const put = (name: string, content: Buffer): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
const run = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: 'utf8' });

test('archive: Linux gets program, license, settings, installer and units in a folder that names the version', () => {
  const { name, content } = makeArchive('linux-x64', program, release);
  assert.equal(name, 'culvert-1.2.3-rc.4-linux-x64.tar.gz');
  const entries = readTar(gunzipSync(content));
  const names = entries.map((entry) => entry.name.replace('culvert-1.2.3-rc.4-linux-x64/', ''));
  const wanted = [
    'culvert',
    'LICENSE',
    'README.md',
    'config.example.toml',
    'scripts/install.sh',
    'scripts/culvert.service',
    'share/bash-completion/completions/culvert',
    'share/fish/vendor_completions.d/culvert.fish',
    'share/man/man1/culvert.1',
    'share/zsh/site-functions/_culvert',
  ];
  for (const file of wanted) assert.ok(names.includes(file), `${file} is missing in ${names.join(' ')}`);
  const modes = entries.filter(({ mode }) => mode === 0o755).map((entry) => entry.name.split('/').at(-1));
  assert.deepEqual(modes, ['culvert', 'install.sh']);
  assert.ok(makeArchive('linux-x64', program, release).content.equals(content));
  const options = { version: '1.2.3', epoch: 1_700_000_000, system: 'other', isPacked: true } as const;
  assert.deepEqual(shareEntries(options), shareEntries(options));
});

test('archive: tar lists it as files of root with the time of the release', () => {
  const file = put('a.tar.gz', makeArchive('linux-x64', program, release).content);
  const listed = run('tar', '--utc', '-tvzf', file).trim().split('\n');
  for (const line of listed) assert.match(line, /^-rw[x-]r-[x-]r-[x-] 0\/0 +\d+ 2023-11-14 22:13 culvert-/);
});

test('archive: macOS gets no units, Windows a zip with culvert.exe', { skip: missing('unzip') }, () => {
  const names = readTar(gunzipSync(makeArchive('darwin-arm64', program, release).content)).map(({ name }) => name);
  assert.ok(!names.some((name) => name.includes('scripts/')), names.join(' '));
  assert.ok(names.some((name) => name.endsWith('/share/zsh/site-functions/_culvert')));
  const { name, content } = makeArchive('windows-x64', program, release);
  assert.equal(name, 'culvert-1.2.3-rc.4-windows-x64.zip');
  const file = put('a.zip', content);
  assert.match(run('unzip', '-t', file), /No errors detected/);
  assert.equal(run('unzip', '-p', file, 'culvert-1.2.3-rc.4-windows-x64/culvert.exe'), program.toString());
  assert.match(run('unzip', '-Z', '-T', file), /20231114\.221320/);
});

test('archive: a test release says so', () => {
  const entries = readTar(gunzipSync(makeArchive('linux-arm64', program, { ...release, isTest: true }).content));
  const note = entries.find(({ name }) => name.endsWith(`/${TEST_FILE}`));
  assert.match(note?.content.toString() ?? '', /A throw-away key signed it/);
});

test('tar: long names, folders, links and owners are as tar reads them', () => {
  const long = `${'folder/'.repeat(20)}file`;
  const nothing = Buffer.alloc(0);
  const tar = makeTar(
    [
      { name: 'data', mode: 0o700, owner: 65_532, kind: 'folder', content: nothing },
      { name: 'lib', mode: 0o777, kind: 'link', target: 'usr/lib', content: nothing },
      { name: long, mode: 0o600, content: program },
    ],
    0,
  );
  const lines = run('tar', '--utc', '-tvf', put('a.tar', tar)).trim().split('\n');
  assert.match(lines[0] ?? '', /^drwx------ 65532\/65532 +0 1970-01-01 00:00 data\/$/);
  assert.match(lines[1] ?? '', /^lrwxrwxrwx 0\/0 .* lib -> usr\/lib$/);
  assert.ok(lines[2]?.endsWith(long));
  assert.deepEqual(readTar(tar), [{ name: long, mode: 0o600, content: program }]);
});

test('package: its settings keep sign-up closed and sell nothing, and are valid', () => {
  const text = packageSettings(readFileSync(join(root, 'config.example.toml'), 'utf8'));
  const { settings, warnings } = checkServerConfig(text, 'culvert.toml');
  assert.deepEqual(warnings, []);
  const { settings: plain } = checkServerConfig('', 'none');
  assert.deepEqual(settings, {
    ...plain,
    written: new Set(['data_dir', 'accounts.signup', 'billing.mode', 'plans.default']),
    data_dir: '/var/lib/culvert',
    accounts: { ...plain.accounts, signup: 'closed' },
    billing: { ...plain.billing, mode: 'none' },
    plans: { ...plain.plans, default: 'enterprise' },
  });
  assert.throws(() => packageSettings('data_dir = "./data"\n'), /has not: signup/);
});

test('deb: dpkg reads its version, dependencies and files', { skip: missing('dpkg-deb', 'xz') }, () => {
  const file = put('a.deb', makeDeb(TARGETS['linux-arm64'].machine, program, { ...release, isTest: true }));
  const field = (name: string): string => run('dpkg-deb', '-f', file, name).trim();
  assert.equal(field('Version'), '1.2.3~rc.4');
  assert.equal(field('Architecture'), 'arm64');
  assert.match(field('Depends'), /libc6 \(>= 2\.28\)/);
  assert.match(field('Description'), /This is a test release/);
  const listed = run('dpkg-deb', '-c', file);
  assert.match(listed, /-rwxr-xr-x 0\/0 .* \.\/usr\/bin\/culvert\n/);
  assert.match(listed, /-rw-r----- 0\/0 .* \.\/etc\/culvert\/culvert\.toml\n/);
  assert.match(listed, /\.\/usr\/lib\/systemd\/system\/culvert\.service\n/);
  const out = join(folder, 'deb');
  run('dpkg-deb', '-R', file, out);
  assert.equal(run(join(out, 'usr/bin/culvert')), 'culvert\n');
  assert.match(
    readFileSync(join(out, 'usr/lib/systemd/system/culvert.service'), 'utf8'),
    /ExecStart=\/usr\/bin\/culvert /,
  );
});

test('deb: completion and man page are where Debian has them', { skip: missing('dpkg-deb', 'xz', 'gzip') }, () => {
  const file = put('share.deb', makeDeb(TARGETS['linux-x64'].machine, program, release));
  const out = join(folder, 'deb-share');
  run('dpkg-deb', '-R', file, out);
  const share = join(out, 'usr/share');
  assert.match(
    readFileSync(join(share, 'bash-completion/completions/culvert'), 'utf8'),
    /complete -F _culvert culvert/,
  );
  assert.match(readFileSync(join(share, 'zsh/vendor-completions/_culvert'), 'utf8'), /^#compdef culvert\n/);
  assert.match(readFileSync(join(share, 'fish/vendor_completions.d/culvert.fish'), 'utf8'), /complete -c culvert/);
  assert.match(run('gzip', '-dc', join(share, 'man/man1/culvert.1.gz')), /^\.TH CULVERT 1 2023\\?-11\\?-14 /);
});

/** Keys of a service that the Compose specification knows; `docker compose` refuses others. There is no Debian package of it to ask. */
const SERVICE_KEYS = [
  ...['image', 'ports', 'volumes', 'tmpfs', 'read_only', 'cap_drop', 'security_opt', 'stop_grace_period', 'restart'],
] as const;

test('compose file: is YAML with the image of the release, and declares what it mounts', () => {
  for (const isTest of [false, true]) {
    const file = parse(composeFile({ ...release, isTest }), { strict: true }) as {
      services: { culvert: Record<string, unknown> & { image: string; ports: string[]; volumes: string[] } };
      volumes: object;
    };
    assert.deepEqual(Object.keys(file), ['services', 'volumes']);
    const { culvert } = file.services;
    assert.deepEqual(Object.keys(file.services), ['culvert']);
    assert.equal(culvert.image, 'culvert:1.2.3-rc.4');
    assert.deepEqual(Object.keys(culvert).sort(), [...SERVICE_KEYS].sort());
    for (const port of culvert.ports) assert.match(port, /^(?:127\.0\.0\.1:)?\d+:\d+$/);
    const named = culvert.volumes.map((volume) => volume.split(':')[0] ?? '').filter((name) => /^\w+$/.test(name));
    assert.deepEqual(Object.keys(file.volumes), named);
  }
});

test('package: a release candidate is older than the release', { skip: missing('dpkg') }, () => {
  run('dpkg', '--compare-versions', packageVersion('1.0.0-rc.1'), 'lt', packageVersion('1.0.0'));
});

interface Blob {
  readonly digest: string;
}

test('image: each blob is what its name says, and the lists of OCI and docker lead to them', () => {
  const libraries = [{ name: 'libc.so.6', path: '/usr/lib/libc.so.6', content: Buffer.from('library') }];
  const image = makeImage(TARGETS['linux-arm64'].machine, program, { release, libraries });
  const files = new Map(readTar(image).map(({ name, content }) => [name, content]));
  const blobs = [...files].filter(([name]) => name.startsWith('blobs/'));
  assert.equal(blobs.length, 4);
  for (const [name, content] of blobs) assert.equal(name, `blobs/sha256/${sha256(content)}`);
  const json = (name: string): unknown => JSON.parse(files.get(name)?.toString() ?? '');
  const blob = (digest: string): string => `blobs/sha256/${digest.replace('sha256:', '')}`;
  const [listed] = (json('index.json') as { manifests: [Blob] }).manifests;
  const manifest = json(blob(listed.digest)) as { config: Blob; layers: Blob[] };
  const config = json(blob(manifest.config.digest)) as {
    architecture: string;
    config: { User: string };
    rootfs: { diff_ids: string[] };
  };
  assert.equal(config.architecture, 'arm64');
  assert.equal(config.config.User, '65532:65532');
  const layers = manifest.layers.map(({ digest }) => gunzipSync(files.get(blob(digest)) ?? ''));
  const hashes = layers.map((layer) => `sha256:${sha256(layer)}`);
  assert.deepEqual(config.rootfs.diff_ids, hashes);
  const [forDocker] = json('manifest.json') as [{ Layers: string[] }];
  assert.deepEqual(
    forDocker.Layers,
    manifest.layers.map(({ digest }) => blob(digest)),
  );
  const names = new Set(layers.flatMap((layer) => readTar(layer).map(({ name }) => name)));
  for (const name of ['usr/bin/culvert', 'etc/ssl/certs/ca-certificates.crt', 'usr/lib/aarch64-linux-gnu/libc.so.6']) {
    assert.ok(names.has(name), `${name} is missing`);
  }
});

test('parts list: a bundled path belongs to the innermost package', () => {
  assert.equal(packageFolder('node_modules/zod/v4/core.js'), 'node_modules/zod');
  assert.equal(packageFolder('node_modules/@mantine/core/esm/a.mjs'), 'node_modules/@mantine/core');
  assert.equal(packageFolder('node_modules/a/node_modules/@b/c/d.js'), 'node_modules/a/node_modules/@b/c');
  assert.equal(packageFolder('src/main.ts'), undefined);
});
