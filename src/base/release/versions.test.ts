import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from './versions.ts';

test('versions: are in the order of semver', () => {
  const ordered =
    '0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-rc.2 1.0.0-rc.11 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0';
  const versions = ordered.split(' ');
  for (const [at, one] of versions.entries()) {
    for (const [other, two] of versions.entries()) {
      assert.equal(Math.sign(compareVersions(one, two) ?? NaN), Math.sign(at - other), `${one} and ${two}`);
    }
  }
});

test('versions: what is built from the same version is no newer one, and other words have no order', () => {
  assert.equal(compareVersions('1.0.0+a', '1.0.0+b'), 0);
  for (const word of ['', '1.0', 'v1.0.0', '1.0.0-', 'latest']) assert.equal(compareVersions(word, '1.0.0'), undefined);
});
