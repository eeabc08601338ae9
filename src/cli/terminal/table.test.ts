import assert from 'node:assert/strict';
import { test } from 'node:test';
import { span } from './paint.ts';
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

test('a cell may have a colour, which moves no column', () => {
  const rows = [
    [span('live', 'green'), 'a'],
    ['ended', 'b'],
  ];
  assert.deepEqual(tableLines(['status', 'nonce'], rows), ['STATUS  NONCE', 'live    a', 'ended   b']);
  const colored = tableLines(['status', 'nonce'], rows, true);
  assert.deepEqual(colored, ['STATUS  NONCE', '\u001b[32mlive\u001b[39m    a', 'ended   b']);
});
