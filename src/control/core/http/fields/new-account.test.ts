import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutUnseen } from '../../rules/unseen-signs.ts';
import { plainName } from './new-account.ts';

// biome-ignore format: a list to be scanned
const BAD = ['\u0000', '\u001b', '\n', '\r', '\u0085', '\u061c', '\u200b', '\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202e', '\u2060', '\u2066', '\u2067', '\u2068', '\u2069', '\ufeff'];

for (const sign of BAD) {
  test(`a name with U+${sign.codePointAt(0)?.toString(16).padStart(4, '0')} is refused, and blanked where a provider says it`, () => {
    assert.equal(plainName.safeParse(`Ann${sign}moc.knab`).success, false);
    assert.equal(withoutUnseen(`Ann${sign}${sign}moc.knab${sign}`), 'Ann moc.knab');
  });
}

test('names of all scripts are taken as they are', () => {
  for (const name of ['Ann', 'Łukasz Żółć', '山田 太郎', 'علی‌رضا', 'שרה', '👩‍🚀 & co', 'O’Neil (née Ó)', '']) {
    assert.equal(plainName.parse(name), name);
    assert.equal(withoutUnseen(name), name);
  }
});
