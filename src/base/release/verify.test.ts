import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { test } from 'node:test';
import { readSums, sha256, sumOf, verifySums } from './verify.ts';

/** The format of signify, written here by hand: the product only reads it. */
function signer() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const head = Buffer.concat([Buffer.from('Ed'), randomBytes(8)]);
  const bytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    key: Buffer.concat([head, bytes]).toString('base64'),
    head,
    sign: (sums: Buffer, number = head): Buffer => {
      const line = Buffer.concat([number, sign(null, sums, privateKey)]).toString('base64');
      return Buffer.from(`untrusted comment: verify with culvert.pub\n${line}\n`);
    },
  };
}

const program = Buffer.from('the program');
const NAME = 'culvert-1.0.0-linux-x64.tar.gz';
const sums = Buffer.from(`${sha256(program)}  ${NAME}\n${sha256(Buffer.from('x'))}  culvert-1.0.0-linux-x64.deb\n`);

test('release: the signature of its key is accepted, by the line of the key and by its file', () => {
  const { key, sign } = signer();
  assert.equal(verifySums(sums, sign(sums), key), true);
  assert.equal(verifySums(sums, sign(sums), `untrusted comment: public key\n${key}\n`), true);
});

test('release: a changed byte in list or signature is refused, wherever it is', () => {
  const { key, sign } = signer();
  const signature = sign(sums);
  for (let at = 0; at < sums.length; at++) {
    const changed = Buffer.from(sums);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(verifySums(changed, signature, key), false, `byte ${at} of the list`);
  }
  const start = signature.indexOf('\n') + 1;
  for (let at = start; at < signature.length - 3; at++) {
    const changed = Buffer.from(signature);
    changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
    assert.equal(verifySums(sums, changed, key), false, `byte ${at} of the signature`);
  }
});

test('release: another key, a signature of another key and broken files are refused', () => {
  const { key, sign } = signer();
  const other = signer();
  assert.equal(verifySums(sums, other.sign(sums), key), false);
  assert.equal(verifySums(sums, other.sign(sums, Buffer.from(key, 'base64').subarray(0, 10)), key), false);
  assert.equal(verifySums(sums, sign(sums, other.head), key), false, 'the number of the key is checked');
  for (const broken of ['', 'x', '\n\n', 'untrusted comment: x\n', 'RWQ=', sign(sums).toString().slice(0, -10)]) {
    assert.equal(verifySums(sums, Buffer.from(broken), key), false, JSON.stringify(broken));
    assert.equal(verifySums(sums, sign(sums), broken), false, JSON.stringify(broken));
  }
});

test('release: the list gives the hash of a file, and a changed file has another', () => {
  assert.equal(sumOf(sums, NAME), sha256(program));
  assert.equal(sumOf(sums, 'culvert-1.0.0-windows-x64.zip'), undefined);
  assert.equal(readSums(sums).size, 2);
  for (let at = 0; at < program.length; at++) {
    const changed = Buffer.from(program);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.notEqual(sha256(changed), sumOf(sums, NAME));
  }
});

test('release: a list with a path, a name twice, an unknown line or a cut end is refused', () => {
  const line = (name: string): string => `${sha256(program)}  ${name}\n`;
  const refused = (text: string, reason: RegExp): void => assert.throws(() => readSums(Buffer.from(text)), reason);
  for (const name of ['../culvert', 'a/b', '.hidden', '', 'a b', 'a\\b']) refused(line(name), /a line of another form/);
  refused(line('a') + line('a'), /names a twice/);
  refused(`${line('a')}\n`, /a line of another form/);
  refused(line('a').trimEnd(), /cut off/);
  assert.equal(readSums(Buffer.from('')).size, 0);
});
