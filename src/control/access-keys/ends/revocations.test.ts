/**
 * The public list of revocations: whole however long it is, made once for all clients, in slices that block no request, and
 * not sent again to those who have it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { capabilityTokens, organizations, revokedNonces } from '../../db/schema.ts';
import { Revocations } from './revocations.ts';
import { type Key, keyOf, mint, mintMaster } from '../testing.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, Team } from '../../core/testing/team.ts';

const DAY = 24 * 3_600_000;
let plane: Plane;
let api: PlaneApi;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const ask = (etag?: string) =>
  api.call('GET', '/.well-known/culvert-revocations', etag === undefined ? {} : { headers: { 'if-none-match': etag } });
const revoke = ({ nonce }: Pick<Key, 'nonce'>) => ann.call('DELETE', `/tokens/${nonce}`);
const noncesIn = (body: Uint8Array | string): string[] =>
  (JSON.parse(Buffer.from(body).toString()) as { revoked: ReadonlyArray<{ nonce: string }> }).revoked.map(
    ({ nonce }) => nonce,
  );

/** Entries as many revoked tokens leave them. */
function insertNonces(n: number): void {
  plane.control.store.inTx(({ db }) => {
    for (let at = 0; at < n; at += 1_000) {
      const rows = Array.from({ length: Math.min(1_000, n - at) }, () => {
        const id = randomUUID();
        return { tokenId: id, nonce: id, minterId: null, from: START, until: START + DAY };
      });
      db.insert(revokedNonces).values(rows).run();
    }
  });
}

/** Counts turns of the loop until the stop. */
function countTurns(): () => number {
  let turns = 0;
  let stopped = false;
  const turn = (): void => {
    turns++;
    if (!stopped) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    stopped = true;
    return turns;
  };
}

test('one answer serves for a second, and a client that has it already gets 304', async () => {
  const key = await mint(ann);
  const first = await ask();
  const etag = first.headers.get('etag') ?? '';
  await revoke(key);
  assert.equal((await ask()).text, first.text, 'no walk over the table');
  assert.deepEqual([(await ask(etag)).status, (await ask(etag)).text], [304, '']);
  plane.now += 1_000;
  const second = await ask(`"other", ${etag}`);
  assert.deepEqual([second.status, noncesIn(second.text)], [200, [key.nonce]]);
  plane.now += 5_000;
  const third = await ask(second.headers.get('etag') ?? '');
  assert.equal(third.status, 304, 'another instant, and nothing new');
  assert.equal(third.headers.get('cache-control'), 'public, max-age=1');
});

test('revocations: a list of any length is whole: no user switches it off for others', async () => {
  const key = await mint(ann);
  insertNonces(60_000);
  await revoke(key);
  const { status, text } = await ask();
  const nonces = noncesIn(text);
  assert.deepEqual([status, nonces.length, nonces.includes(key.nonce)], [200, 60_001, true]);
});

test('it is made once for all who ask meanwhile, and the loop turns between its slices', async () => {
  insertNonces(1_000);
  const revocations = new Revocations({ store: plane.control.store, slice: 10 });
  const turns = countTurns();
  const lists = await Promise.all(Array.from({ length: 20 }, () => revocations.list()));
  assert.ok(turns() >= 100, 'a turn per slice');
  assert.equal(new Set(lists).size, 1);
  assert.equal(noncesIn(lists[0]?.body ?? '').length, 1_000);
});

test('what was revoked before the walk began is in the list, whatever happens while it lasts', async () => {
  const master = await mintMaster(ann);
  const minted = async (): Promise<Key> =>
    keyOf(await api.call('POST', '/projects/default/tokens', { as: master.apiKey, body: { name: 'job' } }));
  const [child, other] = [await minted(), await minted()];
  insertNonces(50);
  await revoke(child);
  const revocations = new Revocations({ store: plane.control.store, slice: 1 });
  const making = revocations.list();
  plane.control.tokenEnds.revoke(await plane.control.sessions.authenticate(ann.token, '').then(known), master.nonce);
  plane.control.retention.sweep();
  assert.ok(noncesIn((await making).body).includes(child.nonce));
  // It rests nine times as long as making it took, which is by the real clock.
  plane.now += 60_000;
  const after = noncesIn((await revocations.list()).body);
  assert.deepEqual([after.includes(master.nonce), after.includes(other.nonce)], [true, false]);
});

test('a walk that fails is tried again by the next who asks', async () => {
  const { store } = plane.control;
  let broken = true;
  const flaky = new Proxy(store, {
    get: (target, name) => {
      if (name === 'db' && broken) throw new Error('disk I/O error');
      return Reflect.get(target, name) as unknown;
    },
  });
  const revocations = new Revocations({ store: flaky });
  await assert.rejects(revocations.list(), /disk I\/O/);
  broken = false;
  assert.deepEqual(noncesIn((await revocations.list()).body), []);
});

test('of an organization that may not act, what people minted is listed; a master key stands for its keys', async () => {
  const { store } = plane.control;
  const [key, master] = [await mint(ann), await mintMaster(ann)];
  const body = { name: 'job' };
  keyOf(await api.call('POST', '/projects/default/tokens', { as: master.apiKey, body }));
  const set = (approvalStatus: 'pending' | 'approved') =>
    store.inTx(
      ({ db }) => void db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run(),
    );
  set('pending');
  // More organizations than one slice takes.
  store.inTx(({ db }) => {
    const row = db.select().from(organizations).where(eq(organizations.id, ann.home)).get();
    assert.ok(row !== undefined);
    for (let i = 0; i < 25; i++)
      db.insert(organizations)
        .values({ ...row, id: `0-${i}`, slug: `other-${i}` })
        .run();
  });
  assert.deepEqual(noncesIn((await ask()).text).sort(), [key.nonce, master.nonce].sort());
  set('approved');
  plane.now += 1_000;
  assert.deepEqual(noncesIn((await ask()).text), []);
  assert.equal(store.db.select().from(capabilityTokens).all().length, 3);
});

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}
