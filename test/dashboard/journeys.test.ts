// group: browser
/** The ways that users take most, from the overview to the result: how many clicks each takes, typing and commands aside. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { type DnsServer, startDns } from '../harness/dns.ts';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { type Smtp, smtpSettings, startSmtp } from '../harness/smtp.ts';
import { get } from '../harness/visitor.ts';
import { heading, NO_CHROMIUM, startFixture, type Fixture } from './fixture.ts';

const EMAIL = 'ann@example.test';
const PASSWORD = 'correct horse battery staple';

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

/** A user with a mouse. Pages are opened by the menu, which is counted too. */
class Visitor {
  readonly page: Page;
  clicks = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.click();
  }

  press(name: string, within: Page | Locator = this.page): Promise<void> {
    return this.click(within.getByRole('button', { name, exact: true }).first());
  }

  menu(name: string): Promise<void> {
    return this.click(this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));
  }

  field(label: string): Locator {
    return this.page.locator('input').and(this.page.getByLabel(label, { exact: true }));
  }

  dialog(name: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name });
  }
}

suite('journeys', { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let smtp: Smtp;
  let dns: DnsServer;
  let shop: string;
  let visit: (path?: string) => Promise<number>;

  before(async () => {
    smtp = await startSmtp(ends);
    dns = await startDns(ends);
    const udp = await freeUdpPort();
    const toml = `${smtpSettings(smtp)}\n[dns]\nresolvers = ["${dns.address}"]\n`;
    fixture = await startFixture(ends, { toml, edge: `udp_ports = "${udp}-${udp}"` });
    const origin = await startOrigin(ends, (_, answer) => answer.end('ok'));
    const { culvert } = fixture;
    await culvert.agent(['http', String(origin.port), '--subdomain', 'shop']).printed(/http:\/\/shop\./);
    const { body } = await culvert.account.call('GET', '/tunnels');
    shop = (body as unknown as ReadonlyArray<{ id: string }>)[0]?.id ?? '';
    visit = async (path = '/') =>
      (await get(`http://shop.localhost:${culvert.ports.http}${path}`, culvert.ports.http)).status;
  });

  const arrive = async (t: Parameters<Fixture['open']>[0]): Promise<Visitor> => {
    const page = await fixture.open(t, '/');
    await heading(page, 'Overview');
    return new Visitor(page);
  };

  test('journey: from sign-up to a live tunnel in at most 5 clicks', async (t) => {
    const page = await fixture.open(t, '/', { as: null });
    const ann = new Visitor(page);
    await ann.press('Create account');
    await heading(page, 'Create account');
    await ann.field('Email address').fill(EMAIL);
    await ann.field('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await heading(page, 'Confirm your email');
    await ann.page.getByLabel('Code from the email').fill((await smtp.nextMail(EMAIL)).code ?? '');
    await page.keyboard.press('Enter');
    await heading(page, 'Overview');
    await ann.press('Create key');
    const command = await page.getByRole('group', { name: 'Command with key' }).innerText();
    const [, key = ''] = /CULVERT_TOKEN=(\S+)/.exec(command) ?? [];
    fixture.culvert.agent(['http', '3000'], { token: key });
    await page.getByRole('heading', { name: 'Your tunnel is live' }).waitFor();
    assert.ok(ann.clicks <= 5, `${ann.clicks} clicks`);
  });

  test('journey: a policy is tested on recorded requests in at most 5 clicks', async (t) => {
    for (const path of ['/', '/cart', '/admin/users']) assert.equal(await visit(path), 200);
    // Requests are recorded in batches.
    const recorded = async (): Promise<unknown> => (await fixture.culvert.account.call('GET', '/inspector')).body;
    while (!JSON.stringify(await recorded()).includes('/admin/users')) await setTimeout(50);
    const user = await arrive(t);
    await user.menu('Tunnels');
    await user.click(user.page.getByRole('link', { name: 'shop', exact: true }).first());
    await user.click(user.page.getByRole('tab', { name: 'Policy' }));
    await user.click(user.page.getByRole('button', { name: 'Keep /admin private' }));
    await user.press('Run test');
    await user.page.getByText('Of the last 3 requests, the policy would block 1.').waitFor();
    assert.ok(user.clicks <= 5, `${user.clicks} clicks`);
  });

  test('journey: a key with a budget and a limit of names in 3 clicks', async (t) => {
    const user = await arrive(t);
    await user.menu('Keys');
    await user.press('New key');
    const dialog = user.dialog('New key');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('ci');
    await dialog.getByLabel('Allowed names').fill('pr-*,');
    await dialog.getByRole('textbox', { name: 'Monthly budget' }).fill('5');
    await user.press('Create key', dialog);
    await dialog.getByRole('group', { name: 'the key', exact: true }).waitFor();
    assert.equal(user.clicks, 3);
  });

  test('journey: a domain in 2 clicks on its page, and its record to copy', async (t) => {
    const user = await arrive(t);
    await user.menu('Domains');
    await user.press('Add domain');
    const dialog = user.dialog('Add domain');
    await dialog.getByRole('textbox', { name: 'Domain' }).fill('shop.example.net');
    await user.press('Add domain', dialog);
    await user.page.getByRole('group', { name: 'TXT record' }).waitFor();
    assert.equal(user.clicks, 1 + 2);
  });

  test('journey: a device of a private network in at most 4 clicks', async (t) => {
    const { culvert } = fixture;
    const { body } = await culvert.account.call('POST', '/private-networks', { name: 'home', cidr: '10.80.0.0/24' });
    const id = String(body['id']);
    const serverPublicKey = 'xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=';
    const registered = await culvert.account.call('PUT', `/private-networks/${id}/server`, {
      server_public_key: serverPublicKey,
      server_listen_port: 51820,
    });
    assert.ok(registered.status < 300, JSON.stringify(registered.body));
    const user = await arrive(t);
    await user.menu('Private networks');
    await user.click(user.page.getByRole('link', { name: 'home', exact: true }));
    await user.press('Enroll device', user.page.getByRole('region', { name: 'Devices' }));
    await user.field('Name').fill('phone');
    await user.press('Enroll device', user.dialog('Enroll a device in home'));
    await user.dialog('phone is enrolled').getByRole('img', { name: 'QR code of the config' }).waitFor();
    assert.ok(user.clicks <= 4, `${user.clicks} clicks`);
  });

  test('journey: an invitation in 2 clicks on its page', async (t) => {
    const user = await arrive(t);
    await user.menu('Members');
    await user.press('Invite member');
    await user.dialog('Invite member').getByLabel('Email address').fill('bob@example.test');
    await user.press('Send invitation', user.dialog('Invite member'));
    await user.page.getByRole('table', { name: 'Invitations' }).getByText('bob@example.test').waitFor();
    assert.match((await smtp.nextMail('bob@example.test')).text, /\/app\/invite/);
    assert.equal(user.clicks, 1 + 2);
  });

  test('journey: a password in 2 clicks on the page of access control', async (t) => {
    const user = await arrive(t);
    await user.menu('Tunnels');
    await user.click(user.page.getByRole('link', { name: 'shop', exact: true }).first());
    await user.click(user.page.getByRole('tab', { name: 'Access control' }));
    const panel = user.page.getByRole('region', { name: 'Password' });
    await panel.getByRole('textbox', { name: 'User name' }).fill('team');
    await user.press('Generate password', panel);
    await user.press('Require password', panel);
    await panel.getByText('The user name is team').waitFor();
    assert.equal(await visit(), 401);
    assert.equal(user.clicks, 3 + 2);
    const { status } = await fixture.culvert.account.call('DELETE', `/tunnels/${shop}/auth`);
    assert.ok(status < 300);
  });

  test('journey: a webhook receiver that forwards to a tunnel in at most 5 clicks', async (t) => {
    const user = await arrive(t);
    await user.menu('Webhooks');
    await user.press('New receiver');
    await user.field('Name').fill('orders');
    await user.click(user.field('Forward to tunnel'));
    await user.click(user.page.getByRole('option', { name: /^shop/ }));
    await user.press('Create receiver');
    const created = user.dialog('Receiver orders created');
    const url = await created.getByRole('group', { name: 'the URL' }).innerText();
    const secret = await created.getByRole('group', { name: 'the secret', exact: true }).innerText();
    assert.ok(user.clicks <= 5, `${user.clicks} clicks`);
    const body = '{"action":"opened"}';
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'push', 'content-type': 'application/json' };
    const accepted = await fetch(url, { method: 'POST', headers, body });
    assert.ok(accepted.ok, String(accepted.status));
    await user.press('Done', created);
    await user.page.getByRole('table', { name: 'Deliveries' }).getByText('Delivered').waitFor();
  });
});
