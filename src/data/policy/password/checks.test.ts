import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Argon2Job } from '../../../argon2/argon2-worker.ts';
import { BasicChecks, type Shown } from './checks.ts';
import { BasicGuesses, GUESS_WINDOW_MS, GUESSES, NODE_GUESSES } from './guesses.ts';

/** Checks whose argon2id answers when told to: the right password is `right`. */
function held(): { checks: BasicChecks; jobs: Argon2Job[]; busy: () => number; answerAll(): Promise<void> } {
  const jobs: Argon2Job[] = [];
  const waiting: Array<() => void> = [];
  let busy = 0;
  const checks = new BasicChecks(
    (job) => {
      jobs.push(job);
      return new Promise((resolve) => waiting.push(() => resolve(job.password === 'right')));
    },
    () => busy++,
  );
  // Those that had to wait for them begin then.
  const answerAll = async (): Promise<void> => {
    for (const answer of waiting.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { checks, jobs, busy: () => busy, answerAll };
}

const shown = (password: string, over: Partial<Shown> = {}): Shown => ({
  orgId: 'org',
  tunnelId: 'shop',
  gate: { username: 'ann', passwordHash: 'hash', version: '1' },
  credentials: { username: 'ann', password },
  address: '192.0.2.1',
  nowMs: 0,
  ...over,
});

test('the same credentials are computed once, and then known at once', async () => {
  const { checks, jobs, answerAll } = held();
  const [first, second] = [checks.check(shown('right')), checks.check(shown('right', { address: '192.0.2.2' }))];
  assert.ok(first instanceof Promise && second instanceof Promise);
  await answerAll();
  assert.deepEqual(await Promise.all([first, second]), ['fits', 'fits']);
  assert.equal(checks.check(shown('right')), 'fits');
  const wrong = checks.check(shown('wrong'));
  await answerAll();
  assert.equal(await wrong, 'wrong');
  assert.equal(checks.check(shown('wrong')), 'wrong');
  assert.equal(jobs.length, 2);
  // Another version, another tunnel: asked anew.
  for (const over of [{ gate: { ...shown('').gate, version: '2' } }, { tunnelId: 'shed' }])
    assert.ok(checks.check(shown('right', over)) instanceof Promise);
});

test('a wrong name is computed too, and is wrong with the right password', async () => {
  const { checks, jobs, answerAll } = held();
  const answer = checks.check(shown('right', { credentials: { username: 'bob', password: 'right' } }));
  await answerAll();
  assert.equal(await answer, 'wrong');
  assert.equal(jobs.length, 1);
});

test('a burst of guesses counts before any of them is computed', () => {
  const { checks } = held();
  const answers = Array.from({ length: GUESSES + 2 }, (_, i) => checks.check(shown(`guess ${i}`)));
  assert.deepEqual(answers.slice(GUESSES), [{ wait: 60 }, { wait: 60 }]);
  assert.ok(answers.slice(0, GUESSES).every((answer) => answer instanceof Promise));
});

test('sixteen checks of one tunnel wait, ten of an address over all tunnels, and forty-eight of all', () => {
  const { checks } = held();
  const from = (tunnelId: string, i: number, address = `192.0.2.${i}`) =>
    checks.check(shown(`guess ${i}`, { tunnelId, address }));
  for (let i = 0; i < 16; i++) assert.ok(from('a', i) instanceof Promise);
  assert.equal(from('a', 16), 'busy');
  for (let i = 0; i < 10; i++) assert.ok(from(`b${i}`, 0, '198.51.100.1') instanceof Promise);
  assert.equal(from('c', 0, '198.51.100.1'), 'busy');
  assert.ok(from('c', 0, '198.51.100.2') instanceof Promise);
  for (let i = 0; i < 21; i++) assert.ok(from(`d${i}`, 0, `198.51.100.${i + 2}`) instanceof Promise);
});

test('where all is full the longest line gives way to one that is shorter, and that one has its turn', async () => {
  const { checks, jobs, answerAll } = held();
  const from = (tunnelId: string, i: number) =>
    checks.check(shown(`${tunnelId} ${i}`, { tunnelId, address: `192.0.2.${i}` }));
  const storm = ['a', 'b', 'c'].flatMap((tunnelId) => Array.from({ length: 16 }, (_, i) => from(tunnelId, i)));
  assert.ok(storm.every((one) => one instanceof Promise));
  assert.equal(from('c', 16), 'busy');
  const calm = from('calm', 0);
  assert.ok(calm instanceof Promise);
  assert.equal(jobs.length, 4, 'the threads have what they need');
  for (let turn = 0; turn < 2; turn++) await answerAll();
  assert.equal(await calm, 'wrong');
  assert.ok(jobs.length <= 12, `${jobs.length} were begun`);
  for (let turn = 0; turn < 20; turn++) await answerAll();
  const said = await Promise.all(storm);
  assert.equal(said.filter((one) => one === 'busy').length, 1);
  assert.equal(from('b', 15) instanceof Promise, true, 'who gave way may try again');
});

test('an organization with a tunnel for each guess has no more turns and no more places than another', async () => {
  const { checks, jobs, busy, answerAll } = held();
  const from = (orgId: string, i: number) =>
    checks.check(shown(`${orgId} ${i}`, { orgId, tunnelId: `${orgId} ${i}`, address: `192.0.2.${i}` }));
  const storm = Array.from({ length: 48 }, (_, i) => from('storm', i));
  assert.equal(from('storm', 48), 'busy');
  // Four of the storm are under way.
  const calm = Array.from({ length: 22 }, (_, i) => from('calm', i));
  assert.ok(calm.every((one) => one instanceof Promise));
  assert.equal(from('calm', 22), 'busy', 'by then both have the same');
  const third = from('third', 0);
  assert.ok(third instanceof Promise);
  for (let turn = 0; turn < 2; turn++) await answerAll();
  assert.equal(await third, 'wrong');
  assert.ok(jobs.length <= 12, `${jobs.length} were begun`);
  for (let turn = 0; turn < 20; turn++) await answerAll();
  const gaveWay = (await Promise.all([...storm, ...calm])).filter((one) => one === 'busy').length;
  assert.deepEqual([gaveWay, busy()], [23, 25]);
});

test('an address has forty guesses at all tunnels together; another address and right ones are not held up', async () => {
  const { checks, answerAll } = held();
  const from = (tunnelId: string, password: string, address = '192.0.2.1') =>
    checks.check(shown(password, { tunnelId, address }));
  for (let i = 0; i < NODE_GUESSES; i++) {
    for (const password of ['right', 'guess']) {
      const answer = from(`${password} ${i}`, password);
      await answerAll();
      assert.equal(await answer, password === 'right' ? 'fits' : 'wrong');
    }
  }
  assert.deepEqual(from('shop', 'right'), { wait: 60 });
  assert.equal(checks.waitOf('shop', '192.0.2.1', GUESS_WINDOW_MS), 0);
  const other = from('shop', 'right', '192.0.2.2');
  await answerAll();
  assert.equal(await other, 'fits');
});

test('spellings of one password are one check, and wrong ones of a name too', async () => {
  const { checks, jobs, answerAll } = held();
  const wide = 'right'.replaceAll(/./g, (c) => String.fromCodePoint(0xff41 + c.charCodeAt(0) - 97));
  const first = checks.check(shown('right'));
  assert.equal(checks.check(shown(wide)), first);
  await answerAll();
  assert.equal(await first, 'fits');
  assert.equal(checks.check(shown(`r${wide.slice(1)}`)), 'fits');
  assert.equal(jobs.length, 1);
});

test('basic auth: a check that fails allows no visitor, and is repeated', async () => {
  let runs = 0;
  const checks = new BasicChecks(
    () => Promise.reject(new Error(`run ${++runs}`)),
    () => {},
  );
  await assert.rejects(async () => checks.check(shown('right')), /run 1/);
  await assert.rejects(async () => checks.check(shown('right')), /run 2/);
});

test('ten guesses in a minute, each address by itself; a right one is given back', () => {
  const guesses = new BasicGuesses(GUESSES);
  for (let i = 0; i < GUESSES; i++) {
    assert.equal(guesses.waitOf('a', 1_000), 0);
    guesses.add('a', 1_000);
  }
  assert.deepEqual([guesses.waitOf('a', 31_000), guesses.waitOf('b', 31_000)], [30, 0]);
  guesses.giveBack('a');
  assert.equal(guesses.waitOf('a', 31_000), 0);
  guesses.add('a', 31_000);
  assert.deepEqual([guesses.waitOf('a', 31_000), guesses.waitOf('a', 1_000 + GUESS_WINDOW_MS)], [30, 0]);
});

test('a bounded number of addresses is counted: the oldest gives way, those whose minute is over leave', () => {
  const guesses = new BasicGuesses(GUESSES);
  for (let i = 0; i < 20_001; i++) guesses.add(`a${i}`, 0);
  assert.equal(guesses.size, 20_000);
  guesses.add('late', GUESS_WINDOW_MS);
  assert.equal(guesses.size, 1);
});
