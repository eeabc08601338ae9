/** The managed interface of a relay: a fault of `wg` is in the view when its owner hears of it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../../../base/log.ts';
import { FakeTime } from '../../fixtures/fake-channel.ts';
import { managePeers } from './managed-peers.ts';

test('managed interface: one that is not there is a fault that the owner hears of', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-managed-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { promise, resolve } = Promise.withResolvers<void>();
  const peers = managePeers(
    // No interface has this name, and where there is no `wg` the fault says so.
    { name: 'culvert-none', folder },
    { floor: { schedule: new FakeTime() }, log: silentLog, onChanges: () => assert.fail(), onFault: resolve },
  );
  t.after(() => peers.close());
  assert.deepEqual(peers.view(), { interface: 'culvert-none', fault: undefined });
  peers.take({ type: 'peers', slot: 1, items: [], isFirst: true, isLast: true }, 'n');
  await promise;
  const { fault } = peers.view();
  assert.ok(fault !== undefined && fault !== '');
});
