/** Keys of WireGuard, made and read on this machine. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import { ExitError } from '../terminal/exit.ts';
import { tempHome } from '../fixtures/program.ts';
import { type Io, processIo } from '../terminal/io.ts';
import { checkedPublicKey, isWireGuardKey, makePrivateKey, publicKeyOf, readPrivateKey } from './wireguard-keys.ts';

/** RFC 7748, section 6.1. */
const PAIRS = [
  [
    '77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a',
    '8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a',
  ],
  [
    '5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb',
    'de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f',
  ],
] as const;

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
const KEY = base64(PAIRS[0][0]);

function ioIn(t: TestContext, piped?: string): Io {
  const stdin = new PassThrough();
  if (piped !== undefined) stdin.end(piped);
  return { ...processIo(), cwd: tempHome(t), stdin };
}

test('the public key is that of RFC 7748', () => {
  for (const [secret, open] of PAIRS) assert.equal(publicKeyOf(new Secret(base64(secret))), base64(open));
});

test('a key that is made has the bits that X25519 fixes, is none of before, and is hidden in a log', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 64; i += 1) {
    const key = makePrivateKey();
    const bytes = Buffer.from(key.reveal(), 'base64');
    assert.ok(isWireGuardKey(key.reveal()) && isWireGuardKey(publicKeyOf(key)));
    assert.deepEqual([bytes.readUInt8(0) & 7, bytes.readUInt8(31) & 0xc0], [0, 0x40]);
    seen.add(key.reveal());
    assert.ok(!JSON.stringify({ key }).includes(key.reveal()));
  }
  assert.equal(seen.size, 64);
});

test('a private key is read from a file of its own, a configuration, or a pipe', async (t) => {
  const config = `[Interface]\r\n# PrivateKey = ${base64(PAIRS[1][0])}\r\n privatekey= ${KEY} # mine\r\nAddress = 10.0.0.1/24\r\n`;
  for (const text of [KEY, `${KEY}\n`, `  ${KEY}  `, config]) {
    const io = ioIn(t, text);
    writeFileSync(join(io.cwd, 'key'), text, { mode: 0o600 });
    assert.equal((await readPrivateKey('key', io)).reveal(), KEY);
    assert.equal((await readPrivateKey('-', io)).reveal(), KEY);
  }
});

test('what holds no key is refused in words that never repeat what it holds', async (t) => {
  const io = ioIn(t);
  const write = (name: string, text: string, mode = 0o600): string => {
    writeFileSync(join(io.cwd, name), text);
    chmodSync(join(io.cwd, name), mode);
    return name;
  };
  const cases = [
    [KEY, /--key-file: needs a file\. .*Create another/],
    ['absent', /absent: there is no such key file/],
    ['.', /\.: the key file can't be read/],
    [write('open', KEY, 0o644), /open: other users of this machine can read the key: chmod 600 open/],
    [write('short', KEY.slice(1)), /short: has no private key\. Use one from `wg genkey`/],
    [write('loose', `${KEY.slice(0, 42)}B=`), /has no private key/], // its last bits belong to no byte
    [write('empty', ''), /has no private key/],
    [write('placeholder', '[Interface]\nPrivateKey = <your private key>\n'), /has no private key/],
    [write('long', 'x'.repeat(1024 * 1024 + 1)), /long: is larger than a key/],
    ...(process.platform === 'win32' ? [] : [['/dev/zero', /zero: is larger than a key/] as const]),
  ] as const;
  for (const [path, message] of cases) {
    await assert.rejects(readPrivateKey(path, io), (error: unknown) => {
      assert.ok(error instanceof ExitError && error.exitCode === 2, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes(KEY.slice(1, 40)), error.message);
      return true;
    });
  }
});

test('a public key is 32 bytes in base64, to the last bit', () => {
  assert.equal(checkedPublicKey(base64(PAIRS[0][1])), base64(PAIRS[0][1]));
  for (const text of ['', 'abc', `${KEY}\n`, KEY.replace('=', ''), `${KEY.slice(0, 42)}B=`, `${KEY.slice(0, 43)}==`]) {
    assert.throws(() => checkedPublicKey(text), /--public-key: is not a WireGuard public key/, text);
  }
});
