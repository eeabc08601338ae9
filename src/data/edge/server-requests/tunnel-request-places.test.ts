/** Places of a node for requests of the control plane: silent services take none from other organizations. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { TunnelAnswer, TunnelRequest } from '../../../plane/inspection.ts';
import { idOf } from '../../fixtures/link.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const RECORD = '01890a5d-ac96-774b-bcce-b302099a8057';
const OVERLOADED = { ok: false, code: 'overloaded' };

function request(name: string, over: Partial<TunnelRequest>): TunnelRequest {
  return {
    tunnelId: idOf(name),
    method: 'POST',
    target: '/',
    fields: [],
    host: `${name}.example.test`,
    body: Buffer.alloc(0),
    clientIp: '203.0.113.9',
    scheme: 'https',
    replayOf: null,
    timeoutMs: 20_000,
    ...over,
  };
}

/** Tunnels `t0`, `t1` and so on, each of an organization of its own, before a service that answers when the test says so. */
async function served(t: TestContext, tunnels: number) {
  const rig = await Rig.start(t);
  const waiting: Array<() => void> = [];
  const origin = await httpOrigin(t, (asked, response) => {
    asked.resume();
    waiting.push(() => response.end());
    origin.emit('asked');
  });
  for (let i = 0; i < tunnels; i++) {
    rig.route(`t${i}`, { orgId: `org ${i}` });
    await rig.serve(`t${i}`, origin.port);
  }
  return {
    waiting,
    replay: (tunnel: number) => rig.node.send(request(`t${tunnel}`, { replayOf: RECORD })),
    webhook: (tunnel: number) => rig.node.send(request(`t${tunnel}`, {})),
    /** So many are with the service. */
    arrived: async (count: number) => {
      while (waiting.length < count) await once(origin, 'asked');
    },
  };
}

const statusOf = (answer: TunnelAnswer) => (answer.ok ? answer.status : answer.code);

test('replays that hang take half of the places, and webhooks of others go on', { timeout: 120_000 }, async (t) => {
  const { waiting, replay, webhook, arrived } = await served(t, 10);
  const hanging: Array<Promise<TunnelAnswer>> = [];
  // As many as each is given; the seventh has the last place.
  for (const [tunnel, given] of [8, 8, 8, 4, 2, 1, 1].entries()) {
    for (let i = 0; i < given; i++) hanging.push(replay(tunnel));
    await arrived(hanging.length);
    assert.deepEqual(await replay(tunnel), OVERLOADED, `no more for ${tunnel}`);
  }
  assert.equal(hanging.length, 32);
  assert.deepEqual(await replay(7), OVERLOADED);
  const webhooks = [7, 8, 9].flatMap((tunnel) => Array.from({ length: 8 }, () => webhook(tunnel)));
  // Also one of an organization with eight replays under way elsewhere, and not of a tunnel that is full.
  webhooks.push(webhook(3));
  assert.deepEqual(await webhook(0), OVERLOADED);
  await arrived(32 + 25);
  for (const answer of waiting.splice(0)) answer();
  const answers = await Promise.all([...hanging, ...webhooks]);
  assert.deepEqual(new Set(answers.map(statusOf)), new Set([200]));
  const again = replay(7);
  await arrived(1);
  waiting[0]?.();
  assert.equal(statusOf(await again), 200, 'a place that was given back');
});
