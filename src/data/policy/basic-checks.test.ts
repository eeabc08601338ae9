import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Argon2Job } from '../../argon2/argon2-worker.ts';
import { BasicChecks, type Shown } from './basic-checks.ts';
import { BasicGuesses, GUESS_WINDOW_MS, GUESSES } from './basic-guesses.ts';

/** Checks whose argon2id answers when told to: the right password is `right`. */
function held(): { checks: BasicChecks; jobs: Argon2Job[]; answerAll(): void } {
  const jobs: Argon2Job[] = [];
  const waiting: Array<() => void> = [];
  const checks = new BasicChecks((job) => {
    jobs.push(job);
    return new Promise((resolve) => waiting.push(() => resolve(job.password === 'right')));
  });
  return { checks, jobs, answerAll: () => waiting.splice(0).forEach((answer) => answer()) };
}

const shown = (password: string, over: Partial<Shown> = {}): Shown => ({
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
  answerAll();
  assert.deepEqual(await Promise.all([first, second]), ['fits', 'fits']);
  assert.equal(checks.check(shown('right')), 'fits');
  const wrong = checks.check(shown('wrong'));
  answerAll();
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
  answerAll();
  assert.equal(await answer, 'wrong');
  assert.equal(jobs.length, 1);
});

test('a burst of guesses counts before any of them is computed', () => {
  const { checks, jobs } = held();
  const answers = Array.from({ length: GUESSES + 2 }, (_, i) => checks.check(shown(`guess ${i}`)));
  assert.deepEqual(answers.slice(GUESSES), [{ wait: 60 }, { wait: 60 }]);
  assert.equal(jobs.length, GUESSES);
});

test('sixteen checks of one tunnel wait and forty-eight of all; what is more is told to come back', async () => {
  const { checks, jobs, answerAll } = held();
  const from = (tunnelId: string, i: number) =>
    checks.check(shown(`guess ${i}`, { tunnelId, address: `192.0.2.${i}` }));
  for (const tunnelId of ['a', 'b', 'c']) {
    for (let i = 0; i < 16; i++) assert.ok(from(tunnelId, i) instanceof Promise);
    assert.equal(from(tunnelId, 16), 'busy');
  }
  assert.equal(from('d', 0), 'busy');
  assert.equal(jobs.length, 48);
  const last = from('c', 15);
  answerAll();
  await last;
  assert.ok(from('d', 0) instanceof Promise);
});

test('a check that fails lets nobody in, and is asked again', async () => {
  let runs = 0;
  const checks = new BasicChecks(() => Promise.reject(new Error(`run ${++runs}`)));
  await assert.rejects(async () => checks.check(shown('right')), /run 1/);
  await assert.rejects(async () => checks.check(shown('right')), /run 2/);
});

test('ten guesses in a minute, each address by itself; a right one is given back', () => {
  const guesses = new BasicGuesses();
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
  const guesses = new BasicGuesses();
  for (let i = 0; i < 20_001; i++) guesses.add(`a${i}`, 0);
  assert.equal(guesses.size, 20_000);
  guesses.add('late', GUESS_WINDOW_MS);
  assert.equal(guesses.size, 1);
});
