/** `culvert status`: what it says of the agents on this machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootIdOf, runtimeDir, StateFile } from '../client/state-file.ts';
import { run, tempHome } from '../fixtures/in-process.ts';

const RELAY = {
  ...{ name: 'udp', protocol: 'udp', target: 'localhost:51820', state: 'online', url: 'relay.example.com:20000' },
  ...{ reason: null, path: 'udp', path_why: null, network: 'home', fault: null },
};
const FAULT = 'the interface wg0 does not exist';

test('status: peers that can not be kept in step are shown with the reason', async (t) => {
  const home = tempHome(t);
  const env = { XDG_RUNTIME_DIR: home };
  new StateFile(runtimeDir(env), process.pid).write({
    ...{ pid: process.pid, bootId: bootIdOf(process.pid), startedAt: 0, version: '1.0.0', server: 'https://a.test' },
    ...{ loginLabel: null, page: null, state: 'online' },
    tunnels: [{ ...RELAY, manages: 'wg0', manages_fault: FAULT }],
  });
  const shown = await run(['status', '--server', 'http://127.0.0.1:9'], { home, env });
  assert.equal(shown.code, 1, 'no server answers');
  assert.match(
    shown.stdout,
    /network home {2}over UDP\n +the peers of wg0 are not in step with the devices: the interface/,
  );
  const json = await run(['status', '--server', 'http://127.0.0.1:9', '--json'], { home, env });
  assert.equal(JSON.parse(json.stdout).agents[0].tunnels[0].manages_fault, FAULT);
});
