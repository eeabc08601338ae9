/** `culvert udp --manage`: the peers of a real WireGuard interface follow the devices of a network, and those of other hands stay. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { makeKeys } from '../../scripts/wireguard/peer.ts';
import { must } from '../../scripts/wireguard/places.ts';
import type { Program } from '../../scripts/quickstart/program.ts';
import { untilEchoes } from '../../scripts/wireguard/traffic.ts';
import { Ending } from '../harness/ends.ts';
import { missing, noNamespaces } from '../harness/tools.ts';
import { type Client, Fixture, HOME } from './fixture.ts';

const without = noNamespaces() || missing('wireguard-go', 'wg', 'wg-quick', 'nft', 'ping', 'curl');
/** A sweep of the server's, a message, three calls of `wg`: two seconds, and more on a busy machine. */
const SOON_MS = 20_000;
const BACK_MS = 30_000;

suite('a managed WireGuard interface', { skip: without, timeout: 180_000 }, () => {
  const ending = new Ending();
  let fixture: Fixture;
  let anna: Client;
  let handmade: string;
  let agent: Program | undefined;

  before(async () => {
    fixture = await Fixture.build(ending);
  });
  after(() => ending.run());

  /** Public keys of the home's peers, with their networks. */
  const peers = async (): Promise<Map<string, string>> => {
    const { stdout } = await must(
      fixture.processes,
      ['wg', 'show', fixture.home.name, 'allowed-ips'],
      fixture.places.home,
    );
    return new Map(stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t') as [string, string]])));
  };

  const become = async (wanted: readonly string[]): Promise<void> => {
    const until = Date.now() + SOON_MS;
    for (;;) {
      const now = [...(await peers()).keys()].sort();
      if (now.join() === wanted.toSorted().join()) return;
      assert.ok(Date.now() < until, `${now.join()} in place of ${wanted.join()}\n${agent?.output ?? ''}`);
      await pause(200);
    }
  };

  test('devices that are enrolled get in without a command', async () => {
    // No device is enrolled yet: the configuration has no peer. One is added by hand.
    await fixture.configureHome();
    handmade = (await makeKeys(fixture.processes)).publicKey;
    const args = ['wg', 'set', fixture.home.name, 'peer', handmade, 'allowed-ips', '10.99.0.2/32'];
    await must(fixture.processes, args, fixture.places.home);
    agent = fixture.startAgent('--manage', fixture.home.name);
    await agent.printed(/"event":"relay_online"/);
    anna = await fixture.startClient('anna', 1);
    await become([handmade, anna.keys.publicKey]);
    assert.equal((await peers()).get(anna.keys.publicKey), `${anna.address}/32`);
    await agent.printed(
      new RegExp(`"event":"relay_peers".*"interface":"${fixture.home.name}","added":\\["${anna.address}/32"\\]`),
    );
    await must(fixture.processes, [
      'ip',
      '-n',
      fixture.places.home,
      'route',
      'replace',
      '10.44.0.0/24',
      'dev',
      fixture.home.name,
    ]);
    await untilEchoes(fixture.processes, { from: anna.netns, to: HOME }, BACK_MS);
  });

  test('networks behind a device, its end and its return follow', async () => {
    const path = `/devices/${anna.id}`;
    await fixture.call('PATCH', path, { extra_allowed_ips: ['192.168.9.0/24'] });
    const until = Date.now() + SOON_MS;
    while ((await peers()).get(anna.keys.publicKey) !== `${anna.address}/32 192.168.9.0/24`) {
      assert.ok(Date.now() < until, 'its networks have not come');
      await pause(200);
    }
    await fixture.call('PATCH', path, { expires_at: new Date(Date.now() + 2_000).toISOString() });
    await become([handmade]);
    await fixture.call('PATCH', path, { expires_at: null });
    await become([handmade, anna.keys.publicKey]);
  });

  test('what changed while the agent was away follows at its next start', async () => {
    await fixture.killAgent();
    await fixture.call('DELETE', `/devices/${anna.id}`);
    const ben = await fixture.enrol('ben');
    assert.ok((await peers()).has(anna.keys.publicKey));
    fixture.startAgent('--manage', fixture.home.name);
    await become([handmade, ben.keys.publicKey]);
    assert.equal((await peers()).get(handmade), '10.99.0.2/32', 'a peer of another hand is as it was');
    const relay = await fixture.relay();
    assert.equal(relay['manages_peers'], true);
  });

  test('an interface that is not there, or may not be changed, is refused at the start', async () => {
    await fixture.killAgent();
    const none = fixture.startAgent('--manage', 'wgnone');
    assert.equal(await none.ended(), 1);
    assert.match(none.output, /there is no WireGuard interface wgnone\. Start it: sudo wg-quick up wgnone/);
  });
});
