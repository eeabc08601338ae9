/**
 * Private networks with real WireGuard (wireguard-go, wg, wg-quick) in network namespaces: a server behind a NAT that forwards no port and two
 * clients elsewhere reach each other through the relay, and come back by themselves when server, agent or UDP was away. The parts build on each
 * other, in this order, on one fixture.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { valuesOf, withPrivateKey } from '../../scripts/wireguard/peer.ts';
import { HOME_MOVED, must } from '../../scripts/wireguard/places.ts';
import { checkedTransfer, startEcho, untilEchoes } from '../../scripts/wireguard/traffic.ts';
import { Ending } from '../harness/ends.ts';
import { missing, noNamespaces } from '../harness/tools.ts';
import { ANNA, BEN, CARLA, type Client, type Device, HOME, Fixture } from './fixture.ts';

/** A handshake is tried each 5 s and a bit (REKEY_TIMEOUT), and agents come back well within that; three times as long, for a busy machine. */
const BACK_MS = 30_000;
/** Three missed pings, the next one, and a try of WireGuard's. */
const STREAM_MS = 40_000;
/** UDP is tried at least each 30 s. */
const UDP_MS = 45_000;
const TRANSFER_BYTES = 8 * 1024 * 1024;
/** The largest echo in a packet of the configured MTU, 1,400: less 20 of IP and 8 of ICMP. */
const WHOLE_PACKET = 1_372;

const without = noNamespaces() || missing('wireguard-go', 'wg', 'wg-quick', 'nft', 'ping', 'curl');

