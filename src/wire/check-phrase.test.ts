/** The phrase that a page and a terminal show for one code: both must come to the same, also in years to come. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checkPhrase, DEVICE_CODE, WORDS } from './check-phrase.ts';

test('the list has 256 plain words, none twice', () => {
  assert.equal(WORDS.length, 256);
  assert.equal(new Set(WORDS).size, 256);
  for (const word of WORDS) assert.match(word, /^[a-z]{3,8}$/);
});

test('a phrase is what the header of the file says: SHA-256 of the text, three bytes, three words', () => {
  const code = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(code).digest();
  assert.equal(checkPhrase(code), `${WORDS[a]}-${WORDS[b]}-${WORDS[c]}`);
});

test('phrases of known codes never change', () => {
  assert.equal(checkPhrase('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'), 'banjo-acorn-flute');
  assert.equal(checkPhrase('__________________________________________8'), 'boot-door-ginger');
});

test('a device code is 32 bytes in base64url and nothing else', () => {
  for (let i = 0; i < 200; i++) assert.match(randomBytes(32).toString('base64url'), DEVICE_CODE);
  const code = randomBytes(32).toString('base64url');
  for (const wrong of [code.slice(1), `${code}A`, `${code}=`, `+${code.slice(1)}`, ` ${code}`, '']) {
    assert.doesNotMatch(wrong, DEVICE_CODE);
  }
});
