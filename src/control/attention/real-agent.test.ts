/** A bad night with real processes: an agent dies, its server crashes. What the state of the tunnel and the list say. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { get, startOrigin } from '../../../test/harness.ts';
import { spawnCulvert } from '../../../test/harness/spawned.ts';
import { openDatabase, openStore } from '../db/open.ts';
import { tunnels } from '../db/schema.ts';
import { Store } from '../db/tx.ts';

const PATIENCE_MS = 20_000;

test('attention: an agent that is killed is offline with its session, and critical; so is a tunnel after a crash', {
  timeout: 120_000,
}, async (t) => {
  const culvert = await spawnCulvert(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const made = await culvert.account.call('POST', '/tunnels', { localPort: port, subdomain: 'shop' });
  const id = String(made.body['id']);
  const state = async (): Promise<readonly unknown[]> => {
    const { body } = await culvert.account.call('GET', `/tunnels/${id}`);
    return [body['state'], body['stateReason'], body['endedSessionId']];
  };
  const until = async (holds: () => Promise<boolean>, what: string): Promise<void> => {
    const end = performance.now() + PATIENCE_MS;
    while (!(await holds())) {
      assert.ok(performance.now() < end, `the tunnel is not ${what}`);
      await sleep(50);
    }
  };
  const becomes = async (wanted: string): Promise<readonly unknown[]> => {
    await until(async () => (await state())[0] === wanted, wanted);
    return state();
  };
  /** Its traffic comes with the next report of the data plane. */
  const counted = () =>
    until(
      async () => Number((await culvert.account.call('GET', `/tunnels/${id}`)).body['totalRequests']) > 0,
      'counted',
    );
  const serve = async (): Promise<{ kill(): void }> => {
    const agent = culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']);
    await agent.printed(/"tunnel_online"/);
    assert.equal((await get('http://shop.localhost', culvert.ports.http)).body, 'hello');
    await becomes('online');
    return agent;
  };
  const kinds = async (): Promise<readonly string[]> => {
    const { body } = await culvert.account.call('GET', '/attention');
    return (body as unknown as ReadonlyArray<{ kind: string }>).map(({ kind }) => kind);
  };

  assert.deepEqual(await state(), ['never_connected', null, null]);
  const agent = await serve();
  await counted();
  agent.kill();
  const [, reason, sessionId] = await becomes('offline');
  const ended = (await culvert.account.call('GET', '/connections/ended')).body as unknown as ReadonlyArray<{
    readonly agent_id: string;
  }>;
  assert.deepEqual([reason, sessionId], ['connection_lost', ended[0]?.agent_id]);
  assert.deepEqual(await kinds(), [], 'it may come back');
  leftEarlier(join(culvert.folder, 'data'), id);
  assert.deepEqual(await kinds(), ['tunnel_offline']);

  const again = await serve();
  assert.deepEqual(await kinds(), []);
  await culvert.killServer();
  again.kill();
  await culvert.startServer();
  assert.deepEqual(await becomes('offline'), ['offline', 'connection_lost', null]);
  leftEarlier(join(culvert.folder, 'data'), id);
  assert.deepEqual(await kinds(), ['tunnel_offline']);
});

/** Its agent was lost a minute earlier, behind the server's back: no test waits for that. */
function leftEarlier(dataDir: string, id: string): void {
  const store = new Store(openStore(openDatabase(dataDir), dataDir), { clock: systemClock, log: silentLog });
  try {
    store.inTx(({ db }) => {
      const earlier = { agentAt: sql`${tunnels.agentAt} - 60000` };
      assert.equal(db.update(tunnels).set(earlier).where(eq(tunnels.id, id)).run().changes, 1);
    });
  } finally {
    store.close();
  }
}
