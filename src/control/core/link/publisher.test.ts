import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../base/log.ts';
import { Publisher } from './publisher.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('publisher: a thousand changes of one turn go out in their order, some per turn', async () => {
  const publisher = new Publisher(1, silentLog);
  const told: number[] = [];
  publisher.subscribe(({ version }) => told.push(version));
  for (let i = 0; i < 1_000; i++) publisher.remove(`t${i}`, 'tunnel_deleted', '');
  assert.equal(publisher.version, 2 ** 32 + 1_000, 'numbered at once: a claim names the number that it waits for');
  assert.equal(told.length, 256);
  await turn();
  assert.ok(told.length <= 512);
  while (told.length < 1_000) await turn();
  assert.deepEqual(
    told,
    [...Array(1_000).keys()].map((i) => 2 ** 32 + 1 + i),
  );
  publisher.remove('late', 'tunnel_deleted', '');
  await turn();
  assert.equal(told.at(-1), 2 ** 32 + 1_001);
});

test('publisher: numbers of a later start are above all of an earlier one', () => {
  const first = new Publisher(7, silentLog);
  for (let i = 0; i < 300; i++) first.remove(`t${i}`, 'tunnel_deleted', '');
  assert.ok(new Publisher(8, silentLog).version > first.version);
  assert.ok(Number.isSafeInteger(new Publisher(2 ** 20, silentLog).version));
});

test('publisher: beyond the bound what waits is dropped, and the gap shows', async () => {
  const publisher = new Publisher(1, silentLog);
  const told: number[] = [];
  publisher.subscribe(({ version }) => told.push(version));
  for (let i = 0; i < 100_400; i++) publisher.remove(`t${i}`, 'tunnel_deleted', '');
  while (told.at(-1) !== publisher.version) await turn();
  assert.ok(told.length < 1_000);
  assert.ok(told.some((version, i) => i > 0 && version !== (told[i - 1] ?? 0) + 1));
});
