/**
 * The first private network as docs/private-networks.md has it, with the commands of a person: made, served from behind a NAT, two devices enrolled, `wg-quick`
 * everywhere. Needs what wireguard.test.ts needs.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { callInside } from '../../scripts/wireguard/api.ts';
import { must, SERVER_ADDRESS } from '../../scripts/wireguard/places.ts';
import { echoes, untilEchoes } from '../../scripts/wireguard/traffic.ts';
import { inReverse } from '../harness/ends.ts';
import { endOf } from '../harness/person.ts';
import { culvertCommand } from '../harness/spawned.ts';
import { missing, noNamespaces } from '../harness/tools.ts';
import { prepareTestbed } from './fixture.ts';

/** Two tries of a handshake. */
const UP_MS = 20_000;
const without = noNamespaces() || missing('wireguard-go', 'wg', 'wg-quick', 'nft', 'ping', 'curl');

suite('the first private network', { skip: without, timeout: 120_000 }, () => {
  test('made, served and joined by the commands of its page', async (context) => {
    const t = inReverse(context);
    const { processes, places, culvert, api } = await prepareTestbed(t, 2);
    const home = join(culvert.folder, 'person');
    mkdirSync(home);
    const env = { PATH: process.env['PATH'], HOME: home, XDG_RUNTIME_DIR: home, CULVERT_SERVER: culvert.apiUrl };
    const login = culvert.agent(['login'], { netns: places.home, env: { ...env, CULVERT_TOKEN: '' } });
    const device_code = await login.printed(/\/app\/cli\?device_code=(\S+)/);
    await callInside(processes, api, ['POST', '/auth/cli/authorize', { device_code }]);
    assert.equal(await login.ended(), 0);
    const [program = '', ...first] = culvertCommand(places.home);
    /** What it said, on both streams. */
    const command = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await endOf(program, [...first, ...words], { cwd: home, env });
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
      return stdout + stderr;
    };
    /** A line in a shell of root, in the person's folder. */
    const shell = (netns: string, line: string) => must(processes, ['sh', '-c', `cd '${home}' && ${line}`], netns);
    const bringUp = async (netns: string, name: string): Promise<void> => {
      t.after(() => shell(netns, `wg-quick down ./${name}.conf`));
      await shell(netns, `wg-quick up ./${name}.conf`);
    };

    // Interfaces are named after files, and wireguard-go's sockets, in a folder of the whole machine, after interfaces.
    const [name, laptop, phone] = ['h', 'l', 'p'].map((letter) => `${letter}${randomBytes(5).toString('hex')}`) as [
      string,
      string,
      string,
    ];
    const made = await command('network', 'create', name);
    const [, subnet = ''] = /(\d+\.\d+\.\d+)\.0\/24/.exec(made) ?? [];
    const set = await command('network', 'set-server', name, '--generate', '--output', `${name}.conf`);
    assert.match(set, new RegExp(`${SERVER_ADDRESS}:\\d+`));
    await bringUp(places.home, name);
    const agent = culvert.agent(['udp', '51820', '--network', name], { netns: places.home });
    await agent.printed(new RegExp(`^(${SERVER_ADDRESS}:\\d+)$`, 'm'));

    await command('network', 'enroll', name, 'laptop', '--expires', '30d', '--output', `${laptop}.conf`);
    await command('network', 'enroll', name, 'phone', '--output', `${phone}.conf`);
    await command('network', 'config', name, '--key-file', `${name}.conf`, '--output', `${name}.conf`, '--force');
    await shell(places.home, `wg-quick strip ./${name}.conf | wg syncconf ${name} /dev/stdin`);
    await bringUp(places.client(1), laptop);
    await bringUp(places.client(2), phone);
    const [one, two] = [places.client(1), places.client(2)];
    for (const from of [one, two]) await untilEchoes(processes, { from, to: `${subnet}.1` }, UP_MS);
    await untilEchoes(processes, { from: one, to: `${subnet}.3` }, UP_MS);

    const devices = await command('network', 'devices', name);
    assert.match(devices, new RegExp(`^laptop .*${subnet}\\.2`, 'm'));
    await command('network', 'revoke', name, 'phone', '--yes');
    const until = Date.now() + UP_MS;
    while (await echoes(processes, { from: two, to: `${subnet}.1` })) assert.ok(Date.now() < until, 'not cut off');
    assert.ok(await echoes(processes, { from: one, to: `${subnet}.1` }));
  });
});
