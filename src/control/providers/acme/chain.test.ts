/** What an authority issued is checked before it is served. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import { makeTestCa } from '../../../../test/harness/ca.ts';
import type { PlayedAuthority } from '../../../../test/harness/played-authority.ts';
import { failureOf, NAME, start } from './testing.ts';

interface WrongCertificate {
  readonly name: string;
  readonly certificate: PlayedAuthority['certificate'];
  readonly message: RegExp;
}

const now = Date.now();
// biome-ignore format: a table
const WRONG: readonly WrongCertificate[] = [
  { name: 'for another name', certificate: { names: ['bank.example.test'] }, message: /is for DNS:bank\.example\.test and not for shop\.example\.test/ },
  { name: 'for one name more', certificate: { names: [NAME, 'bank.example.test'] }, message: /is for DNS:shop.example.test, DNS:bank/ },
  { name: 'for a wildcard', certificate: { names: ['*.example.test'] }, message: /is for DNS:\*\.example\.test/ },
  { name: 'that is over', certificate: { notBefore: new Date(now - 2 * DAY_MS), notAfter: new Date(now - HOUR_MS) }, message: /Correct the clock/ },
  { name: 'of tomorrow', certificate: { notBefore: new Date(now + DAY_MS), notAfter: new Date(now + 2 * DAY_MS) }, message: /Correct the clock/ },
  { name: 'that is none', certificate: { chain: () => 'hello' }, message: /contains no certificate/ },
  { name: 'that is broken', certificate: { chain: () => '-----BEGIN CERTIFICATE-----\naaaa\n-----END CERTIFICATE-----\n' }, message: /can't be read/ },
  { name: 'nine times', certificate: { chain: (leaf) => leaf.repeat(9) }, message: /comes with a chain of 8 certificates, which is too long/ },
  { name: 'twice', certificate: { chain: (leaf) => leaf.repeat(2) }, message: /not signed by the one after it/ },
];

for (const { name, certificate, message } of WRONG) {
  test(`a certificate ${name} is not believed`, async (t) => {
    const { authority, account, played, order: ordered } = await start(t);
    played.certificate = certificate;
    const error = await failureOf(authority.issue(account, ordered()));
    assert.equal(error.code, 'bad_answer');
    assert.match(error.message, message);
  });
}

test('a certificate for another key is not believed', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  const other = await played.ca.issue({ names: [NAME] });
  played.certificate = { chain: () => other.cert };
  assert.match((await failureOf(authority.issue(account, ordered()))).message, /not for the key that was sent/);
});

test('a chain that does not belong to the certificate is not believed', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  // The same name as the true issuer, and another key.
  const { root } = await makeTestCa();
  played.certificate = { chain: (leaf) => `${leaf}${root}` };
  assert.match((await failureOf(authority.issue(account, ordered()))).message, /not signed by the one after it/);
});

test('what stands between certificates is left out', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  played.certificate = {
    chain: (leaf) => `subject=/CN=x\n${leaf}\r\n-----BEGIN PRIVATE KEY-----\n\u0000${played.ca.root}`,
  };
  const { chain } = await authority.issue(account, ordered());
  assert.match(chain, /^(-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n){2}$/);
});
