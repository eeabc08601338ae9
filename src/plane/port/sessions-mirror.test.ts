import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionsMirror } from './sessions-mirror.ts';

const session = (agentId: string) => ({
  ...{ agentId, orgId: 'org', tokenId: 'token', remoteIp: '192.0.2.1' },
  ...{ hostname: 'laptop', version: '1.0.0', connectedAt: 1 },
});

test('sessions mirror: the tunnels and networks of a session come and go with it', () => {
  const mirror = new SessionsMirror();
  mirror.take({ kind: 'entered', session: session('a') });
  mirror.take({ kind: 'serves', agentId: 'a', tunnelId: 'shop', inspected: true });
  mirror.take({ kind: 'serves', agentId: 'a', tunnelId: 'quiet', inspected: false });
  mirror.take({ kind: 'carries', agentId: 'a', networkId: 'office' });
  assert.deepEqual(mirror.connections(), [
    { ...session('a'), tunnelIds: ['shop', 'quiet'], uninspectedIds: ['quiet'], networkIds: ['office'] },
  ]);
  assert.ok(mirror.has('a') && mirror.isOnline('shop') && mirror.isCarried('office'));
  mirror.take({ kind: 'serves_no_more', agentId: 'a', tunnelId: 'shop' });
  mirror.take({ kind: 'carries_no_more', agentId: 'a', networkId: 'office' });
  assert.ok(!mirror.isOnline('shop') && !mirror.isCarried('office') && mirror.isOnline('quiet'));
  mirror.take({ kind: 'left', agentId: 'a' });
  assert.ok(!mirror.has('a') && !mirror.isOnline('quiet'));
  assert.deepEqual(mirror.connections(), []);
});

test('sessions mirror: advice about a tunnel lasts as long as its agent serves it', () => {
  const mirror = new SessionsMirror();
  mirror.take({ kind: 'entered', session: session('a') });
  mirror.take({ kind: 'advises', agentId: 'a', tunnelId: 'shop', code: 'host_header' });
  assert.equal(mirror.adviceOf('shop'), null);
  mirror.take({ kind: 'serves', agentId: 'a', tunnelId: 'shop', inspected: true });
  mirror.take({ kind: 'advises', agentId: 'a', tunnelId: 'shop', code: 'host_header' });
  assert.equal(mirror.adviceOf('shop'), 'host_header');
  mirror.take({ kind: 'entered', session: session('b') });
  mirror.take({ kind: 'serves', agentId: 'b', tunnelId: 'shop', inspected: true });
  assert.equal(mirror.adviceOf('shop'), null, 'another agent has it');
  mirror.take({ kind: 'advises', agentId: 'b', tunnelId: 'shop', code: 'tls' });
  mirror.take({ kind: 'serves_no_more', agentId: 'b', tunnelId: 'shop' });
  assert.equal(mirror.adviceOf('shop'), null);
});

test('the end of a session takes nothing from the one that took its tunnel over', () => {
  const mirror = new SessionsMirror();
  for (const agentId of ['old', 'new']) {
    mirror.take({ kind: 'entered', session: session(agentId) });
    mirror.take({ kind: 'serves', agentId, tunnelId: 'shop', inspected: true });
    mirror.take({ kind: 'carries', agentId, networkId: 'office' });
  }
  mirror.take({ kind: 'serves_no_more', agentId: 'old', tunnelId: 'shop' });
  mirror.take({ kind: 'left', agentId: 'old' });
  assert.ok(mirror.isOnline('shop') && mirror.isCarried('office'));
});

test('what a session was allowed to serve is taken until it serves it, or leaves', () => {
  const mirror = new SessionsMirror();
  mirror.take({ kind: 'entered', session: session('a') });
  mirror.expect('a', 'shop');
  assert.ok(mirror.isTaken('shop') && !mirror.isOnline('shop'));
  mirror.take({ kind: 'serves', agentId: 'a', tunnelId: 'shop', inspected: true });
  mirror.take({ kind: 'serves_no_more', agentId: 'a', tunnelId: 'shop' });
  assert.ok(!mirror.isTaken('shop'));
  mirror.expect('a', 'shop');
  mirror.take({ kind: 'left', agentId: 'a' });
  assert.ok(!mirror.isTaken('shop'), 'nothing will come of it');
  mirror.expect('a', 'shop');
  assert.ok(!mirror.isTaken('shop'), 'it had left before the answer came');
});
