/** `culvert tunnels list`: the state of each tunnel, from new servers and from older ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from '../fixtures/in-process.ts';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';

test('tunnels list: a tunnel is online, or shows why it is not', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tunnels', 'list', '--server', server.url], { home });
  refreshWith(await server.next(), 'cookie-1');
  const offline = { ...TUNNEL_ITEM, online: false };
  (await server.next()).answer(200, [
    { ...TUNNEL_ITEM, subdomain: 'a', state: 'online' },
    { ...offline, subdomain: 'b', state: 'offline' },
    { ...offline, subdomain: 'c', state: 'never_connected' },
    { ...offline, subdomain: 'd', state: 'paused' },
    { ...offline, subdomain: 'e', state: 'expired', expiresAt: '2026-01-01T00:00:00.000Z' },
    // Of an older server.
    { ...offline, subdomain: 'f', status: 'inactive' },
  ]);
  assert.equal(await program.exit, 0, program.stderr);
  const states = program.stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/))
    .map(([name, , , , , state]) => `${name}: ${state}`);
  assert.deepEqual(states, ['a: online', 'b: offline', 'c: never connected', 'd: paused', 'e: expired', 'f: offline']);
});
