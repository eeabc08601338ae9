/**
 * What a batch of a data node costs: visitors of a server in one process wait for as long as one is stored.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlaneEvent } from '../../../plane/events.ts';
import { Plane } from '../../core/testing/plane.ts';

const EVENTS = 400;
const BATCHES = 25;

test('agents that come back by the hundred, and tried actions, cost about what as many counters do', async () => {
  const plane = new Plane();
  const ann = await plane.person('ann@example.test');
  const { row: token } = plane.mint(ann, { tunnelQuota: EVENTS });
  const tunnelIds = Array.from({ length: EVENTS }, (_, i) => plane.create(ann, { subdomain: `n-${i}` }).row.id);
  let sequence = 0;
  /** Milliseconds of this thread's processor time, in which other processes do not count. It is known to some 10 ms: hence so many batches. */
  const costOf = async (event: (tunnelId: string) => PlaneEvent): Promise<number> => {
    const began = process.threadCpuUsage();
    for (let i = 0; i < BATCHES; i++) {
      await plane.control.link.report({ node: 'n', sequence: ++sequence, events: tunnelIds.map(event) });
    }
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1_000;
  };
  const counted = await costOf((tunnelId) => ({
    kind: 'usage',
    tunnelId,
    tokenId: token.id,
    requests: 1,
    bytesIn: 1,
    bytesOut: 1,
  }));
  for (const online of [true, false]) {
    const marked = await costOf((tunnelId) => ({ kind: 'agent', agentId: 'a', tunnelId, online, at: plane.now }));
    assert.ok(marked < 4 * counted, `${marked} ms where counters cost ${counted} ms`);
  }
  const policy = { actions: [{ kind: 'deny', path_prefix: '/', enforce: false }] };
  for (const id of tunnelIds) plane.control.policies.put(ann, id, policy);
  const { routes } = await plane.control.link.snapshot();
  const setAt = new Map(routes.map((route) => [route.tunnelId, route.policy?.setAt ?? 0]));
  const tried = await costOf((tunnelId) => {
    const sample = { method: 'GET', path: '/', clientIp: '192.0.2.1', code: 'denied' };
    const of = { kind: 'dry_run', tunnelId, index: 0, action: 'deny', refused: 1, lastAt: plane.now, sample } as const;
    return { ...of, setAt: setAt.get(tunnelId) ?? 0 };
  });
  // Two statements instead of one, and a row of text.
  assert.ok(tried < 10 * counted, `${tried} ms where counters cost ${counted} ms`);
  plane.close();
});
