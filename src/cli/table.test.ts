import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableLines } from './table.ts';

test('columns are as wide as what is in them, and nothing trails', () => {
  assert.deepEqual(
    tableLines(
      ['name', 'note'],
      [
        ['a', ''],
        ['longer', 'x'],
      ],
    ),
    ['NAME    NOTE', 'a', 'longer  x'],
  );
  assert.deepEqual(tableLines(['name'], []), ['NAME']);
});

test('a name cannot steer the terminal or add a line', () => {
  assert.deepEqual(tableLines(['n'], [['a\u001b[2J\nadmin']]), ['N', 'a?[2J?admin']);
});
