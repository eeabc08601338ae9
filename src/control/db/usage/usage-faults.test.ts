/** What goes wrong with the file and the thread loses records, and nothing else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mock, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sqlite } from '../sqlite.ts';
import { openUsageFile } from '../open.ts';
import { pack } from './pack.ts';
import type { Answer, Calls, Notice } from './questions.ts';
import { ANN, batch, type LogLine, keptLog, openStore, recorded, SHOP, usageFolder } from './testing.ts';
import { UsageDesk } from './usage-desk.ts';
import { UsageFile } from './usage-file.ts';
import { UsageFault, UsageThread } from './usage-thread.ts';

const many = (count: number) => Array.from({ length: count }, () => recorded());
const named = (dataDir: string, start: string): string[] =>
  readdirSync(dataDir).filter((name) => name.startsWith(start));

/** A desk of this thread; asks and answers at once, or, where so much is written that the log is folded back meanwhile, `later`. */
function openDesk(
  t: TestContext,
  { dataDir = usageFolder(t), maxBytes = 2 ** 30 }: { readonly dataDir?: string; readonly maxBytes?: number } = {},
) {
  const answers: Answer[] = [];
  const notice: Notice[] = [];
  const desk = new UsageDesk({ dataDir, maxBytes }, (message) => {
    if ('notice' in message) notice.push(message);
    else answers.push(message);
  });
  t.after(() => desk.ask({ ref: 0, name: 'close', args: [] }));
  const ask = <Name extends keyof Calls>(name: Name, ...args: Parameters<Calls[Name]>): Answer => {
    desk.ask({ ref: 1, name, args });
    const answer = answers.pop();
    assert.ok(answer !== undefined);
    return answer;
  };
  const later = async <Name extends keyof Calls>(name: Name, ...args: Parameters<Calls[Name]>): Promise<Answer> => {
    desk.ask({ ref: 1, name, args });
    for (;;) {
      const answer = answers.pop();
      if (answer !== undefined) return answer;
      await pause(1);
    }
  };
  const piece = (records: ReturnType<typeof many>) => pack(records, { unrecorded: [], minute: 1 });
  const store = (...records: ReturnType<typeof many>): Answer => ask('store', piece(records));
  const storeLater = (...records: ReturnType<typeof many>): Promise<Answer> => later('store', piece(records));
  return { dataDir, notice, ask, later, store, storeLater };
}

const isOk = (answer: Answer): boolean => answer.ok;
const kind = (answer: Answer): string => (answer.ok ? 'ok' : answer.kind);
const found = (answer: Answer): number => {
  assert.ok(answer.ok, JSON.stringify(answer));
  return (answer.value as { items: unknown[] }).items.length;
};

test('what was stored is there after kill -9 in the middle of writing', { timeout: 120_000 }, async (t) => {
  const dataDir = usageFolder(t);
  const here = (name: string): string => JSON.stringify(new URL(`./${name}.ts`, import.meta.url).href);
  const program = `
    const { UsageStore } = await import(${here('usage-store')});
    const { recorded } = await import(${here('testing')});
    const { silentLog } = await import(${here('../../../base/log')});
    const store = new UsageStore({ dataDir: ${JSON.stringify(dataDir)}, maxBytes: 2 ** 30, clock: Date, log: silentLog });
    for (;;) {
      const records = Array.from({ length: 50 }, () => recorded());
      await store.store({ records, unrecorded: [] });
      process.stdout.write(records.map(({ id }) => id).join(' ') + '\\n');
    }`;
  const writer = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => writer.kill('SIGKILL'));
  const told: string[] = [];
  let lines = 0;
  const reading = createInterface(writer.stdout);
  reading.on('line', (line) => {
    told.push(...line.split(' '));
    if (++lines === 40) writer.kill('SIGKILL');
  });
  await Promise.all([once(writer, 'exit'), once(reading, 'close')]);
  assert.ok(told.length >= 2_000);
  const logged: LogLine[] = [];
  const store = openStore(t, { dataDir, lines: logged });
  for (const id of told.filter((_, i) => i % 50 === 0)) assert.equal((await store.find(ANN, id))?.id, id);
  const there = new Set<string>();
  for (let before: string | undefined; ; ) {
    const { items } = await store.list(ANN, { limit: 500, before });
    if (items.length === 0) break;
    for (const { id } of items) there.add(id);
    before = items.at(-1)?.id;
  }
  assert.deepEqual(
    told.filter((id) => !there.has(id)),
    [],
  );
  assert.deepEqual(logged, []);
  const sqlite = openUsageFile(join(dataDir, 'usage.db'));
  assert.equal(sqlite.pragma('integrity_check', { simple: true }), 'ok');
  sqlite.close();
});

