// group: browser
/** The page of one tunnel: what stands in front of it, maintenance, its end; and who is offered what. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { get } from '../harness/visitor.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const HOSTILE = '<img src=x onerror="document.title=1">Back at six';

/** Identity provider of visitors; no test follows the redirect. */
const PROVIDER = '[oauth.google]\nclient_id = "a"\nclient_secret = "b"\nissuer = "https://id.example.com"\n';

suite('one tunnel', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let shop: string;
  let url: string;
  const made = async (body: object): Promise<string> => {
    const answer = await fixture.culvert.account.call('POST', '/tunnels', body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return String(answer.body['id']);
  };
  const visit = (credentials = '') =>
    get(url.replace('://', `://${credentials}`) + '/', fixture.culvert.ports.http).then(
      ({ status, code }) => code ?? status,
    );

  before(async () => {
    fixture = await startFixture(ends, { toml: PROVIDER });
    const origin = await startOrigin(ends, (_, response) => response.end('hello'));
    shop = await made({ localPort: origin.port, subdomain: 'shop' });
    const agent = fixture.culvert.agent(['http', String(origin.port), '--subdomain', 'shop']);
    url = await agent.printed(/^(http:\/\/shop\.\S+)$/m);
  });

  test('tunnel page: a password set here is required until it is removed', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}?tab=access-control`);
    await heading(page, 'shop');
    const panel = page.getByRole('region', { name: 'Password' });
    await panel.getByRole('button', { name: 'Require password' }).click();
    await panel.getByText('Enter a user name').waitFor();
    await panel.getByRole('textbox', { name: 'User name' }).fill('team');
    await panel.getByRole('button', { name: 'Generate password' }).click();
    const password = await panel.getByLabel('Password', { exact: true }).inputValue();
    await noSeriousFinding(page);
    await panel.getByRole('button', { name: 'Require password' }).click();
    await panel.getByText('The user name is team').waitFor();
    assert.equal(await visit(), 'unauthorized');
    assert.equal(await visit(`team:${password}@`), 200);
    assert.equal(await panel.getByRole('group', { name: 'the password' }).innerText(), password);
    await noSeriousFinding(page);
    await panel.getByRole('button', { name: 'Done' }).click();
    assert.doesNotMatch(await page.content(), new RegExp(password), 'it is gone from the page');
    await shoot(page, 'tunnel-access-control');
    await panel.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove the password from shop?' });
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Remove password' }).click();
    await panel.getByRole('button', { name: 'Require password' }).waitFor();
    assert.equal(await visit(), 200);
  });

  test('tunnel page: visitor login by a list of domains and one of addresses', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}?tab=access-control`);
    const panel = page.getByRole('region', { name: 'Visitor login' });
    await panel.getByRole('button', { name: 'Require visitor login' }).click();
    await panel.getByText('Add at least one domain or email address').waitFor();
    await panel.getByLabel('Allowed domains').fill('@Example.com,');
    await panel.getByLabel('Allowed email addresses').fill('no-address');
    await panel.getByRole('button', { name: 'Require visitor login' }).click();
    await panel.getByText('no-address is not an ASCII email address').waitFor();
    await panel.getByLabel('Allowed email addresses').press('Backspace');
    await panel.getByRole('button', { name: 'Require visitor login' }).click();
    await panel.getByRole('button', { name: 'Save lists' }).waitFor();
    const { body } = await fixture.culvert.account.call('GET', `/tunnels/${shop}/edge-auth`);
    assert.deepEqual([body['allowed_domains'], body['allowed_emails']], [['example.com'], []]);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-login');
    await panel.getByRole('button', { name: 'Remove login' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove login' }).click();
    await panel.getByRole('button', { name: 'Require visitor login' }).waitFor();
    assert.equal(await visit(), 200);
  });

  test('tunnel page: maintenance shows visitors its message as text until it ends', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}`, { context: { colorScheme: 'dark' } });
    await page.getByRole('tab', { name: 'Maintenance' }).click();
    const panel = page.getByRole('region', { name: 'Maintenance', exact: true });
    await panel.getByRole('textbox', { name: 'Message (optional)' }).fill(HOSTILE);
    await panel.getByText(`${HOSTILE.length} of 500 characters`).waitFor();
    await panel.getByRole('button', { name: 'Start maintenance' }).click();
    const question = page.getByRole('dialog', { name: 'Start maintenance for shop?' });
    assert.equal(await visit(), 200, 'visitors are not blocked before the confirmation');
    await noSeriousFinding(page);
    await question.getByRole('button', { name: 'Start maintenance' }).click();
    await panel.getByText('On', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('region', { name: 'In maintenance' }).getByText(HOSTILE).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-dark');
    await page.getByRole('tab', { name: 'Maintenance' }).click();
    assert.equal(await visit(), 'maintenance');
    assert.equal(await page.locator('main img').count(), 0);
    await page.reload();
    assert.equal(await panel.getByRole('textbox', { name: 'Message (optional)' }).inputValue(), HOSTILE);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-maintenance');
    await panel.getByRole('button', { name: 'End maintenance' }).click();
    await page.getByText('Online', { exact: true }).waitFor();
    assert.equal(await visit(), 200);
    await shoot(page, 'tunnel-maintenance-ended');
    await noSeriousFinding(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    await panel.getByText('On', { exact: true }).waitFor();
    assert.equal(await visit(), 'maintenance');
    assert.equal(await panel.getByRole('textbox', { name: 'Message (optional)' }).inputValue(), HOSTILE);
    await panel.getByRole('button', { name: 'End maintenance' }).click();
    await page.getByText('Online', { exact: true }).waitFor();
    assert.equal(await visit(), 200);
  });

  test('tunnel page: a tunnel that is online stops after confirmation', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}`);
    const question = page.getByRole('dialog', { name: 'Stop the tunnel shop?' });
    await page.getByRole('button', { name: 'Stop' }).click();
    await noSeriousFinding(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await visit(), 200);
    await page.getByRole('button', { name: 'Stop' }).click();
    await question.getByRole('button', { name: 'Stop tunnel' }).click();
    await page.getByRole('region', { name: 'Stopped' }).waitFor();
    assert.equal(await visit(), 'tunnel_offline');
  });

  test('tunnel page: an offline tunnel shows since when and why, and the command that brings it back', async (t) => {
    const id = await made({ localPort: 3000, subdomain: 'night' });
    const page = await fixture.open(t, `/tunnels/${id}`);
    await page.getByText('Never connected', { exact: true }).waitFor();
    const agent = fixture.culvert.agent(['http', '3000', '--subdomain', 'night']);
    await page.getByText('Online', { exact: true }).waitFor();
    assert.equal(await agent.stop(), 0);
    const notice = page.getByRole('region', { name: 'Offline' });
    await notice.getByText(/^OfflineThe last agent left .+ \(stopped\)\./).waitFor();
    await page.getByRole('heading', { name: 'Bring the tunnel back' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-offline');
    await notice.getByRole('link', { name: 'Ended connections' }).click();
    await page.waitForURL(/\/connections$/);
  });

  test('tunnel page: a tunnel is stopped, started and deleted from its header', async (t) => {
    const id = await made({ localPort: 3000, subdomain: 'short', ttlSeconds: 3600 });
    const page = await fixture.open(t, `/tunnels/${id}`);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('region', { name: 'Stopped' }).waitFor();
    await page.getByRole('group', { name: 'Undo' }).getByText('Tunnel short stopped.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Never connected').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('region', { name: 'Stopped' }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Never connected').waitFor();
    const end = async () =>
      Date.parse(String((await fixture.culvert.account.call('GET', `/tunnels/${id}`)).body['expiresAt']));
    const before = await end();
    const renewed = page.waitForResponse((response) => response.url().endsWith('/start'));
    await page.getByRole('button', { name: 'Extend' }).click();
    await renewed;
    assert.ok((await end()) > before, 'its time begins anew');
    await page.getByRole('button', { name: 'Delete tunnel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the tunnel short?' });
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Delete tunnel' }).click();
    await heading(page, 'Tunnels');
    assert.equal((await fixture.culvert.account.call('GET', `/tunnels/${id}`)).status, 404);
    await page.goBack();
    assert.equal(await page.getByRole('heading', { level: 1, name: 'short' }).count(), 0);
  });

  test('tunnel page: the former address ?tab=gates leads to access control', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}?tab=gates`);
    await page.waitForURL(/\?tab=access-control$/);
    await page.getByRole('region', { name: 'Visitor login' }).waitFor();
  });

  test('tunnel page: a tcp tunnel shows why it has no access control; a missing tunnel is reported', async (t) => {
    const id = await made({ localPort: 5432, subdomain: 'postgres', protocol: 'tcp' });
    const page = await fixture.open(t, `/tunnels/${id}?tab=access-control`);
    await page.getByText('Passwords and visitor login do not apply').waitFor();
    await shoot(page, 'tunnel-tcp');
    await page.goto(`${fixture.culvert.apiUrl}/app/tunnels/${id.replace(/^..../, 'ffff')}`);
    await page.getByRole('heading', { name: 'Tunnel not found' }).waitFor();
    await noSeriousFinding(page);
  });

  test('tunnel page: a plan without visitor login links to the plans', async (t) => {
    const as = await fixture.person('free@example.com');
    const page = await fixture.open(t, '/tunnels', { as, context: { viewport: PHONE } });
    await page.getByRole('button', { name: 'New tunnel' }).click();
    await page.getByRole('textbox', { name: 'Local port' }).fill('3000');
    await page.getByRole('combobox', { name: 'Expires' }).click();
    assert.deepEqual(await page.getByRole('option').allInnerTexts(), ['1 hour, the maximum of your plan']);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create tunnel' }).click();
    await page.getByRole('tab', { name: 'Access control' }).click();
    await page.getByRole('region', { name: 'Visitor login' }).getByRole('link', { name: 'See plans' }).waitFor();
    await fits(page);
    await noSeriousFinding(page);
    await shoot(page, 'tunnel-access-control-phone');
  });
});

async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}
