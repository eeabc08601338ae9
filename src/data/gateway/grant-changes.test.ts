import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testGrant } from '../fixtures/link.ts';
import { GrantChanges } from './grant-changes.ts';

const budget = { month: '2026-11', spentCents: 0, capCents: null };
const grant = testGrant('token', {
  orgId: 'org',
  budgets: [
    { ...budget, accountId: 'lineage' },
    { ...budget, accountId: 'master' },
  ],
});

test('grant: it is out of date after a change of its token, its accounts or its organization alone', () => {
  for (const [id, concerned] of [
    ['token', true],
    ['lineage', true],
    ['master', true],
    ['org', true],
    ['another', false],
  ] as const) {
    const changes = new GrantChanges();
    changes.add(id);
    assert.equal(changes.concern(grant, 0), concerned, id);
    assert.equal(changes.concern(grant, changes.count), false, 'asked for afterwards');
  }
});

test('grant: a change for all outdates every earlier question', () => {
  const changes = new GrantChanges();
  changes.addAll();
  assert.equal(changes.concern(grant, 0), true);
  assert.equal(changes.concern(grant, changes.count), false);
});

test('grant: the last change of an id counts, and forgotten changes count for all', () => {
  const changes = new GrantChanges();
  changes.add('token');
  const asked = changes.count;
  for (let i = 0; i < 9_999; i++) changes.add(`other-${i}`);
  assert.equal(changes.concern(grant, asked), false);
  assert.equal(changes.concern(grant, 0), true);
  changes.add('token');
  assert.equal(changes.concern(grant, asked), true);
  const later = changes.count - 5_000;
  for (let i = 0; i < 4_000; i++) changes.add(`more-${i}`);
  assert.equal(changes.concern(testGrant('stranger', { orgId: 'theirs' }), later), false);
  assert.equal(changes.concern(testGrant('stranger', { orgId: 'theirs' }), asked), true);
});
