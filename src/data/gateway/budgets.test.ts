import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Budget } from '../../plane/spend.ts';
import { Budgets } from './budgets.ts';

const NOVEMBER = Date.UTC(2026, 10, 30, 23, 59, 59);
const DECEMBER = Date.UTC(2026, 11, 1);
const REST_MS = 30_000;
/** At 10 cents per GB. */
const CENT = 100_000_000;

class Fixture {
  nowMs = NOVEMBER;
  reported = true;
  readonly budgets = new Budgets({
    prices: { centsPerGb: 10, centsPerMillionRequests: 1_000_000 },
    now: () => this.nowMs,
    isReported: () => this.reported,
  });
}

function budget(accountId: string, capCents: number | null, over: Partial<Budget> = {}): Budget {
  return { accountId, month: '2026-11', spentCents: 0, capCents, ...over };
}

/** Begins a fixture in which `token` has one session. */
function entered(...budgets: Budget[]): Fixture {
  const fixture = new Fixture();
  fixture.budgets.enter('token', budgets);
  return fixture;
}

describe('a cap', () => {
  test('is reached below, at and above: from its last cent on nothing passes', () => {
    const { budgets } = entered(budget('a', 3));
    const payer = budgets.payerOf('token');
    payer.charge(2 * CENT, 0);
    assert.equal(payer.exhausted, false);
    payer.charge(CENT - 1, 0);
    assert.equal(payer.exhausted, false);
    payer.charge(1, 0);
    assert.equal(payer.exhausted, true);
    payer.charge(CENT, 0);
    assert.equal(payer.exhausted, true);
  });

  test('counts requests too, and what was spent before', () => {
    const { budgets } = entered(budget('a', 10, { spentCents: 8 }));
    const payer = budgets.payerOf('token');
    payer.charge(CENT / 2, 1);
    assert.equal(payer.exhausted, false);
    payer.charge(CENT / 2, 0);
    assert.equal(payer.exhausted, true);
  });

  test('of 0 holds before anything was spent; none never does', () => {
    assert.equal(entered(budget('a', 0)).budgets.payerOf('token').exhausted, true);
    const free = entered(budget('a', null)).budgets.payerOf('token');
    free.charge(1e15, 1e9);
    assert.equal(free.exhausted, false);
  });

  test('that is raised, taken off or lowered counts at once; one of a stranger changes nothing', () => {
    const { budgets } = entered(budget('a', 3));
    const payer = budgets.payerOf('token');
    payer.charge(3 * CENT, 0);
    budgets.change(budget('a', 4));
    assert.equal(payer.exhausted, false);
    budgets.change(budget('a', 3));
    assert.equal(payer.exhausted, true);
    budgets.change(budget('b', null));
    assert.equal(payer.exhausted, true);
    budgets.change(budget('a', null));
    assert.equal(payer.exhausted, false);
    assert.equal(budgets.size, 1);
  });
});

describe('an account', () => {
  test('is shared by all keys of a lineage, and a master key by all that it minted', () => {
    const { budgets } = new Fixture();
    budgets.enter('old', [budget('lineage', null), budget('master', 2)]);
    budgets.enter('new', [budget('lineage', null), budget('master', 2)]);
    budgets.enter('sibling', [budget('other', null), budget('master', 2)]);
    budgets.enter('stranger', [budget('stranger', 2)]);
    const exhausted = (): string[] =>
      ['old', 'new', 'sibling', 'stranger'].filter((id) => budgets.payerOf(id).exhausted);
    budgets.payerOf('new').charge(CENT, 0);
    budgets.payerOf('sibling').charge(CENT, 0);
    assert.deepEqual(exhausted(), ['old', 'new', 'sibling']);
    budgets.change(budget('master', null));
    assert.deepEqual(exhausted(), []);
    budgets.change(budget('lineage', 1));
    assert.deepEqual(exhausted(), ['old', 'new']);
    // One cap that is raised does not undo another.
    budgets.change(budget('master', 2));
    budgets.change(budget('lineage', null));
    assert.deepEqual(exhausted(), ['old', 'new', 'sibling']);
  });

  test('keeps what it knows when a grant knows less, and learns when it knows more', () => {
    const { budgets } = entered(budget('a', 3));
    const payer = budgets.payerOf('token');
    payer.charge(2 * CENT, 0);
    budgets.enter('token', [budget('a', 3, { spentCents: 1 })]);
    payer.charge(CENT, 0);
    assert.equal(payer.exhausted, true);
    budgets.enter('token', [budget('a', 9, { spentCents: 8 })]);
    assert.equal(payer.exhausted, false);
    payer.charge(CENT, 0);
    assert.equal(payer.exhausted, true);
  });

  test('begins at nothing in a new UTC month, by the clock or by a grant, and a clock that goes back begins none', () => {
    const fixture = entered(budget('a', 1), budget('b', 0));
    const payer = fixture.budgets.payerOf('token');
    fixture.budgets.enter('other', [budget('a', 1)]);
    const other = fixture.budgets.payerOf('other');
    other.charge(CENT, 0);
    fixture.nowMs = DECEMBER - 1;
    fixture.budgets.sweep();
    assert.equal(other.exhausted, true);
    fixture.nowMs = DECEMBER;
    fixture.budgets.sweep();
    assert.equal(other.exhausted, false);
    assert.equal(payer.exhausted, true, 'a cap of 0 knows no months');
    other.charge(CENT, 0);
    fixture.nowMs = NOVEMBER;
    fixture.budgets.sweep();
    assert.equal(other.exhausted, true);
    fixture.budgets.enter('other', [budget('a', 1, { spentCents: 1 })]);
    fixture.budgets.enter('other', [budget('a', 1, { month: '2027-01' })]);
    assert.equal(other.exhausted, false);
  });
});

