/** Nothing holds the thread for long: filters stop by the clock and go on where they stopped, and deleting goes in slices. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openUsageFile } from '../../open.ts';
import type { Sqlite } from '../../sqlite.ts';
import { Deletions } from '../deletions.ts';
import { TABLES } from '../form.ts';
import { forgetTunnel } from '../holdings.ts';
import { prepareInsert } from '../insert.ts';
import { list, type Looking } from '../list.ts';
import { pack } from '../pack.ts';
import type { RecordPage } from '../records.ts';
import { ANN, BLOG, recorded, SHOP, usageFolder } from '../testing.ts';

const DOCS = '00000000-0000-7000-8000-0000000000a3';
const COUNT = 6_000;
const START = Date.UTC(2026, 0, 1);
/** One in a thousand is what is looked for. */
const isRare = (i: number): boolean => i % 1_000 === 7;

/** A file with many records of two tunnels, a millisecond apart. */
function filled(t: TestContext): { sqlite: Sqlite; ids: string[] } {
  const sqlite = openUsageFile(join(usageFolder(t), 'usage.db'));
  t.after(() => sqlite.close());
  sqlite.exec(TABLES);
  const insert = prepareInsert(sqlite);
  const records = Array.from({ length: COUNT }, (_, i) =>
    recorded({ at: START + i, tunnelId: i % 4 === 0 ? BLOG : SHOP, status: isRare(i) ? 500 : 200 }),
  );
  for (let i = 0; i < COUNT; i += 500) insert(pack(records.slice(i, i + 500), { unrecorded: [], minute: 1 }));
  return { sqlite, ids: records.filter((_, i) => isRare(i)).map(({ id }) => id) };
}

/** Follows `stoppedAt` to the end. */
function goOn(sqlite: Sqlite, filter: Looking): { found: string[]; stops: number } {
  const found: string[] = [];
  let stops = 0;
  let page: RecordPage = { items: [], stoppedAt: null };
  do {
    page = list(sqlite, ANN, { ...filter, before: page.stoppedAt ?? undefined });
    found.push(...page.items.map(({ id }) => id));
    if (page.stoppedAt !== null) stops += 1;
  } while (page.stoppedAt !== null);
  return { found, stops };
}

for (const [whose, tunnelId] of [
  ['an organization', undefined],
  ['a tunnel', SHOP],
] as const) {
  test(`what is rare in ${whose} is found in goes that each end by the clock, none missed and none twice`, (t) => {
    const { sqlite, ids } = filled(t);
    const filter = { limit: 100, tunnelId, status: { from: 500, to: 599 } };
    const { found, stops } = goOn(sqlite, { ...filter, budgetMs: 0 });
    assert.deepEqual(found, ids.toReversed());
    assert.ok(stops >= 5, `${stops} stops`);
    const few = goOn(sqlite, { ...filter, pathContains: 'no such thing', budgetMs: 0 });
    assert.deepEqual(few.found, []);
    assert.ok(few.stops >= 5);
    const whole = list(sqlite, ANN, { ...filter, budgetMs: 60_000 });
    assert.deepEqual([whole.items.length, whole.stoppedAt], [ids.length, null]);
  });
}

/** Records that one go may look at when its time is up at once. */
const STRETCH = 500;

test('a list without a filter ends by the clock too where forgotten records lie in its way, and goes on from there', (t) => {
  const { sqlite } = filled(t);
  const oldest = recorded({ at: START - 1, tunnelId: DOCS });
  prepareInsert(sqlite)(pack([oldest], { unrecorded: [], minute: 1 }));
  forgetTunnel(sqlite, ANN, SHOP);
  forgetTunnel(sqlite, ANN, BLOG);
  const { found, stops } = goOn(sqlite, { limit: STRETCH, budgetMs: 0 });
  assert.deepEqual(found, [oldest.id]);
  assert.equal(stops, COUNT / STRETCH);
});

