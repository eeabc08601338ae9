/** With the threads of the product and at its cost; other tests have a hasher of their own (test/harness/quick-hasher.ts). */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { DECOY, Passwords } from './passwords.ts';

let passwords: Passwords;
beforeEach(() => {
  passwords = new Passwords();
});
afterEach(() => passwords.close());

const costOf = (hash: string): string => hash.split('$').slice(1, 4).join(' ');

test('a password is hashed at full cost, and so is what an unknown address is compared with', async () => {
  const stored = await passwords.hash('correct horse');
  assert.equal(costOf(stored), 'argon2id v=19 m=19456,t=2,p=1');
  assert.equal(costOf(DECOY), costOf(stored));
});

test('it fits in whatever form a keyboard writes it, and no other does', async () => {
  const stored = await passwords.hash('Schlu\u0308ssel \uff11');
  assert.equal(await passwords.verify(stored, 'Schl\u00fcssel 1'), true);
  assert.equal(await passwords.verify(stored, 'Schlussel 1'), false);
});

test('where nothing is stored nothing fits, and it is computed all the same', async () => {
  const jobs: unknown[] = [];
  const counted = new Passwords(() => ({
    waiting: 0,
    run: async (job) => jobs.push(job) > 0,
    close: () => {},
  }));
  assert.equal(await counted.verify(null, 'x'), false);
  assert.deepEqual(jobs, [{ kind: 'verify', password: 'x', stored: DECOY }]);
  assert.equal(await passwords.verify(null, 'x'), false);
});