describe('a clock that jumps over the first of a month', () => {
  test('and back finds what was spent, also while an agent stays connected', () => {
    const fixture = entered(budget('a', 1));
    fixture.nowMs = Date.UTC(2026, 10, 21);
    const payer = fixture.budgets.payerOf('token');
    payer.charge(CENT, 0);
    fixture.nowMs = Date.UTC(2026, 11, 2);
    fixture.budgets.sweep();
    assert.equal(payer.exhausted, false);
    payer.charge(CENT / 2, 0);
    fixture.nowMs = Date.UTC(2026, 10, 21);
    fixture.budgets.sweep();
    assert.equal(payer.exhausted, true);
    fixture.nowMs = DECEMBER;
    fixture.budgets.sweep();
    payer.charge(CENT / 2, 0);
    assert.equal(payer.exhausted, true, 'what December had spent is not forgotten either');
  });

  test('twice and back is put right by the next word of the control plane', () => {
    for (const told of ['grant', 'cap'] as const) {
      const fixture = entered(budget('a', 1, { spentCents: 1 }));
      fixture.nowMs = Date.UTC(2026, 10, 21);
      const payer = fixture.budgets.payerOf('token');
      for (const month of [11, 12, 10]) {
        fixture.nowMs = Date.UTC(2026, month, 2);
        fixture.budgets.sweep();
      }
      assert.equal(payer.exhausted, false, 'the present month was forgotten');
      if (told === 'grant') fixture.budgets.enter('token', [budget('a', 1, { spentCents: 1 })]);
      else fixture.budgets.change(budget('a', 1, { spentCents: 1 }));
      assert.equal(payer.exhausted, true);
    }
  });

  test('a grant of the last month that comes late takes nothing from the new one', () => {
    const fixture = entered(budget('a', 1));
    const payer = fixture.budgets.payerOf('token');
    fixture.nowMs = DECEMBER;
    fixture.budgets.sweep();
    payer.charge(CENT, 0);
    fixture.budgets.enter('token', [budget('a', 1, { spentCents: 0.5 })]);
    fixture.budgets.sweep();
    assert.equal(payer.exhausted, true);
  });
});

describe('sessions', () => {
  test('a key that comes back finds what it had spent, until that is stored and some time has passed', () => {
    const fixture = entered(budget('a', 1));
    fixture.nowMs = Date.UTC(2026, 10, 21);
    const { budgets } = fixture;
    const payer = budgets.payerOf('token');
    budgets.enter('token', [budget('a', 1)]);
    budgets.leave('token');
    budgets.leave('token');
    // Counted a moment after the session.
    payer.charge(CENT, 0);
    fixture.reported = false;
    fixture.nowMs += REST_MS;
    budgets.sweep();
    budgets.enter('token', [budget('a', 1)]);
    assert.equal(budgets.payerOf('token'), payer);
    assert.equal(payer.exhausted, true);
    budgets.leave('token');
    fixture.reported = true;
    fixture.nowMs += REST_MS - 1;
    budgets.sweep();
    assert.equal(budgets.size, 1, 'a grant may be under way still');
    fixture.nowMs += 1;
    budgets.sweep();
    assert.equal(budgets.size, 0);
    assert.throws(() => budgets.payerOf('token'));
  });

  test('an account stays while one of its keys has a session', () => {
    const fixture = entered(budget('a', 1), budget('master', 1));
    const { budgets } = fixture;
    fixture.nowMs = Date.UTC(2026, 10, 21);
    budgets.enter('sibling', [budget('b', 1), budget('master', 1)]);
    budgets.payerOf('token').charge(CENT / 2, 0);
    budgets.leave('token');
    fixture.nowMs += REST_MS;
    budgets.sweep();
    assert.equal(budgets.size, 2);
    budgets.payerOf('sibling').charge(CENT / 2, 0);
    assert.equal(budgets.payerOf('sibling').exhausted, true);
  });

  test('those that left are bounded: the oldest is forgotten first', () => {
    const fixture = new Fixture();
    fixture.reported = false;
    for (let i = 0; i < 10_001; i++) {
      fixture.budgets.enter(`t${i}`, [budget(`a${i}`, 1)]);
      fixture.budgets.leave(`t${i}`);
    }
    assert.equal(fixture.budgets.size, 10_000);
    assert.throws(() => fixture.budgets.payerOf('t0'));
    assert.equal(fixture.budgets.payerOf('t1').exhausted, false);
  });
});
