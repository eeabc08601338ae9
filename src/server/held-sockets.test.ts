import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkServerConfig } from '../config/load.ts';
import { drainSecondsOf, idleSocket, isHeld, misplacedSockets, takeHeldSockets } from './held-sockets.ts';

const PID = 4_711;
const passed = (count: number, names: string, pid = PID): Record<string, string | undefined> => ({
  PATH: '/bin',
  ...{ LISTEN_FDS: String(count), LISTEN_PID: String(pid), LISTEN_FDNAMES: names },
});

test('sockets from systemd: each name gets its descriptor, and children see none of the variables', () => {
  const env = passed(4, 'agents:http:api:https');
  const held = takeHeldSockets(env, PID);
  assert.deepEqual(held, { agents: 3, http: 4, api: 5, https: 6 });
  assert.equal(isHeld(held), true);
  assert.deepEqual(env, { PATH: '/bin' });
});

test('sockets from systemd: none are taken that were passed to another process, and the variables go all the same', () => {
  for (const env of [passed(1, 'http', PID + 1), { LISTEN_FDS: '1' }, { LISTEN_PID: String(PID) }, {}]) {
    const held = takeHeldSockets(env, PID);
    assert.deepEqual(held, {});
    assert.equal(isHeld(held), false);
    assert.equal(Object.keys(env).filter((key) => key.startsWith('LISTEN_')).length, 0);
  }
});

test('sockets from systemd: a name that no listener has, one too many, or no number is refused with what to change', () => {
  assert.throws(
    () => takeHeldSockets(passed(1, 'culvert.socket'), PID),
    /"culvert\.socket".*FileDescriptorName=.*http, https, agents or api/,
  );
  assert.throws(() => takeHeldSockets(passed(2, 'http'), PID), /named ""/);
  assert.throws(() => takeHeldSockets(passed(2, 'http:http'), PID), /two sockets named "http"/);
  assert.throws(() => takeHeldSockets({ ...passed(1, 'http'), LISTEN_FDS: '1x' }, PID), /LISTEN_FDS is "1x"/);
});

test('sockets from systemd: one for a listener that is off is refused, one on another port is logged', () => {
  const { settings } = checkServerConfig('', 'none');
  assert.equal(idleSocket(settings, { http: 3, agents: 4 }), undefined);
  assert.match(idleSocket(settings, { https: 3 }) ?? '', /edge\.https_listen, or disable the unit/);
  const at = (http: number) => ({ http: { port: http }, https: null, agents: { port: 1 }, api: null });
  assert.deepEqual(misplacedSockets(settings, { http: 3 }, at(8080)), []);
  assert.match(
    misplacedSockets(settings, { http: 3 }, at(80)).join(),
    /port 80, but the settings have 127\.0\.0\.1:8080/,
  );
});

test('server.drain_seconds: 30 by default, 5 behind held sockets, and what is set counts for both', () => {
  const { settings } = checkServerConfig('', 'none');
  assert.deepEqual([drainSecondsOf(settings), drainSecondsOf(settings, { http: 3 })], [30, 5]);
  const set = checkServerConfig('[server]\ndrain_seconds = 12\n', 'none').settings;
  assert.deepEqual([drainSecondsOf(set), drainSecondsOf(set, { http: 3 })], [12, 12]);
});
