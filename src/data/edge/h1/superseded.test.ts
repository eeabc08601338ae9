/** What visitors have under way when another agent takes their tunnel over: it goes on, for as long as there is the tunnel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idOf } from '../../fixtures/link.ts';
import { rawOrigin, Rig } from '../testing/rig.ts';

const ENDINGS: ReadonlyArray<readonly [what: string, end: (rig: Rig) => void]> = [
  ['deleted', (rig) => rig.remove('shop')],
  ['stopped', (rig) => rig.route('shop', { stopped: true })],
  ['run out', (rig) => rig.route('shop', { expiresAt: Date.now() + 50 })],
];

for (const [what, end] of ENDINGS) {
  test(`a download that a superseded agent carries goes on until the tunnel is ${what}`, {
    timeout: 120_000,
  }, async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin'));
    await rig.serve('shop', origin.port);
    const download = await rig.visit();
    download.ask('GET /');
    await download.until('begin');
    const heir = await rig.serve('shop', origin.port);
    origin.sockets[0]?.write('more');
    await download.until('beginmore');
    end(rig);
    assert.equal(await download.closed, 'cut');
    assert.equal((await heir.next('unbound')).code, what === 'run out' ? 'tunnel_expired' : `tunnel_${what}`);
    assert.equal(rig.node.isOnline(idOf('shop')), false);
  });
}