suite('real WireGuard through the relay', { skip: without, timeout: 280_000 }, () => {
  const ending = new Ending();
  let fixture: Fixture;
  let anna: Client;
  let ben: Client;
  let carla: Device;
  /** Of an echo of TCP. */
  let atHome: number;

  before(async () => {
    fixture = await Fixture.build(ending);
  });
  after(() => ending.run());

  /** Until one peer's echoes come back from another; the milliseconds. */
  const reached = (from: Client | 'home', to: string, limitMs = BACK_MS): Promise<number> => {
    const netns = from === 'home' ? fixture.places.home : from.netns;
    return untilEchoes(fixture.processes, { from: netns, to }, limitMs);
  };

  const reaches = (from: Client, to: string): Promise<boolean> => fixture.reaches(from.netns, to);

  test('rendered configurations pass wg-quick and wg', async () => {
    anna = await fixture.startClient('anna', 1);
    ben = await fixture.startClient('ben', 2);
    carla = await fixture.enrol('carla');
    assert.deepEqual([anna.address, ben.address, carla.address], [ANNA, BEN, CARLA]);
    const home = await fixture.configureHome();
    assert.deepEqual(valuesOf(home, 'MTU'), ['1400']);
    assert.deepEqual(valuesOf(anna.config, 'MTU'), ['1400']);
    const keys = (await fixture.home.peers()).map(({ publicKey }) => publicKey);
    assert.deepEqual(keys.sort(), [anna, ben, carla].map((one) => one.keys.publicKey).sort());
    const [known] = await anna.peer.peers();
    assert.equal(known?.publicKey, fixture.homeKeys.publicKey);
    assert.equal(known.endpoint, valuesOf(anna.config, 'Endpoint')[0]);
  });

  test('without the relay no device gets in', async () => {
    await fixture.configureDirect(ben);
    for (let tries = 0; tries < 3; tries++) {
      assert.deepEqual(await Promise.all([reaches(anna, HOME), reaches(ben, HOME)]), [false, false]);
    }
    assert.equal((await ben.peer.peers())[0]?.handshakeAt, 0);
    await fixture.configureAgain(ben);
  });

  test('all three reach each other', async (t) => {
    fixture.startAgent();
    t.diagnostic(`first echo ${await reached(anna, HOME)} ms after the agent's start`);
    await reached(ben, HOME);
    await reached('home', ANNA);
    await reached('home', BEN);
    await reached(anna, BEN);
    await reached(ben, ANNA);
    await until(t, 'UDP carries datagrams', UDP_MS, async () => (await fixture.relay())['path'] === 'udp');
  });

  test('packets of the configured size pass whole', async () => {
    const command = ['ping', '-n', '-q', '-M', 'do', '-c', '3', '-i', '0.2', '-W', '2', '-s', String(WHOLE_PACKET)];
    for (const [netns, to] of [
      [anna.netns, BEN],
      [fixture.places.home, ANNA],
    ] as const) {
      const { stdout, code } = await fixture.processes.run([...command, to], { netns });
      assert.equal(code, 0, stdout);
      assert.match(stdout, / 3 received/);
    }
  });

  test('wg-quick brings the rendered file up as it is', async (t) => {
    const { processes, places } = fixture;
    const netns = places.client(3);
    const file = join(processes.folder, `wgq${randomBytes(5).toString('hex')}.conf`);
    writeFileSync(file, withPrivateKey(carla.config, carla.keys.privateKey), { mode: 0o600 });
    t.after(() => must(processes, ['wg-quick', 'down', file], netns));
    await must(processes, ['wg-quick', 'up', file], netns);
    for (const to of [HOME, ANNA]) await untilEchoes(processes, { from: netns, to }, BACK_MS);
  });

  test('TCP arrives unchanged, there and back', async (t) => {
    const { processes, places } = fixture;
    atHome = await startEcho(processes, places.home, HOME);
    const atBen = await startEcho(processes, ben.netns, BEN);
    for (const [from, to, port] of [
      [anna.netns, HOME, atHome],
      [anna.netns, BEN, atBen],
      [places.home, BEN, atBen],
    ] as const) {
      const since = performance.now();
      await checkedTransfer(processes, { from, to }, { port, bytes: TRANSFER_BYTES });
      t.diagnostic(`8 MB to ${to} and back in ${Math.round(performance.now() - since)} ms`);
    }
  });

  test('the API tells of each device what the relay saw', async (t) => {
    await until(t, 'figures', BACK_MS, async () => {
      const devices = (await fixture.call('GET', '/devices')) as unknown as Record<string, unknown>[];
      const [a, b] = [ANNA, BEN].map((address) => devices.find(({ assigned_ip }) => assigned_ip === address));
      if (typeof a?.['last_handshake_at'] !== 'string' || typeof b?.['last_handshake_at'] !== 'string') return false;
      assert.match(String(a['endpoint']), /^10\.97\.1\.2:\d+$/);
      assert.match(String(b['endpoint']), /^10\.97\.2\.2:\d+$/);
      return Number(a['bytes_in']) > TRANSFER_BYTES && Number(b['bytes_out']) > TRANSFER_BYTES;
    });
  });

  test('it comes back after kill -9 of the agent', async (t) => {
    await fixture.killAgent();
    await until(t, 'the network is cut', BACK_MS, async () => !(await reaches(anna, HOME)));
    fixture.startAgent();
    t.diagnostic(`back ${await reached(anna, HOME)} ms after the agent's start`);
    t.diagnostic(`and ${await reached(ben, ANNA)} ms later between clients`);
  });

  test('it comes back after kill -9 of the server, with a new handshake where there was no session', async (t) => {
    await fixture.culvert.killServer();
    await until(t, 'the network is cut', BACK_MS, async () => !(await reaches(ben, HOME)));
    // Knows nothing of a session: its handshake is tried again and again while there is no server.
    await fixture.configureAgain(anna);
    assert.equal(await reaches(anna, HOME), false);
    await fixture.culvert.startServer();
    const since = Date.now();
    const old = reached(ben, HOME).then((ms) => t.diagnostic(`a session goes on ${ms} ms after the server's start`));
    await Promise.all([old, reached(anna, HOME)]);
    t.diagnostic(`a new handshake ${Date.now() - since} ms after the server's start`);
    assert.ok(((await anna.peer.peers())[0]?.handshakeAt ?? 0) > 0);
  });

  test('it comes back after the home has got another address', async (t) => {
    await fixture.places.moveHome();
    t.diagnostic(`back ${await reached(anna, HOME, STREAM_MS)} ms after the move`);
    const moved = await until(t, 'a session from the new address', UDP_MS, async () => {
      const { stdout } = await must(fixture.processes, ['ss', '-Htn', 'state', 'established'], fixture.places.hub);
      return stdout.includes(`${HOME_MOVED}:`);
    });
    t.diagnostic(`the session ${moved} ms later`);
    await reached(ben, HOME);
  });

  test('where UDP is blocked datagrams go over the session, and by UDP again when it is back', async (t) => {
    await until(t, 'UDP carries datagrams', UDP_MS, async () => (await fixture.relay())['path'] === 'udp');
    await fixture.places.blockUdp();
    assert.equal(await reaches(anna, HOME), false);
    t.diagnostic(`echoes go on ${await reached(anna, HOME, STREAM_MS)} ms after the first that was lost`);
    assert.equal((await fixture.relay())['path'], 'stream');
    await checkedTransfer(fixture.processes, { from: anna.netns, to: HOME }, { port: atHome, bytes: TRANSFER_BYTES });
    await fixture.places.letUdpThrough();
    const back = await until(t, 'UDP', UDP_MS, async () => (await fixture.relay())['path'] === 'udp');
    t.diagnostic(`UDP again ${back} ms after the block was lifted`);
    await reached(anna, HOME);
  });

  test('an agent that starts where UDP is blocked carries datagrams from the first', async (t) => {
    await fixture.killAgent();
    await fixture.places.blockUdp();
    fixture.startAgent();
    t.diagnostic(`back ${await reached(anna, HOME)} ms after the agent's start`);
    assert.equal((await fixture.relay())['path'], 'stream');
    await fixture.places.letUdpThrough();
    await until(t, 'UDP', UDP_MS, async () => (await fixture.relay())['path'] === 'udp');
  });

  test('a device is cut when it runs out, and works again when renewed', async (t) => {
    await reached(ben, HOME);
    const end = Date.now() + 3_000;
    await fixture.call('PATCH', `/devices/${ben.id}`, { expires_at: new Date(end).toISOString() });
    assert.ok(await reaches(ben, HOME));
    await until(t, 'the end', BACK_MS, async () => !(await reaches(ben, HOME)));
    t.diagnostic(`cut off ${Date.now() - end} ms after its end, the wait for the lost echo included`);
    await fixture.call('PATCH', `/devices/${ben.id}`, { expires_at: null });
    t.diagnostic(`back ${await reached(ben, HOME)} ms after it was allowed again`);
  });

  test('a revoked device is cut off, the others are not', async (t) => {
    await reached(ben, HOME);
    await fixture.call('DELETE', `/devices/${ben.id}`);
    const cut = await until(t, 'the cut', BACK_MS, async () => !(await reaches(ben, HOME)));
    t.diagnostic(`cut off ${cut} ms after it was revoked, the wait for the lost echo included`);
    // The network's server still knows its key: it is the relay that lets no handshake pass.
    assert.ok((await fixture.home.peers()).some(({ publicKey }) => publicKey === ben.keys.publicKey));
    await fixture.configureAgain(ben);
    await assert.rejects(reached(ben, HOME, 7_000), /no echo/);
    assert.equal((await ben.peer.peers())[0]?.handshakeAt, 0);
    await reached(anna, HOME);
  });
});

/** Asks until the condition holds; the milliseconds that it took. Fails after `limitMs`. */
async function until(t: TestContext, what: string, limitMs: number, holds: () => Promise<boolean>): Promise<number> {
  const since = Date.now();
  while (!(await holds())) {
    t.signal.throwIfAborted();
    if (Date.now() - since > limitMs) assert.fail(`not in ${limitMs} ms: ${what}`);
    await pause(100);
  }
  return Date.now() - since;
}