for (const [name, spoil] of [
  ['is no database', (file: string) => writeFileSync(file, 'x'.repeat(10_000))],
  ['has a damaged page', (file: string) => overwrite(file, 8_192)],
] as const) {
  test(`a file that ${name} is moved aside, said, and a new one begun`, async (t) => {
    const { dataDir, store, ask } = openDesk(t);
    assert.ok(isOk(store(...many(300))));
    ask('close');
    spoil(join(dataDir, 'usage.db'));
    const lines: LogLine[] = [];
    const again = openStore(t, { dataDir, lines });
    await again.store(batch(...many(3)));
    assert.equal((await again.list(ANN, { limit: 500 })).items.length, 3);
    assert.deepEqual(again.stats().lost.file, 0);
    assert.match(named(dataDir, 'usage.db.damaged-').join(), /^usage\.db\.damaged-\d{4}-\d\d-\d\dT[\d-]+Z(-wal)?$/);
    assert.equal(lines.length, 1);
    assert.match(`${lines[0]?.level} ${lines[0]?.message}`, /^error usage\.db is damaged/);
  });
}

function overwrite(file: string, from: number): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(400_000, 0xaa), 0, 400_000, from);
  closeSync(fd);
}

for (const [name, put] of [
  ['a directory', (path: string) => mkdirSync(path)],
  ['a link that leads nowhere', (path: string) => symlinkSync('/nonexistent/usage.db', path)],
  ['a link to itself', (path: string) => symlinkSync(path, path)],
] as const) {
  test(`${name} in the place of the file: said, 503 to who reads, and over when it is moved away`, async (t) => {
    const dataDir = usageFolder(t);
    const path = join(dataDir, 'usage.db');
    put(path);
    const lines: LogLine[] = [];
    const store = openStore(t, { dataDir, lines });
    const one = recorded();
    await store.store(batch(one));
    const isUnavailable = { code: 'unavailable' };
    await assert.rejects(store.list(ANN, { limit: 10 }), isUnavailable);
    await assert.rejects(store.find(ANN, one.id), isUnavailable);
    assert.equal(store.stats().lost.file, 1);
    const said = lines.filter(({ message }) => message.startsWith('usage.db is not a file'));
    assert.deepEqual(
      said.map(({ level, fields }) => [level, (fields as Record<string, unknown>)['file']]),
      [['error', path]],
    );
    rmSync(path, { recursive: true });
    await store.store(batch(recorded()));
    assert.equal((await store.list(ANN, { limit: 10 })).items.length, 1);
  });
}

test('damage that is met while reading costs the records, and the question is answered from the new file', (t) => {
  const { dataDir, store, ask, notice } = openDesk(t);
  assert.ok(isOk(store(...many(400))));
  ask('close');
  overwrite(join(dataDir, 'usage.db'), 3 * 8_192);
  assert.equal(found(ask('list', ANN, { limit: 500 })), 0);
  assert.equal(notice.length, 1);
  assert.ok(isOk(store(...many(2))));
  ask('close');
  overwrite(join(dataDir, 'usage.db'), 8_192);
  assert.equal(kind(store(...many(1))), 'file', 'not one file after the other');
  assert.equal(named(dataDir, 'usage.db.damaged-').filter((name) => !name.endsWith('-wal')).length, 1);
});

test('a file of another version is set aside under its name', (t) => {
  const { dataDir, ask, store, notice } = openDesk(t);
  store(...many(1));
  ask('close');
  const sqlite = openUsageFile(join(dataDir, 'usage.db'));
  sqlite.pragma('user_version = 99');
  sqlite.close();
  assert.equal(found(ask('list', ANN, { limit: 10 })), 0);
  assert.deepEqual(named(dataDir, 'usage.db.form'), ['usage.db.form-99']);
  assert.deepEqual(
    notice.map(({ level, fields }) => [level, fields['form']]),
    [['warn', 99]],
  );
});

