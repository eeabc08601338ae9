// group: browser
/** Private networks in the dashboard: from an empty page to a device that is in, with keys that the browser makes and WireGuard's own tools read. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import jsQR from 'jsqr';
import type { Locator, Page } from 'playwright-core';
import { field, press } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { missing, run } from '../harness/tools.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const KEY = 'dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=';
const OTHER_KEY = '3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=';

interface Home {
  readonly id: string;
  readonly server_public_key: string;
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

suite('private networks', { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let port: number;
  before(async () => {
    port = await freeUdpPort();
    fixture = await startFixture(ends, { edge: `udp_ports = "${port}-${port}"` });
  });

  const call = async (method: string, path: string, body?: object) => {
    const answer = await fixture.culvert.account.call(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const home = async () => {
    const [first] = (await call('GET', '/private-networks')) as unknown as ReadonlyArray<Home>;
    assert.ok(first !== undefined);
    return first;
  };
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });

  test('networks page: a network is created, its server registered, and the config is valid', async (t) => {
    const page = await fixture.open(t, '/networks');
    await page.getByText('No private networks yet').waitFor();
    await shoot(page, 'networks-empty');
    await press(page, 'New network');
    await field(page, 'Name').fill('home');
    await field(page, 'Address range').fill('10.80.0.1/24');
    await press(page, 'Create network');
    await page.getByText('Did you mean 10.80.0.0/24?').waitFor();
    await field(page, 'Address range').fill('10.80.0.0/24');
    await noSeriousFinding(page);
    await shoot(page, 'networks-create');
    await press(page, 'Create network');
    await heading(page, 'home');
    await shoot(page, 'network-new');

    await press(page, 'Register server');
    await noSeriousFinding(page);
    await shoot(page, 'network-server');
    await dialog(page, 'Server for home').getByRole('button', { name: 'Register server' }).click();
    const server = dialog(page, 'Server config for home');
    const serverConfig = await server.getByRole('group', { name: 'the config', exact: true }).innerText();
    await noSeriousFinding(page);
    await shoot(page, 'network-server-config');
    // A slip does not lose what is shown once.
    await page.keyboard.press('Escape');
    await press(page, 'Done');
    await server.waitFor({ state: 'hidden' });
    await page.getByText('No other machine can connect').waitFor();
    await page.getByText(`localhost:${port}`).first().waitFor();
    assert.match(serverConfig, new RegExp(`culvert udp 51820 --network home --server ${fixture.culvert.apiUrl}$`, 'm'));
    assert.match(await page.locator('[aria-current=step]').innerText(), /Start WireGuard/);

    const network = await home();
    await takenByWireGuard(t, serverConfig, network.server_public_key);
    await keepsNoKey(page, serverConfig);
  });

  test('networks page: a device is enrolled with keys of the browser; QR code and file hold one config', async (t) => {
    const { id } = await home();
    const page = await fixture.open(t, `/networks/${id}`);
    await page.getByRole('region', { name: 'Devices' }).getByRole('button', { name: 'Enroll device' }).click();
    await field(page, 'Name').fill('phone');
    await noSeriousFinding(page);
    await shoot(page, 'network-enrol');
    await dialog(page, 'Enroll a device in home').getByRole('button', { name: 'Enroll device' }).click();
    const enrolled = dialog(page, 'phone is enrolled');
    await enrolled.getByText('No other machine can connect').waitFor();
    const scanned = await qrTextOf(page);
    await noSeriousFinding(page);
    await shoot(page, 'network-enrolled');
    await enrolled.getByRole('tab', { name: 'Computer' }).click();
    const saved = page.waitForEvent('download');
    await press(page, 'Download home.conf');
    const deviceConfig = readFileSync(await (await saved).path(), 'utf8');
    await shoot(page, 'network-enrolled-file');
    assert.equal(
      scanned,
      deviceConfig
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .join('\n'),
    );
    await press(page, 'Done');
    await enrolled.waitFor({ state: 'hidden' });

    const [device] = (await call('GET', `/private-networks/${id}/devices`)) as unknown as [{ public_key: string }];
    await takenByWireGuard(t, deviceConfig, device.public_key);
    await keepsNoKey(page, deviceConfig);
    await noSeriousFinding(page);
    await shoot(page, 'network');
  });

  test('networks page: shows that an agent relays the network, and by which path', async (t) => {
    const { id } = await home();
    const page = await fixture.open(t, `/networks/${id}`);
    await page.getByText('No agent', { exact: true }).waitFor();
    fixture.culvert.agent(['udp', '51820', '--network', 'home']);
    await page.getByText(/^Relayed over (UDP|TLS)$/).waitFor();
    await page.getByText('Running:').waitFor();
    await shoot(page, 'network-online');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Private networks' }).click();
    await page.getByText('Online', { exact: true }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'networks');
  });

  test('networks page: an existing public key is enrolled, edited, and revoked after confirmation', async (t) => {
    const made = await call('POST', '/private-networks', { name: 'office', cidr: '10.81.0.0/24' });
    const own = { server_public_key: KEY, server_listen_port: 51_820, public_endpoint: 'vpn.example.com:51820' };
    await call('PUT', `/private-networks/${String(made['id'])}/server`, own);
    const page = await fixture.open(t, `/networks/${String(made['id'])}`);
    const devices = page.getByRole('region', { name: 'Devices' });
    await devices.getByRole('button', { name: 'Enroll device' }).click();
    await field(page, 'Name').fill('router');
    await page.getByText('Paste a key').click();
    await field(page, 'Public key').fill('not a key');
    await listField(page, 'Routed networks').fill('pixel');
    await listField(page, 'Routed networks').press('Enter');
    await page.getByText('"pixel" is not an IP network').waitFor();
    await listField(page, 'Routed networks').press('Backspace');
    await listField(page, 'Routed networks').fill('192.168.9.0/24');
    await dialog(page, 'Enroll a device in office').getByRole('button', { name: 'Enroll device' }).click();
    await page.getByText('This is not a WireGuard public key').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'network-enrol-paste');
    await field(page, 'Public key').fill(OTHER_KEY);
    await dialog(page, 'Enroll a device in office').getByRole('button', { name: 'Enroll device' }).click();
    const enrolled = dialog(page, 'router is enrolled');
    await enrolled.getByText('PrivateKey = REPLACE_WITH_PRIVATE_KEY').waitFor();
    await enrolled.getByText(`peer ${OTHER_KEY} allowed-ips 10.81.0.2/32,192.168.9.0/24`).waitFor();
    await enrolled.getByRole('button', { name: 'Done' }).click();

    await press(page, 'Actions for router');
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await field(page, 'Name').fill('gateway');
    await listField(page, 'Access ends').click();
    await page.getByRole('option', { name: 'After 30 days' }).click();
    await noSeriousFinding(page);
    await press(page, 'Save');
    await devices.getByText('gateway').waitFor();
    await devices.getByText('in 30 d').or(devices.getByText('in 29 d')).first().waitFor();

    await press(page, 'Actions for gateway');
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await dialog(page, 'Revoke the device gateway?').getByRole('button', { name: 'Revoke device' }).click();
    await page.getByText('No devices yet').waitFor();
  });

  test('networks page: a network is edited, with faults at their field, and deleted after confirmation', async (t) => {
    const made = await call('POST', '/private-networks', { name: 'lab', cidr: '10.82.0.0/24' });
    const id = String(made['id']);
    const own = { server_public_key: KEY, server_listen_port: 51_820, public_endpoint: 'vpn.example.com:51821' };
    await call('PUT', `/private-networks/${id}/server`, own);
    await call('POST', `/private-networks/${id}/devices`, { name: 'laptop', public_key: OTHER_KEY });
    const page = await fixture.open(t, `/networks/${id}`);
    await press(page, 'Edit');
    await listField(page, 'DNS servers').fill('nowhere');
    await press(page, 'Save');
    await page.getByText('"nowhere" is not an IP address.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'network-edit');
    await listField(page, 'DNS servers').press('Backspace');
    await listField(page, 'DNS servers').fill('10.82.0.1');
    await field(page, 'Name').fill('laboratory');
    await press(page, 'Save');
    await heading(page, 'laboratory');
    assert.deepEqual((await call('GET', `/private-networks/${id}`))['dns'], ['10.82.0.1']);
    await press(page, 'Delete');
    const asked = dialog(page, 'Delete the network laboratory?');
    await asked.getByText('1 device loses access').waitFor();
    await noSeriousFinding(page);
    await asked.getByRole('button', { name: 'Delete network' }).click();
    await heading(page, 'Private networks');
    await page.getByText('Deleted network laboratory.').waitFor();
    await page.getByRole('link', { name: 'laboratory' }).waitFor({ state: 'hidden' });
  });

  test('networks page: fits a phone, in dark mode too', async (t) => {
    const page = await fixture.open(t, '/networks', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('link', { name: 'home' }).waitFor();
    await fits(page);
    await shoot(page, 'networks-phone-dark');
    await page.getByRole('link', { name: 'home' }).click();
    await page.getByText('phone', { exact: true }).waitFor();
    await fits(page);
    await shoot(page, 'network-phone-dark');
    await press(page, 'Change server');
    await dialog(page, 'Server for home').getByText('Paste a key').waitFor();
    const cut = await page.evaluate<boolean>(
      `[...document.querySelectorAll('[aria-label="Keys for the server"]')].some((one) => one.scrollWidth > one.clientWidth)`,
    );
    assert.equal(cut, false, 'each of the choices is seen whole');
    await shoot(page, 'network-server-phone-dark');
    await dialog(page, 'Server for home').getByRole('button', { name: 'Cancel' }).click();
    await dialog(page, 'Server for home').waitFor({ state: 'hidden' });
    await page.getByRole('region', { name: 'Devices' }).getByRole('button', { name: 'Enroll device' }).click();
    await field(page, 'Name').fill('tablet');
    await dialog(page, `Enroll a device in home`).getByRole('button', { name: 'Enroll device' }).click();
    // Dark on light in the dark scheme too.
    assert.match((await qrTextOf(page)) ?? '', /PrivateKey = /);
    await fits(page);
    await noSeriousFinding(page);
    await shoot(page, 'network-enrolled-phone-dark');
  });
});

/** The field itself: its list of choices has the same label. */
function listField(page: Page, label: string): Locator {
  return page.locator('input').and(page.getByLabel(label, { exact: true }));
}

