import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32Bytes, codeAt } from '../../../../test/harness/authenticator.ts';
import { matchingStep, newTotpSecret, otpauthUri } from './totp.ts';

/** RFC 6238, Appendix B: its secret for SHA-1 in base32, and its codes without the first two of eight digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS: ReadonlyArray<readonly [seconds: number, code: string]> = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];

for (const [seconds, code] of VECTORS) {
  test(`the code of RFC 6238 at ${seconds} s is right, here and in the authenticator of the tests`, () => {
    assert.equal(codeAt(SECRET, seconds * 1000), code);
    assert.equal(matchingStep(SECRET, code, seconds * 1000), Math.floor(seconds / 30));
  });
}

test('a code is right in its step and in those beside it, first to last millisecond', () => {
  const begin = 1_111_111_110 * 1000;
  const step = begin / 30_000;
  const code = codeAt(SECRET, begin);
  for (const [at, fits] of [
    [begin - 30_001, false],
    [begin - 30_000, true],
    [begin - 1, true],
    [begin, true],
    [begin + 29_999, true],
    [begin + 59_999, true],
    [begin + 60_000, false],
  ] as const) {
    assert.equal(matchingStep(SECRET, code, at), fits ? step : undefined, String(at - begin));
  }
});

test('a secret has 160 bits, is never the same, and is read by an app as it is', () => {
  const secret = newTotpSecret();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.equal(base32Bytes(secret).length, 20);
  assert.notEqual(newTotpSecret(), secret);
  const now = Date.UTC(2026, 10, 21);
  assert.equal(matchingStep(secret, codeAt(secret, now), now), now / 30_000);
});

test('the URI names issuer and account, whatever the address is made of', () => {
  const uri = new URL(otpauthUri('a+b&c=d?#/%@x.test', SECRET));
  assert.deepEqual([uri.protocol, uri.host], ['otpauth:', 'totp']);
  assert.equal(decodeURIComponent(uri.pathname), '/Culvert:a+b&c=d?#/%@x.test');
  assert.equal(uri.searchParams.get('secret'), SECRET);
  assert.equal(uri.searchParams.get('issuer'), 'Culvert');
  // What is not said is SHA1, 6, 30 in every app; what is said must be that.
  for (const [name, value] of [
    ['algorithm', 'SHA1'],
    ['digits', '6'],
    ['period', '30'],
  ] as const) {
    assert.equal(uri.searchParams.get(name) ?? value, value, name);
  }
});
