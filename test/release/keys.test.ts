/** The signature of a release, as other programs verify it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openReleaseKey, publicKeyFile } from '../../scripts/release/keys.ts';
import { sha256, verifySums } from '../../src/base/release/verify.ts';
import { missing } from '../harness/tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-keys-'));
after(() => rmSync(folder, { recursive: true }));

const sums = Buffer.from(`${sha256(Buffer.from('x'))}  x\n`);
const put = (name: string, content: string | Buffer): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
const pem = (type: 'ed25519' | 'x25519'): string => {
  const { privateKey } = type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  return privateKey.export({ format: 'pem', type: 'pkcs8' });
};

test('release key: what the file signs is verified by its public key, the same at each run', () => {
  const file = put('key.pem', pem('ed25519'));
  const [first, second] = [openReleaseKey(file), openReleaseKey(file)];
  assert.equal(first.isThrowAway, false);
  assert.equal(first.publicKey, second.publicKey);
  assert.ok(first.sign(sums).equals(second.sign(sums)));
  assert.equal(verifySums(sums, first.sign(sums), first.publicKey), true);
  assert.equal(verifySums(sums, first.sign(sums), publicKeyFile(first).toString()), true);
});

test('release key: without a file each run has a throw-away key', () => {
  const [first, second] = [openReleaseKey(undefined), openReleaseKey(undefined)];
  assert.equal(first.isThrowAway, true);
  assert.notEqual(first.publicKey, second.publicKey);
  assert.equal(verifySums(sums, first.sign(sums), second.publicKey), false);
  assert.match(publicKeyFile(first).toString(), /throw-away key of a test release/);
});

test('release key: a missing file and a key of another kind are refused', () => {
  assert.throws(() => openReleaseKey(join(folder, 'none.pem')), /ENOENT/);
  assert.throws(() => openReleaseKey(put('other.pem', pem('x25519'))), /not an Ed25519 key/);
});

test('release key: OpenSSL verifies the signature', { skip: missing('openssl') }, () => {
  const key = openReleaseKey(undefined);
  const raw = (text: string, bytes: number): Buffer =>
    Buffer.from(text.trim().split('\n').at(-1) ?? '', 'base64').subarray(-bytes);
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw(key.publicKey, 32)]);
  const [keyFile, list] = [put('key.der', der), put('SHA256SUMS', sums)];
  const signature = put('sig.raw', raw(key.sign(sums).toString(), 64));
  const args = ['pkeyutl', '-verify', '-pubin', '-inkey', keyFile, '-keyform', 'DER', '-rawin', '-in', list];
  const printed = execFileSync('openssl', [...args, '-sigfile', signature], { encoding: 'utf8' });
  assert.match(printed, /Signature Verified Successfully/);
});

test('release key: signify verifies the files as they are', { skip: missing('signify-openbsd') }, () => {
  const key = openReleaseKey(undefined);
  const args = ['-V', '-p', put('culvert.pub', publicKeyFile(key)), '-x', put('SHA256SUMS.sig', key.sign(sums))];
  const verify = (content: Buffer) =>
    spawnSync('signify-openbsd', [...args, '-m', put('list', content)], { encoding: 'utf8' });
  assert.equal(verify(sums).status, 0, verify(sums).stderr);
  assert.notEqual(verify(Buffer.from('changed\n')).status, 0);
});
