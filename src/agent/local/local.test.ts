/** Dialling the service: either loopback address, and a deadline without a timer per stream. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Sweeper } from '../../base/clock.ts';
import { REPLY } from '../../wire/preamble.ts';
import { CONNECT_TIMEOUT_MS, LocalDial, type LocalFault } from './local.ts';
import { parseTarget } from './target.ts';

function dial(
  t: TestContext,
  target: string,
): { dial: LocalDial; sweeper: Sweeper<LocalDial>; outcome: Promise<Socket | LocalFault> } {
  const sweeper = new Sweeper<LocalDial>(60_000);
  t.after(() => sweeper.close());
  const { promise, resolve } = Promise.withResolvers<Socket | LocalFault>();
  const result = { onConnected: resolve, onFault: resolve };
  return {
    dial: new LocalDial(parseTarget(target, 'http').target, { result, sweeper, nowMs: 0 }),
    sweeper,
    outcome: promise,
  };
}

for (const host of ['127.0.0.1', '::1']) {
  test(`a service that listens on ${host} alone is found by its port`, async (t) => {
    const server = createServer((socket) => socket.end()).listen(0, host);
    await once(server, 'listening');
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const { outcome, sweeper } = dial(t, String(address.port));
    const socket = await outcome;
    assert.ok('remoteAddress' in socket);
    assert.equal(socket.remoteAddress, host);
    assert.equal(sweeper.size, 0);
    socket.destroy();
  });
}

test('a service that does not answer within 10 s is given up', async (t) => {
  const { dial: attempt, sweeper, outcome } = dial(t, '127.0.0.1:9');
  attempt.sweep(CONNECT_TIMEOUT_MS - 1);
  assert.equal(sweeper.size, 1);
  attempt.sweep(CONNECT_TIMEOUT_MS);
  const fault = await outcome;
  assert.ok('code' in fault);
  assert.equal(fault.code, REPLY.timeout);
  assert.match(fault.text, /did not respond within 10 s/);
  assert.equal(sweeper.size, 0);
});

test('a name without an address is a fault, not a crash', async (t) => {
  const fault = await dial(t, 'no-such-host.invalid:80').outcome;
  assert.ok('code' in fault);
  assert.equal(fault.code, REPLY.failed);
  assert.match(fault.text, /the host name of no-such-host\.invalid:80 can't be resolved/);
});