test('a full disk loses what comes and keeps what is there, and is over when there is room', (t) => {
  let sqlite: Sqlite | undefined;
  const open = UsageFile.prototype.open;
  mock.method(UsageFile.prototype, 'open', function (this: UsageFile) {
    sqlite = open.call(this);
    return sqlite;
  });
  t.after(() => mock.restoreAll());
  const { ask, store } = openDesk(t);
  const first = recorded();
  assert.ok(isOk(store(first)));
  sqlite?.pragma('max_page_count = 1');
  assert.equal(kind(store(...many(100))), 'disk');
  assert.equal(kind(store(...many(100))), 'disk');
  assert.equal(found(ask('list', ANN, { limit: 500 })), 1, 'nothing of the batch');
  sqlite?.pragma('max_page_count = 1000000');
  assert.ok(isOk(store(...many(100))));
  assert.equal(found(ask('list', ANN, { limit: 500 })), 101);
});

test('a disk that takes no more bytes is counted, said once, and the process goes on', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = usageFolder(t);
  const here = (name: string): string => JSON.stringify(new URL(`./${name}.ts`, import.meta.url).href);
  const program = `
    process.on('SIGXFSZ', () => {});
    const { UsageStore } = await import(${here('usage-store')});
    const { recorded, keptLog } = await import(${here('testing')});
    const lines = [];
    const store = new UsageStore({ dataDir: ${JSON.stringify(dataDir)}, maxBytes: 2 ** 30, clock: Date, log: keptLog(lines) });
    const first = recorded();
    await store.store({ records: [first], unrecorded: [] });
    for (let i = 0; i < 40; i++) await store.store({ records: Array.from({ length: 10 }, () => recorded({ responseBody: Buffer.alloc(60_000) })), unrecorded: [] });
    const { stored, lost } = store.stats();
    const there = await store.find(first.orgId, first.id);
    console.log(JSON.stringify({ stored, lost, found: there?.id === first.id, levels: lines.map(({ level }) => level) }));
    process.exit();`;
  const limited = `ulimit -f 8000; exec "$0" "$@"`;
  const writer = spawn(
    'bash',
    ['-c', limited, process.execPath, '--import', 'tsx', '--input-type=module', '-e', program],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => writer.kill('SIGKILL'));
  const [chunks] = await Promise.all([writer.stdout.toArray(), once(writer, 'exit')]);
  const said = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Record<string, unknown>;
  const lost = said['lost'] as Record<string, number>;
  assert.ok((lost['disk'] ?? 0) > 0, JSON.stringify(said));
  assert.equal(Number(said['stored']) + (lost['disk'] ?? 0), 401);
  assert.equal(said['found'], true);
  assert.ok((said['levels'] as string[]).includes('error'), JSON.stringify(said));
});

test('a thread that ends is said, not asked for a while, and started again', async (t) => {
  const lines: LogLine[] = [];
  // No folder at all: the thread fails as it starts.
  const setup = { dataDir: undefined as unknown as string, maxBytes: 1 };
  const thread = new UsageThread(setup, keptLog(lines));
  t.after(() => thread.end());
  const isGone = (error: unknown): boolean => error instanceof UsageFault && error.kind === 'thread';
  await assert.rejects(thread.ask('organizations', []), isGone);
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, (fields as { again_in_ms: number }).again_in_ms]),
    [['error', 1_000]],
  );
  assert.equal(thread.ends, 1);
  assert.equal(thread.isRunning, false);
  setup.dataDir = usageFolder(t);
  await assert.rejects(thread.ask('organizations', []), isGone, 'not at once');
  let answer: readonly string[] | undefined;
  while (answer === undefined) {
    answer = await thread.ask('organizations', []).catch(() => undefined);
    await pause(20);
  }
  assert.deepEqual(answer, []);
  assert.equal(thread.ends, 1);
});

