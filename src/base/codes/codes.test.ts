/** The catalogue of codes: what the places that show its texts rely on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_ERRORS } from './api-errors.ts';
import { explain } from './code-text.ts';
import { EDGE_FAULTS, edgeFault } from './edge-faults.ts';

test('codes: every text is whole sentences, and a label has at most three words', () => {
  for (const [code, one] of [...Object.entries(EDGE_FAULTS), ...Object.entries(API_ERRORS)])
    assert.match(explain(one), /^[A-Z][^\n]*\.$/, code);
  for (const [code, { label }] of Object.entries(EDGE_FAULTS)) assert.match(label, /^[A-Z]\S*( \S+){0,2}$/, code);
});

test('edge fault: undefined when the code is unknown, also for names that every object has', () => {
  assert.equal(edgeFault('denied')?.status, 403);
  for (const code of ['of_a_newer_server', 'constructor', '__proto__']) assert.equal(edgeFault(code), undefined);
});
