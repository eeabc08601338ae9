/** The glossary is a table in which a reader finds a term by its first letters, once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { tableUnder } from './harness/docs.ts';

const rows = tableUnder(readFileSync(new URL('../docs/glossary.md', import.meta.url), 'utf8'), 'Glossary');

test('docs: the glossary lists each term once, in alphabetical order', () => {
  const terms = rows.map(([term = '']) => term.toLowerCase());
  assert.ok(terms.includes('tunnel'), 'the table was found');
  assert.deepEqual(terms, [...new Set(terms)].toSorted());
});

test('docs: each term of the glossary has a meaning and says what others call it', () => {
  for (const row of rows) {
    assert.equal(row.length, 4, row.join(' | '));
    assert.ok(!row.includes(''), row.join(' | '));
  }
});
