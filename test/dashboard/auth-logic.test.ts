/** What the authentication pages compute without a browser. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checkPhrase } from '../../src/dashboard/pages/auth/check-phrase.ts';
import { isSameAddress, passwordFault } from '../../src/dashboard/pages/auth/credentials.ts';
import { addressedStep, placeAt, stepAt, STEP_PATHS } from '../../src/dashboard/pages/auth/step-address.ts';
import { checkPhrase as ofTheTerminal } from '../../src/wire/check-phrase.ts';

test('check phrase: the page computes the words that the terminal shows', () => {
  for (let i = 0; i < 500; i++) {
    const code = randomBytes(32).toString('base64url');
    assert.equal(checkPhrase(code), ofTheTerminal(code));
  }
});

test('check phrase: none for an invalid device code', () => {
  const code = randomBytes(32).toString('base64url');
  for (const wrong of ['', code.slice(1), `${code}A`, '"><img src=x onerror=alert(1)>', 'ä'.repeat(43)])
    assert.equal(checkPhrase(wrong), undefined);
});

test('password: minimum length as on the server, counted in characters', () => {
  assert.equal(passwordFault('a'.repeat(12)), null);
  assert.equal(passwordFault('🐢'.repeat(256)), null);
  assert.match(passwordFault('too short') ?? '', /12 to 256 characters\. This one has 9/);
  assert.match(passwordFault('🐢'.repeat(11)) ?? '', /This one has 11/);
  assert.match(passwordFault('a'.repeat(257)) ?? '', /This one has 257/);
});

test('step address: steps without a secret have one, and each address shows its step', () => {
  for (const [step, path] of Object.entries(STEP_PATHS)) assert.equal(stepAt(path), step);
  assert.equal(stepAt('/tunnels'), undefined);
  const start = { step: 'login' } as const;
  assert.deepEqual(placeAt('sign-up', start), { step: 'sign-up' });
  assert.deepEqual(placeAt('forgot', start), { step: 'forgot' });
  assert.deepEqual(placeAt(undefined, { step: 'sign-up' }), start, 'one step back');
});

test('step address: a step keeps its data, and a code needs its password', () => {
  for (const place of [
    { step: 'confirm', password: 'x' },
    { step: 'forgot', problem: 'why' },
    { step: 'sent' },
    { step: 'second', challenge: 'a.b' },
  ] as const)
    assert.equal(placeAt(addressedStep(place), place), place);
  const reloaded = placeAt('confirm', { step: 'login' });
  assert.equal(reloaded.step, 'login');
  assert.match('problem' in reloaded ? (reloaded.problem ?? '') : '', /Then enter the code/);
});

test('email address: compared without case, as on the server', () => {
  assert.ok(isSameAddress('Bob@Example.test', ' bob@example.TEST'));
  assert.ok(!isSameAddress('bob@example.test', 'bob@example.test.evil.test'));
});

test('step address: the choice of an invited user has none', () => {
  assert.equal(addressedStep({ step: 'choice' }), undefined);
});