test('so does one of a time, for ids are not in the order of arrival to the millisecond', (t) => {
  const { sqlite } = filled(t);
  for (const tunnelId of [undefined, SHOP]) {
    const { found, stops } = goOn(sqlite, { limit: 500, tunnelId, until: START + 4, budgetMs: 0 });
    assert.equal(found.length, tunnelId === undefined ? 4 : 3);
    assert.ok(stops >= 7, `${stops} stops`);
  }
});

test('a list without anything in its way is full at once', (t) => {
  const { sqlite } = filled(t);
  for (const tunnelId of [undefined, BLOG])
    for (const limit of [1, 500]) {
      const page = list(sqlite, ANN, { limit, tunnelId, budgetMs: 0 });
      assert.deepEqual([page.items.length, page.stoppedAt], [limit, null]);
    }
});

test('a page that gets full does not say that it stopped', (t) => {
  const { sqlite, ids } = filled(t);
  const page = list(sqlite, ANN, { limit: 2, status: { from: 500, to: 500 }, budgetMs: 60_000 });
  assert.deepEqual([page.items.map(({ id }) => id), page.stoppedAt], [ids.toReversed().slice(0, 2), null]);
});

test('lists go by an index, and never through what others have', (t) => {
  const { sqlite } = filled(t);
  const plans: string[] = [];
  const prepare = sqlite.prepare.bind(sqlite);
  t.mock.method(sqlite, 'prepare', (sql: string) => {
    const names = sql.match(/@\w+/g)?.map((name) => [name.slice(1), 1] as const) ?? [];
    const values: unknown[] = names.length > 0 ? [Object.fromEntries(names)] : (sql.match(/\?/g)?.map(() => 1) ?? []);
    const plan = prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    plans.push(...plan.map(({ detail }) => detail));
    return prepare(sql);
  });
  const id = '01a202d1-9f85-76ac-ac55-5074f645909c';
  for (const tunnelId of [undefined, SHOP])
    for (const more of [
      {},
      { method: 'GET' },
      { pathContains: 'a', since: 1, until: 2 },
      { before: id },
      { replayOf: id },
    ])
      list(sqlite, ANN, { limit: 10, tunnelId, ...more });
  assert.ok(plans.length >= 20);
  assert.deepEqual(
    plans.filter((detail) => /SCAN/.test(detail)),
    [],
  );
  const sorting = plans.filter((detail) => /TEMP B-TREE/.test(detail));
  assert.ok(sorting.length <= 2, `only replays, which are few, are sorted: ${plans.join('; ')}`);
});

test('deleting many takes many slices, of which none does all, and says when it is done', (t) => {
  const { sqlite } = filled(t);
  const deletions = new Deletions(sqlite, 2 ** 40);
  const pass = { keeping: [{ orgId: ANN, since: START + COUNT - 10 }], next: 0 };
  const sizes: number[] = [];
  for (let done = false; !done; ) {
    const slice = deletions.sweep(pass);
    sizes.push(slice.deleted);
    ({ done } = slice);
  }
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    COUNT - 10,
  );
  assert.ok(sizes.length > 3 && Math.max(...sizes) < COUNT / 2, sizes.join());
  assert.equal(list(sqlite, ANN, { limit: 500 }).items.length, 10);
  for (const table of ['records', 'details'])
    assert.equal(sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 10, table);
});

test('free pages are given back to the disk once they are many', (t) => {
  const { sqlite } = filled(t);
  const insert = prepareInsert(sqlite);
  const large = Array.from({ length: 400 }, (_, i) =>
    recorded({ at: START - 1_000 + i, responseBody: Buffer.alloc(60_000) }),
  );
  for (let i = 0; i < 400; i += 50) insert(pack(large.slice(i, i + 50), { unrecorded: [], minute: 1 }));
  const pages = (): number => Number(sqlite.pragma('page_count', { simple: true }));
  const before = pages();
  const deletions = new Deletions(sqlite, 2 ** 40);
  const pass = { keeping: [{ orgId: ANN, since: START }], next: 0 };
  while (!deletions.sweep(pass).done);
  const free = Number(sqlite.pragma('freelist_count', { simple: true }));
  assert.ok(pages() < before - 900 && free < 2_048, `${before} pages, then ${pages()}, ${free} free`);
});