/** What a camera reads off the screen. */
async function qrTextOf(page: Page): Promise<string | undefined> {
  const code = page.getByRole('img', { name: 'QR code of the config' });
  await code.waitFor();
  const picture = (await code.screenshot()).toString('base64');
  // The browser unpacks its own picture: no decoder of PNG is needed here.
  const { data, width, height } = await page.evaluate<{ data: number[]; width: number; height: number }>(
    `(async () => {
      const bytes = Uint8Array.from(atob(${JSON.stringify(picture)}), (one) => one.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const brush = canvas.getContext('2d');
      brush.drawImage(image, 0, 0);
      const { data, width, height } = brush.getImageData(0, 0, image.width, image.height);
      return { data: [...data], width, height };
    })()`,
  );
  return jsQR.default(Uint8ClampedArray.from(data), width, height, { inversionAttempts: 'dontInvert' })?.data;
}

function privateKeyOf(config: string): string {
  const [, key] = /^PrivateKey = (\S{44})$/m.exec(config) ?? [];
  assert.ok(key !== undefined, config);
  return key;
}

/** Neither the page nor what it stores has the private key, once its dialog is closed. */
async function keepsNoKey(page: Page, config: string): Promise<void> {
  const kept = await page.evaluate<string>(
    'document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
  );
  assert.ok(!kept.includes(privateKeyOf(config)));
}

/** `wg-quick strip` reads it, and `wg pubkey` makes of its private key the public one registered at the server. */
async function takenByWireGuard(t: { skip(why: string): void }, config: string, publicKey: string): Promise<void> {
  const key = privateKeyOf(config);
  const absent = missing('wg', 'wg-quick');
  if (absent !== false) return t.skip(absent);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-wg-'));
  try {
    const file = join(folder, 'home.conf');
    writeFileSync(file, config, { mode: 0o600 });
    writeFileSync(join(folder, 'key'), key, { mode: 0o600 });
    const stripped = await run(['wg-quick', 'strip', file]);
    assert.equal(stripped.code, 0, stripped.stderr);
    assert.match(stripped.stdout, /^PrivateKey = \S{44}$/m);
    const made = await run(['sh', '-c', `wg pubkey < ${join(folder, 'key')}`]);
    assert.equal(made.stdout.trim(), publicKey);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}
