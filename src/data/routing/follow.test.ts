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

test('a lost delta is made good by one snapshot, and later deltas count again', async () => {
  const link = new FakeLink();
  const { table, follower } = await following(link);
  link.change({ kind: 'put', route: testRoute('lost') }, true);
  link.change({ kind: 'put', route: testRoute('b') });
  link.change({ kind: 'put', route: testRoute('c') });
  assert.equal(table.size, 0);
  assert.equal(table.needsSnapshot, true);
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
