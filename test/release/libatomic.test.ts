/** Node without libatomic: the change of the ELF file, and the copy of node_modules that it mends. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { neededLibraries, removeLibatomic } from '../../scripts/release/libatomic.mjs';
import { makeBareRoot, noBareRoot } from './bare-root.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'culvert-libatomic-'));
after(() => rmSync(folder, { recursive: true }));

const skip = process.platform !== 'linux' && 'ELF files are of Linux';
/** On a machine without libatomic the Node that runs this test is a mended one. */
const node = skip === false ? readFileSync(process.execPath) : Buffer.alloc(0);
const isMended = skip === false && !neededLibraries(node).includes('libatomic.so.1');

test('libatomic: a changed Node needs no such library, keeps the others and runs', { skip }, () => {
  const changed = Buffer.from(node);
  assert.equal(removeLibatomic(changed), !isMended);
  assert.equal(changed.length, node.length);
  assert.deepEqual(
    neededLibraries(changed),
    neededLibraries(node).filter((name) => name !== 'libatomic.so.1'),
  );
  const file = join(folder, 'node');
  writeFileSync(file, changed, { mode: 0o755 });
  const churn =
    'let s = 0; for (let i = 0; i < 2000; i++) s += new Function("a", `return a + ${i}`)(1); console.log(s)';
  const { status, stdout, stderr } = spawnSync(file, ['-e', churn], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '2001000\n');
  rmSync(file);
});

test('libatomic: a second change finds nothing to do', { skip }, () => {
  const changed = Buffer.from(node);
  removeLibatomic(changed);
  const before = Buffer.from(changed);
  assert.equal(removeLibatomic(changed), false);
  assert.ok(changed.equals(before));
});

test('libatomic: an unknown shape is refused and left as it is', {
  skip: skip || (isMended && 'Node is mended'),
}, () => {
  const refused = (change: (file: Buffer) => void, reason: RegExp): void => {
    const file = Buffer.from(node);
    change(file);
    const before = Buffer.from(file);
    assert.throws(() => removeLibatomic(file), reason);
    assert.ok(file.equals(before), `changed in spite of ${reason}`);
  };
  refused((file) => file.write('MZ'), /not a 64-bit little-endian ELF file/);
  refused((file) => file.writeUInt16LE(243, 18), /unknown machine 243/);
  const name = node.indexOf('\0__atomic_compare_exchange\0') + 1;
  refused((file) => file.write('__atomic_fetch_add_______x', name, 'latin1'), /needed for __atomic_fetch_add/);
  const changed = Buffer.from(node);
  removeLibatomic(changed);
  const room = placeOfFunction(changed);
  refused((file) => file.fill(1, room, room + 8), /room behind the code is in use/);
});

test('mend-node: a Node that starts stays the same file', { skip }, () => {
  const file = join(folder, 'starts');
  copyFileSync(process.execPath, file);
  const { status, stderr } = mend(file);
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  assert.ok(readFileSync(file).equals(node));
});

test('mend-node: without libatomic Node starts from a new file, and a hard link keeps the old one', {
  skip: noBareRoot() || (isMended && 'Node is mended'),
}, () => {
  const bare = join(folder, 'bare');
  makeBareRoot(bare, process.execPath);
  copyFileSync(process.execPath, join(bare, 'node'));
  linkSync(join(bare, 'node'), join(bare, 'shared'));
  const npms = Buffer.from(node);
  removeLibatomic(npms);
  writeFileSync(join(bare, 'npms-node'), npms, { mode: 0o755 });
  cpSync(join(root, 'scripts/release'), join(bare, 'scripts/release'), { recursive: true });
  cpSync(join(root, 'scripts/mend-node.mjs'), join(bare, 'scripts/mend-node.mjs'));
  const inside = (...command: string[]) => spawnSync('chroot', [bare, ...command], { encoding: 'utf8' });

  assert.match(inside('/node', '-e', '0').stderr, /libatomic\.so\.1/);
  const { status, stderr } = inside('/npms-node', '/scripts/mend-node.mjs', '/node');
  assert.equal(status, 0, stderr);
  assert.match(stderr, /no libatomic .*is changed to run without it/);
  assert.equal(inside('/node', '-p', '1 + 1').stdout, '2\n');
  assert.ok(readFileSync(join(bare, 'shared')).equals(node), 'the shared file is changed');
  rmSync(bare, { recursive: true });
});

test('mend-node: any other fault of Node is reported and nothing is changed', { skip }, () => {
  const file = join(folder, 'broken');
  writeFileSync(file, '#!/bin/sh\necho GLIBC_2.28 not found >&2\nexit 1\n', { mode: 0o755 });
  const { status, stderr } = mend(file);
  assert.equal(status, 1);
  assert.match(stderr, /Node 26 does not start on this machine: GLIBC_2.28 not found/);
  assert.match(readFileSync(file, 'utf8'), /GLIBC/);
});

/** Where the function was put. */
function placeOfFunction(changed: Buffer): number {
  const code = process.arch === 'x64' ? 'f30f1efa4883ff08' : '5f2403d51f2000f1';
  return changed.indexOf(Buffer.from(code, 'hex'));
}

function mend(file: string) {
  return spawnSync(process.execPath, [join(root, 'scripts/mend-node.mjs'), file], { encoding: 'utf8' });
}
