// group: browser
/** The list of tunnels: the first one, made and connected; and all of them, found, stopped, started and deleted. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { Account } from '../harness/account.ts';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { get } from '../harness/visitor.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('the list of tunnels', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  const made = async (body: object): Promise<string> => {
    const answer = await fixture.culvert.account.call('POST', '/tunnels', body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return String(answer.body['id']);
  };
  before(async () => {
    fixture = await startFixture(ends);
    const { status } = await fixture.culvert.account.call('POST', '/projects', { slug: 'docs', name: 'Documentation' });
    assert.equal(status, 201);
  });

  test('tunnels page: a new tunnel shows its command, and is online once that runs', async (t) => {
    const origin = await startOrigin(t, (_, response) => response.end('hello'));
    const page = await fixture.open(t, '/tunnels');
    await page.getByRole('heading', { name: 'No tunnels yet' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'tunnels-empty');
    await page.getByRole('button', { name: 'New tunnel' }).click();
    const dialog = page.getByRole('dialog', { name: 'New tunnel' });
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('Guide');
    await dialog.getByRole('button', { name: 'Create tunnel' }).click();
    await dialog.getByText('Enter the port of your service').waitFor();
    await dialog.getByText('Use lowercase only').waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('textbox', { name: 'Local port' }).fill(String(origin.port));
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('admin');
    await dialog.getByRole('button', { name: 'Create tunnel' }).click();
    await dialog.getByText(/admin .*(reserved|server|taken|used)/i).waitFor();
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('guide');
    await choose(dialog, 'Project', 'Documentation');
    await dialog.getByText('guide-docs.localhost').waitFor();
    await shoot(page, 'tunnels-new');
    await dialog.getByRole('button', { name: 'Create tunnel' }).click();
    await heading(page, 'guide-docs');
    await page.getByRole('heading', { name: 'Waiting for an agent' }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const command = await page.getByRole('group', { name: 'the command', exact: true }).innerText();
    const [, key = '', port, name = '', project = ''] =
      /^CULVERT_TOKEN=(\S+) culvert http (\d+) --subdomain (\S+) --project (\S+) --server \S+$/.exec(command) ?? [];
    assert.equal(Number(port), origin.port, command);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-waiting');
    fixture.culvert.agent(['http', String(origin.port), '--subdomain', name, '--project', project], { token: key });
    await page.getByText('Online', { exact: true }).waitFor();
    const url = await page.getByRole('link', { name: /^http:/ }).innerText();
    assert.equal((await get(`${url}/orders`, fixture.culvert.ports.http)).body, 'hello');
    await page.getByRole('link', { name: 'GET /orders' }).waitFor();
    await page
      .getByRole('region', { name: 'Served by' })
      .getByText(/^culvert \d.*, key .*, connected /)
      .waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-online');
  });

  test('tunnels page: tunnels are searched, stopped, started, put into maintenance and deleted in their rows', async (t) => {
    await made({ localPort: 3000, subdomain: 'shop' });
    const api = await made({ localPort: 5432, subdomain: 'postgres', protocol: 'tcp' });
    await made({ localPort: 8080, subdomain: 'preview', ttlSeconds: 3600 });
    const page = await fixture.open(t, '/tunnels');
    await rowOf(page, 'shop').getByText('Never connected').waitFor();
    await noSeriousFinding(page);
    await page.getByRole('textbox', { name: 'Search tunnels' }).fill('post');
    await rowOf(page, 'shop').waitFor({ state: 'detached' });
    await action(page, 'postgres', 'Stop');
    await rowOf(page, 'postgres').getByText('Stopped').waitFor();
    assert.equal(new URL(page.url()).search, '?q=post');
    await page.getByRole('button', { name: 'Clear search' }).click();
    await choose(page, 'State', /^Stopped \(1\)/);
    await rowOf(page, 'shop').waitFor({ state: 'detached' });
    await action(page, 'postgres', 'Start');
    await page.getByRole('heading', { name: 'No tunnels match' }).waitFor();
    await page.getByRole('button', { name: /^Show all/ }).click();
    await action(page, 'shop', 'Start maintenance');
    await rowOf(page, 'shop').getByText('Maintenance').waitFor();
    const visitor = await get(`http://shop.localhost:${fixture.culvert.ports.http}/`, fixture.culvert.ports.http);
    assert.equal(visitor.code, 'maintenance');
    await shoot(page, 'tunnels');
    await action(page, 'shop', 'End maintenance');
    await rowOf(page, 'shop').getByText('Never connected').waitFor();
    // Actions that cut visitors off need a confirmation.
    await action(page, 'guide-docs', 'Stop');
    await page
      .getByRole('dialog', { name: 'Stop the tunnel guide-docs?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await action(page, 'guide-docs', 'Start maintenance');
    const shut = page.getByRole('dialog', { name: 'Start maintenance for guide-docs?' });
    await rowOf(page, 'guide-docs').getByText('Online').waitFor();
    await shut.getByRole('button', { name: 'Start maintenance' }).click();
    await rowOf(page, 'guide-docs').getByText('Maintenance').waitFor();
    await action(page, 'postgres', 'Delete tunnel');
    const dialog = page.getByRole('dialog', { name: 'Delete the tunnel postgres?' });
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Delete tunnel' }).click();
    await rowOf(page, 'postgres').waitFor({ state: 'detached' });
    assert.equal((await fixture.culvert.account.call('GET', `/tunnels/${api}`)).status, 404);
  });

  test('tunnels page: fits a phone', async (t) => {
    await made({ localPort: 3000, subdomain: `a-${'long'.repeat(15)}` });
    const page = await fixture.open(t, '/tunnels', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await rowOf(page, 'preview').waitFor();
    await fits(page);
    await noSeriousFinding(page);
    await shoot(page, 'tunnels-phone');
    await page.getByRole('link', { name: /^a-long[^.]*$/ }).click();
    await page.getByRole('heading', { name: 'Waiting for an agent' }).waitFor();
    await fits(page);
    await shoot(page, 'tunnel-phone');
  });

  test('tunnels page: a viewer is offered no action', async (t) => {
    const { culvert } = fixture;
    const as = await fixture.person('watcher@example.com');
    const { active_org: org } = (await culvert.account.call('GET', '/auth/me')).body as { active_org: { id: string } };
    const invited = await culvert.account.call('POST', `/orgs/${org.id}/invitations`, {
      email: as.email,
      role: 'viewer',
    });
    assert.equal(invited.status, 201, JSON.stringify(invited.body));
    const token = await culvert.server.printed(/"to":"watcher@example.com".*invite\?token=([\w-]+)/);
    const watcher = await Account.logIn(culvert.apiUrl, as.email, as.password);
    assert.equal((await watcher.call('POST', '/orgs/invitations/accept', { token })).status, 200);
    const page = await fixture.open(t, '/tunnels', { as });
    await page.getByRole('button', { name: /^Organization/ }).click();
    await page.getByRole('menuitem', { name: /viewer/ }).click();
    await rowOf(page, 'shop').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(New tunnel|Actions for|Connect)/ }).count(), 0);
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByRole('tab', { name: 'Access control' }).click();
    await page.getByRole('region', { name: 'Visitor login' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Ask|Stop|Start|Delete|Generate/ }).count(), 0);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-watched');
  });

  test('tunnels page: no visitor login without an identity provider, with a hint for the operator', async (t) => {
    const page = await fixture.open(t, '/tunnels');
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByRole('tab', { name: 'Access control' }).click();
    const panel = page.getByRole('region', { name: 'Visitor login' });
    await panel.getByText(/The operator must set oauth\.google\.client_id and client_secret/).waitFor();
    assert.ok(await panel.getByRole('button', { name: 'Require visitor login' }).isDisabled());
    assert.equal(await panel.getByRole('textbox').count(), 0);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-no-provider');
  });
});

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
}

async function action(page: Page, name: string, what: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: what, exact: true }).click();
}

async function choose(of: Page | Locator, label: string, option: string | RegExp): Promise<void> {
  await of.getByRole('combobox', { name: label }).click();
  const page = 'goto' in of ? of : of.page();
  await page.getByRole('option', { name: option }).click();
}

async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}
