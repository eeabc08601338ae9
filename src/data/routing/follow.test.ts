import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { FakeLink, idOf, testRoute } from '../fixtures/link.ts';
import { TableFollower } from './follow.ts';
import { RouteTable } from './table.ts';

async function following(link: FakeLink): Promise<{ table: RouteTable; follower: TableFollower }> {
  const table = new RouteTable('example.test');
  const follower = new TableFollower(table, { link, log: silentLog });
  await follower.start();
  return { table, follower };
}

test('loads the snapshot and follows the deltas', async () => {
  const link = new FakeLink();
  link.routes.set(idOf('a'), testRoute('a'));
  const { table, follower } = await following(link);
  link.change({ kind: 'put', route: testRoute('b') });
  assert.equal(table.size, 2);
  assert.equal(table.planeVersion, link.version);
  follower.close();
  link.change({ kind: 'put', route: testRoute('c') });
  assert.equal(table.size, 2, 'a closed follower changes nothing');
});

test('a change between subscribing and the first snapshot is not lost', async () => {
  const link = new FakeLink();
  const table = new RouteTable('example.test');
  const follower = new TableFollower(table, { link, log: silentLog });
  const starting = follower.start();
  link.change({ kind: 'put', route: testRoute('early') });
  await starting;
  assert.ok(table.findById(idOf('early')));
  assert.equal(link.snapshots, 1);
  follower.close();
});

test('a lost delta is made good by one snapshot after a moment, and later deltas count again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const link = new FakeLink();
  const { table, follower } = await following(link);
  link.change({ kind: 'put', route: testRoute('lost') }, true);
  link.change({ kind: 'put', route: testRoute('b') });
  link.change({ kind: 'put', route: testRoute('c') });
  assert.equal(table.size, 0);
  assert.equal(link.snapshots, 1, 'it may be on its way');
  t.mock.timers.tick(500);
  assert.equal(await table.reached(link.version, 1_000), true);
  assert.equal(table.size, 3);
  assert.equal(link.snapshots, 2);
  link.change({ kind: 'remove', tunnelId: idOf('b'), code: 'tunnel_deleted', message: '' });
  assert.equal(table.size, 2);
  follower.close();
});

test('a start without a snapshot fails', async () => {
  const link = new FakeLink();
  link.snapshot = () => Promise.reject(new Error('database is closed'));
  const table = new RouteTable('example.test');
  const follower = new TableFollower(table, { link, log: silentLog });
  await assert.rejects(follower.start(), /database is closed/);
  follower.close();
});

test('deltas that come in another order are applied in theirs, without a snapshot; a revocation does not wait', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const link = new FakeLink();
  const { table, follower } = await following(link);
  const revoked: string[] = [];
  table.subscribe({ onRevoke: (tokenId) => revoked.push(tokenId) });
  const first = link.version;
  const at = (n: number): number => first + n;
  link.tell({ version: at(4), kind: 'revoke_token', tokenId: 'stolen', message: '' });
  assert.deepEqual(revoked, ['stolen']);
  link.tell({ version: at(3), kind: 'remove', tunnelId: idOf('a'), code: 'tunnel_deleted', message: '' });
  link.tell({ version: at(2), kind: 'put', route: testRoute('b') });
  assert.equal(table.planeVersion, first);
  link.tell({ version: at(1), kind: 'put', route: testRoute('a') });
  assert.equal(table.planeVersion, at(4));
  assert.deepEqual([table.findById(idOf('a')), table.size], [undefined, 1]);
  t.mock.timers.tick(1_000);
  assert.equal(link.snapshots, 1);
  follower.close();
});

test('follower: what ends sessions does not wait for a snapshot', async () => {
  const link = new FakeLink();
  const { table, follower } = await following(link);
  const ended: string[] = [];
  table.subscribe({
    onRevoke: (tokenId) => ended.push(`revoked ${tokenId}`),
    onTokenEnds: (tokenId, expiresAt) => ended.push(`${tokenId} ends ${expiresAt}`),
    onCutOrg: (orgId) => ended.push(`cut ${orgId}`),
  });
  const answer = Promise.withResolvers<never>();
  link.snapshot = () => answer.promise;
  const later = 2 ** 32;
  link.tell({ version: later + 1, kind: 'put', route: testRoute('new') });
  link.tell({ version: later + 2, kind: 'revoke_token', tokenId: 'stolen', message: '' });
  link.tell({ version: later + 3, kind: 'token_ends', tokenId: 'rotated', expiresAt: 7 });
  link.tell({ version: later + 4, kind: 'cut_org', orgId: 'o', message: '' });
  assert.deepEqual(ended, ['revoked stolen', 'rotated ends 7', 'cut o']);
  assert.equal(table.findById(idOf('new')), undefined, 'all else waits');
  follower.close();
});

test('deltas of a later start of the control plane ask for a snapshot at once', async () => {
  const link = new FakeLink();
  const { table, follower } = await following(link);
  link.routes.set(idOf('kept'), testRoute('kept'));
  link.version = 2 ** 32 + 7;
  link.change({ kind: 'put', route: testRoute('new') });
  assert.equal(await table.reached(link.version, 60_000), true);
  assert.deepEqual([link.snapshots, table.size], [2, 2]);
  follower.close();
});

test('a snapshot over a gap is taken in slices: the loop turns, what is as it was is left alone, and deltas meanwhile count', async () => {
  const link = new FakeLink();
  for (let i = 0; i < 1_000; i++) link.routes.set(idOf(`r${i}`), testRoute(`r${i}`));
  const { table, follower } = await following(link);
  const puts: string[] = [];
  table.subscribe({ onPut: (entry) => puts.push(entry.route.subdomain) });
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  link.version += 2_000;
  link.change({ kind: 'put', route: testRoute('r7', { stopped: true }) });
  setImmediate(turn);
  setImmediate(() => link.change({ kind: 'put', route: testRoute('r8', { stopped: true }) }));
  assert.equal(await table.reached(link.version + 1, 60_000), true);
  isOver = true;
  assert.ok(turns >= 3, `${turns} turns`);
  assert.deepEqual(puts.sort(), ['r7', 'r8']);
  follower.close();
});
