/** Passwords of agents' flags: a key that asks for very many takes neither the turns of others nor those of log-ins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { Plane } from '../../core/testing/plane.ts';
import { GateHashes } from './gate-hashes.ts';

/** Hashes that end when the test says so, in the order in which they began. */
class Hasher {
  readonly begun: string[] = [];
  readonly #ends: Array<() => void> = [];

  hash(password: string): Promise<string> {
    this.begun.push(password);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#ends.push(() => resolve(`hash of ${password}`));
    return promise;
  }

  async end(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise(setImmediate);
  }
}

test('gate hashes: two are computed at a time, and organizations take turns', async () => {
  const hasher = new Hasher();
  const hashes = new GateHashes(hasher);
  const greedy = Array.from({ length: 5 }, (_, n) => hashes.hash(`a${n}`, ['a', `key ${n}`]));
  const other = hashes.hash('b', ['b', 'key']);
  assert.deepEqual(hasher.begun, ['a0', 'a1']);
  await hasher.end();
  await hasher.end();
  assert.deepEqual(hasher.begun, ['a0', 'a1', 'a2', 'b']);
  for (let i = 0; i < 4; i++) await hasher.end();
  assert.deepEqual(await Promise.all([...greedy, other]), [
    ...['a0', 'a1', 'a2', 'a3', 'a4'].map((password) => `hash of ${password}`),
    'hash of b',
  ]);
});

test('gate hashes: where too many wait, the caller that has most gives way', async () => {
  const hasher = new Hasher();
  const hashes = new GateHashes(hasher);
  const greedy = Array.from({ length: 1_002 }, (_, n) => hashes.hash(`a${n}`, ['a', 'key']));
  await assert.rejects(hashes.hash('one more', ['a', 'key']), { code: 'unavailable' });
  const other = hashes.hash('b', ['b', 'key']);
  await assert.rejects(greedy.at(-1) as Promise<string>, { code: 'unavailable' });
  while (!hasher.begun.includes('b')) await hasher.end();
  assert.ok(hasher.begun.length < 8);
  while (hasher.begun.length < 1_002) await hasher.end();
  await hasher.end();
  await hasher.end();
  assert.equal(await other, 'hash of b');
  await Promise.all(greedy.slice(0, -1));
});

test('gate hashes: one that fails gives its place back', async () => {
  let calls = 0;
  const hashes = new GateHashes({ hash: () => (++calls, Promise.reject(new Error('broken'))) });
  for (let i = 0; i < 5; i++) await assert.rejects(hashes.hash('x', ['a', 'key']), /broken/);
  assert.equal(calls, 5);
});

test('gate hashes: claims leave the line of log-ins free, and one password is hashed once', async (t) => {
  const hasher = makeQuickHasher();
  let [hashed, underWay, most] = [0, 0, 0];
  const makeHasher = (): typeof hasher => ({
    waiting: 0,
    close: () => hasher.close(),
    run: async (job) => {
      hashed++;
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return hasher.run(job);
    },
  });
  const p = new Plane(undefined, { makeHasher });
  t.after(() => p.close());
  const ann = await p.person('ann@example.test');
  [hashed, most] = [0, 0];
  const keys = ['one', 'two'].map((name) => p.mint(ann, { name }));
  const claims = Array.from({ length: 40 }, (_, n) => {
    const narrow = { basic_auth: { username: 'ann', password: `password ${Math.floor(n / 4)}` } };
    return p.claim(keys[n % 2] as (typeof keys)[0], { subdomain: 'shop', narrow });
  });
  assert.ok((await Promise.all(claims)).every(({ ok }) => ok));
  assert.deepEqual([hashed, most], [10, 2]);
});
