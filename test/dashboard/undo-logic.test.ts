/** Undo of the dashboard: what it restores, when it refuses, and for how long it is offered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../src/dashboard/api/failure.ts';
import { restored, type Saved } from '../../src/dashboard/pages/inspector/filters/saved.ts';
import { isUndoable } from '../../src/dashboard/pages/members/roles.ts';
import { type Clock, Expiry, OFFERED_MS } from '../../src/dashboard/parts/undo/expiry.ts';
import { isSame, undoOf } from '../../src/dashboard/parts/undo/undo.ts';

interface Key {
  readonly name: string;
  readonly quota: number;
  readonly names: readonly string[];
}

const BEFORE: Key = { name: 'ci', quota: 5, names: ['a', 'b'] };
const AFTER: Key = { name: 'ci', quota: 2, names: ['a'] };

function undoing({ now, after = AFTER }: { now: Key | undefined; after?: Key }) {
  const written: Array<Partial<Key>> = [];
  const undo = undoOf<Key, keyof Key>({
    before: BEFORE,
    after,
    fields: ['name', 'quota', 'names'],
    read: async () => now,
    write: async (former) => written.push(former),
  });
  return { undo, written };
}

test('undo: restores the former values of the fields that the action changed', async () => {
  const { undo, written } = undoing({ now: { ...AFTER, names: ['a'] } });
  await undo?.();
  assert.deepEqual(written, [{ quota: 5, names: ['a', 'b'] }]);
});

test('undo: keeps what another member has changed beside the action', async () => {
  const { undo, written } = undoing({ now: { ...AFTER, name: 'build' } });
  await undo?.();
  assert.deepEqual(written, [{ quota: 5, names: ['a', 'b'] }]);
});

test('undo: writes nothing after a later change of the same value', async () => {
  for (const now of [{ ...AFTER, quota: 3 }, { ...AFTER, names: ['a', 'c'] }, BEFORE, undefined]) {
    const { undo, written } = undoing({ now });
    assert.ok(undo !== undefined);
    await assert.rejects(undo, (error) => error instanceof Failure && error.code === 'changed_meanwhile');
    assert.deepEqual(written, []);
  }
});

test('undo: an action that changed nothing has none', () => {
  assert.equal(undoing({ now: BEFORE, after: { ...BEFORE } }).undo, undefined);
});

test('undo: JSON values are compared by content, entries in their order', () => {
  assert.ok(isSame({ a: 1, b: [null, { c: 'x' }] }, { b: [null, { c: 'x' }], a: 1 }));
  for (const [one, other] of [
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
    [['a'], ['a', 'a']],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [[], {}],
    [null, {}],
    [0, null],
    ['1', 1],
  ])
    assert.equal(isSame(one, other) || isSame(other, one), false, JSON.stringify([one, other]));
});

/** A clock that the test moves. */
function fakeClock() {
  let now = 1000;
  let timer: { at: number; run: () => void } | undefined;
  const clock: Clock = {
    now: () => now,
    after: (ms, run) => {
      assert.equal(timer, undefined, 'one timer at a time');
      const set = { at: now + ms, run };
      timer = set;
      return () => {
        if (timer === set) timer = undefined;
      };
    },
  };
  const pass = (ms: number): void => {
    now += ms;
    if (timer === undefined || timer.at > now) return;
    const { run } = timer;
    timer = undefined;
    run();
  };
  return { clock, pass };
}

function offered() {
  const { clock, pass } = fakeClock();
  let ends = 0;
  const expiry = new Expiry(() => {
    ends += 1;
  }, clock);
  return { expiry, pass, ends: () => ends };
}

test('undo notice: ends once, after ten seconds', () => {
  const { pass, ends } = offered();
  pass(OFFERED_MS - 1);
  assert.equal(ends(), 0);
  pass(1);
  pass(OFFERED_MS);
  assert.equal(ends(), 1);
});

test('undo notice: stays while it is hovered or focused, and then for the rest of its time', () => {
  const { expiry, pass, ends } = offered();
  pass(4000);
  expiry.hold('hover');
  expiry.hold('focus');
  pass(60_000);
  expiry.release('hover');
  pass(60_000);
  assert.equal(ends(), 0, 'the focus holds it');
  expiry.release('focus');
  pass(5999);
  assert.equal(ends(), 0);
  pass(1);
  assert.equal(ends(), 1);
});

test('undo notice: three seconds are left after a hold at the end', () => {
  const { expiry, pass, ends } = offered();
  pass(OFFERED_MS - 1);
  expiry.hold('focus');
  expiry.release('focus');
  pass(2999);
  assert.equal(ends(), 0);
  pass(1);
  assert.equal(ends(), 1);
});

test('undo notice: a release without a hold changes nothing, and a stopped one never ends', () => {
  const { expiry, pass, ends } = offered();
  expiry.release('hover');
  pass(OFFERED_MS - 1);
  expiry.stop();
  pass(OFFERED_MS);
  assert.equal(ends(), 0);
});

test('undo of a role: not where keys or invitations are gone with it', () => {
  const none = { revokedKeys: 0 };
  assert.ok(isUndoable({ from: 'viewer', to: 'admin', ...none }));
  assert.ok(isUndoable({ from: 'admin', to: 'owner', ...none }));
  assert.ok(isUndoable({ from: 'member', to: 'viewer', ...none }));
  assert.ok(!isUndoable({ from: 'member', to: 'viewer', revokedKeys: 1 }));
  assert.ok(!isUndoable({ from: 'admin', to: 'member', ...none }));
  assert.ok(!isUndoable({ from: 'owner', to: 'admin', ...none }));
});

test('undo of a saved filter: it is back at its place, unless its name is taken or the list is full', () => {
  const of = ['a', 'b', 'c'].map((name): Saved => ({ name, search: 'method=GET' }));
  const without = of.filter(({ name }) => name !== 'b');
  assert.deepEqual(restored(without, { of, name: 'b' }), of);
  assert.equal(restored(of, { of, name: 'b' }), undefined);
  const full = Array.from({ length: 20 }, (_, index): Saved => ({ name: `f${index}`, search: 'method=GET' }));
  assert.equal(restored(full, { of, name: 'b' }), undefined);
});
