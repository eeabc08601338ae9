import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given } from './given.ts';

test('given: fields without a value are left out, null and empty ones stay', () => {
  const fields = given({ name: '', port: 0, note: null, secret: undefined });
  assert.deepEqual(Object.entries(fields), [
    ['name', ''],
    ['port', 0],
    ['note', null],
  ]);
});