test('over the bound the oldest of the organization that holds most go, and others keep theirs', async (t) => {
  const maxBytes = 4 * 2 ** 20;
  const { dataDir, ask, later, storeLater } = openDesk(t, { maxBytes });
  const start = Date.now();
  const ben = '00000000-0000-7000-8000-00000000000b';
  const body = Buffer.alloc(10_000, 'x');
  const of = (orgId: string, i: number) => recorded({ orgId, at: start + i, responseBody: body });
  for (let i = 0; i < 100; i += 50)
    assert.ok(isOk(await storeLater(...Array.from({ length: 50 }, (_, k) => of(ben, i + k)))));
  const flood = Array.from({ length: 2_000 }, (_, i) => of(ANN, 1_000 + i));
  for (let i = 0; i < flood.length; i += 50) {
    // Making room is cut short by the clock: on a busy machine it may be behind, and says so.
    for (let answer = await storeLater(...flood.slice(i, i + 50)); !answer.ok; ) {
      assert.equal(answer.kind, 'room');
      await pause(5);
      answer = await storeLater(...flood.slice(i, i + 50));
    }
  }
  // It goes on by itself, until nothing moves any more.
  for (let before = Infinity, still = 0; still < 20; ) {
    const now = found(ask('list', ANN, { limit: 500 }));
    still = now === before && now < 400 ? still + 1 : 0;
    before = now;
    await pause(10);
  }
  assert.equal(found(ask('list', ben, { limit: 500 })), 100, 'who holds little loses nothing');
  const left = ask('list', ANN, { limit: 500 });
  const count = found(left);
  assert.ok(count > 100 && count < 400, String(count));
  assert.ok(left.ok);
  const ids = (left.value as { items: Array<{ id: string }> }).items.map(({ id }) => id);
  const newest = flood.slice(-count).map(({ id }) => id);
  assert.deepEqual(ids.toSorted(), newest.toSorted(), 'the newest stay');
  await later('close');
  const sqlite = openUsageFile(join(dataDir, 'usage.db'));
  const pages = (name: string): number => Number(sqlite.pragma(name, { simple: true }));
  const inUse = pages('page_count') - pages('freelist_count');
  assert.ok(inUse * 8_192 < maxBytes * 1.1, `${inUse} pages`);
  const weights = sqlite
    .prepare('SELECT o.bytes AS told, (SELECT sum(bytes) FROM records WHERE org = o.n) AS found FROM organizations o')
    .all() as Array<{ told: number; found: number }>;
  for (const { told, found: sum } of weights) assert.equal(told, sum);
  sqlite.close();
});

test('a bound that was lowered is reached little by little, and nothing new is taken before', async (t) => {
  const dataDir = usageFolder(t);
  const before = openDesk(t, { dataDir });
  const body = Buffer.alloc(50_000);
  for (let i = 0; i < 40; i++)
    assert.ok(isOk(await before.storeLater(...Array.from({ length: 20 }, () => recorded({ responseBody: body })))));
  await before.later('close');
  const { ask, storeLater } = openDesk(t, { dataDir, maxBytes: 2 ** 20 });
  assert.equal(kind(await storeLater(recorded())), 'room');
  let answer = await storeLater(recorded());
  while (!answer.ok) {
    assert.equal(answer.kind, 'room');
    await pause(5);
    answer = await storeLater(recorded());
  }
  assert.ok(found(ask('list', ANN, { limit: 500 })) < 400);
  assert.deepEqual((ask('tunnels', null) as { value?: unknown }).value, [{ orgId: ANN, tunnelId: SHOP }]);
});

test('the log is folded back while lists are answered and writing waits, and is empty afterwards', async (t) => {
  const { dataDir, ask, later, store } = openDesk(t);
  const log = join(dataDir, 'usage.db-wal');
  const one = () => recorded({ responseBody: Buffer.alloc(60_000) });
  let stored = 0;
  do {
    assert.ok(isOk(store(...Array.from({ length: 10 }, one))));
    stored += 10;
  } while (statSync(log).size < 4 * 2 ** 20);
  const next = later('store', pack([one()], { unrecorded: [], minute: 1 }));
  assert.equal(found(ask('list', ANN, { limit: 500 })), stored, 'lists do not wait');
  assert.ok(isOk(await next));
  assert.equal(found(ask('list', ANN, { limit: 500 })), stored + 1);
  assert.ok(statSync(log).size < 2 ** 20, 'the log has begun anew');
  await later('close');
  const sqlite = openUsageFile(join(dataDir, 'usage.db'));
  assert.equal(sqlite.pragma('integrity_check', { simple: true }), 'ok');
  sqlite.close();
});
