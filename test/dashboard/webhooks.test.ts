// group: browser
/** Webhook receivers in the dashboard: made with a secret that is shown once, and what is signed with it comes, is read and is sent on. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { field, press } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const HOSTILE = '<img src=x onerror="document.title=`run`">';

suite('webhook receivers', { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let secret = '';
  let url = '';
  before(async () => {
    fixture = await startFixture(ends);
  });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
  const receiver = async () => {
    const { body } = await fixture.culvert.account.call('GET', '/webhook-receivers');
    const [first] = body as unknown as ReadonlyArray<{ id: string; url: string }>;
    assert.ok(first !== undefined);
    return first;
  };

  test('webhooks page: a receiver is created, and its secret is shown once', async (t) => {
    const page = await fixture.open(t, '/webhooks');
    await page.getByText('No receivers yet').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'webhooks-empty');
    await press(page, 'New receiver');
    await press(page, 'Create receiver');
    await page.getByText('Enter a name').waitFor();
    await field(page, 'Name').fill('orders');
    await noSeriousFinding(page);
    await shoot(page, 'webhooks-create');
    await press(page, 'Create receiver');
    const ready = dialog(page, 'Receiver orders created');
    url = await ready.getByRole('group', { name: 'the URL' }).innerText();
    secret = await ready.getByRole('group', { name: 'the secret', exact: true }).innerText();
    assert.match(secret, /^[\da-f]{64}$/);
    await noSeriousFinding(page);
    await shoot(page, 'webhooks-created');
    // A slip does not lose what is shown once.
    await page.keyboard.press('Escape');
    await press(page, 'Done');
    await heading(page, 'orders');
    await page.getByText('No deliveries yet').waitFor();
    await ready.waitFor({ state: 'hidden' });
    assert.equal((await receiver()).url, url);
    const kept = await page.evaluate<string>(
      'document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    assert.ok(!kept.includes(secret));
    await shoot(page, 'webhook-empty');
  });

  test('webhooks page: refusals are shown with a hint until a delivery is accepted', async (t) => {
    const page = await fixture.open(t, `/webhooks/${(await receiver()).id}`);
    await page.getByText('No deliveries yet').waitFor();
    for (let i = 0; i < 2; i++) assert.equal(await deliver(url, 'another', 'push'), 401);
    const notice = page.getByRole('region', { name: 'Rejected deliveries' });
    await notice.getByText('2 rejected: wrong signature, last').waitFor();
    await notice.getByText("The secret at GitHub may differ from this receiver's secret.").waitFor();
    await page.getByText('No deliveries accepted yet').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'webhook-refused');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('2 rejected', { exact: true }).waitFor();
    await shoot(page, 'webhooks-refused');
    await page.getByRole('link', { name: 'orders' }).click();
    await notice.getByRole('button', { name: 'New secret' }).click();
    await dialog(page, 'New secret for orders').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await deliver(url, secret, 'first'), 202);
    await page.getByText('2 rejected (wrong signature), last').waitFor();
    await notice.waitFor({ state: 'detached' });
    // It works: one that is forged is no fault of its secret.
    assert.equal(await deliver(url, 'another', 'push'), 401);
    await notice.getByText('1 rejected since the last accepted delivery: wrong signature').waitFor();
    assert.equal(await notice.getByRole('button', { name: 'New secret' }).count(), 0);
    await noSeriousFinding(page);
    await shoot(page, 'webhook-refused-one');
  });

  test('webhooks page: signed deliveries appear, newest first, and open with their body as text', async (t) => {
    const page = await fixture.open(t, `/webhooks/${(await receiver()).id}`);
    await page.getByRole('table', { name: 'Deliveries' }).getByText('first').waitFor();
    await deliver(url, secret, 'push');
    const list = page.getByRole('table', { name: 'Deliveries' });
    await list.getByText('push').waitFor();
    await deliver(url, secret, HOSTILE);
    await list.getByText(HOSTILE).waitFor();
    assert.match(await list.getByRole('row').nth(1).innerText(), /onerror/);
    await noSeriousFinding(page);
    await list.getByRole('button', { name: HOSTILE }).click();
    const drawer = dialog(page, HOSTILE);
    await drawer.getByRole('button', { name: /^Headers/ }).click();
    await drawer.getByText('x-github-delivery').waitFor();
    await drawer.getByText(/said/).first().waitFor();
    assert.equal(await drawer.locator('img').count(), 0);
    assert.equal(await page.title(), 'orders - Culvert');
    await noSeriousFinding(page);
    await shoot(page, 'webhook-delivery');
    assert.equal(await drawer.getByRole('button', { name: 'Redeliver' }).isDisabled(), true);
    // It has an address: a reload shows it again, Back closes it, and so does its button.
    await page.reload();
    await drawer.getByText('x-github-delivery').waitFor();
    await press(page, 'Close');
    await drawer.waitFor({ state: 'hidden' });
    assert.equal(new URL(page.url()).search, '');
    await list.getByRole('button', { name: 'push' }).click();
    await dialog(page, 'push').getByText('x-github-delivery').waitFor();
    // Held down, it comes again before the page has gone back.
    await page.evaluate(
      `for (let i = 0; i < 3; i++) document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))`,
    );
    await dialog(page, 'push').waitFor({ state: 'hidden' });
    await heading(page, 'orders');
    await list.getByRole('button', { name: 'push' }).click();
    await dialog(page, 'push').getByText('x-github-delivery').waitFor();
    await page.goBack();
    await dialog(page, 'push').waitFor({ state: 'hidden' });
    await heading(page, 'orders');
    await page.goForward();
    await dialog(page, 'push').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page, 'push').waitFor({ state: 'hidden' });
    const gone = '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10';
    await page.goto(`${page.url()}?delivery=${gone}`);
    await dialog(page, 'Delivery').getByText('The receiver has no delivery with this id').waitFor();
    await noSeriousFinding(page);
  });

  test('webhooks page: deliveries are forwarded to a tunnel, and one is sent again', async (t) => {
    const taken: string[] = [];
    let status = 200;
    const origin = await startOrigin(t, (incoming, outgoing) => {
      taken.push(`${incoming.url} ${String(incoming.headers['x-github-event'])}`);
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ status }));
    });
    const agent = fixture.culvert.agent(['http', String(origin.port), '--subdomain', 'shop']);
    await agent.printed(/shop/);
    const { id } = await receiver();
    const page = await fixture.open(t, `/webhooks/${id}`);
    await press(page, 'Forward to tunnel');
    await page
      .locator('input')
      .and(page.getByLabel('Tunnel', { exact: true }))
      .click();
    await page.getByRole('option', { name: /^shop/ }).click();
    await field(page, 'Path').fill('/hooks');
    await noSeriousFinding(page);
    await shoot(page, 'webhook-forward');
    await press(page, 'Forward');
    await page.getByText('/hooks', { exact: true }).waitFor();
    await deliver(url, secret, 'release');
    const list = page.getByRole('table', { name: 'Deliveries' });
    await list.getByText('Delivered').waitFor();
    await list.getByRole('button', { name: 'release' }).click();
    await press(page, 'Redeliver');
    await page.getByText('Redelivery queued').waitFor();
    const deadline = Date.now() + 15_000;
    while (taken.length < 2 && Date.now() < deadline) await page.evaluate('fetch(location.href)');
    assert.deepEqual(taken, ['/hooks release', '/hooks release']);
    const attempts = dialog(page, 'release').getByRole('region', { name: 'Attempts' });
    await attempts.getByRole('button', { name: /^200 / }).nth(1).waitFor();
    await attempts.getByRole('button').first().click();
    await attempts
      .getByText(/"status": 200/)
      .first()
      .waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'webhook-attempts');
    await page.keyboard.press('Escape');
    await dialog(page, 'release').waitFor({ state: 'hidden' });
    await noSeriousFinding(page);
    await shoot(page, 'webhook');

    // A test event takes the same way, and is marked.
    await press(page, 'Send test');
    await page.getByRole('menuitem', { name: 'issues' }).click();
    await dialog(page, 'issues').getByText('Test', { exact: true }).waitFor();
    await dialog(page, 'issues').getByRole('region', { name: 'Attempts' }).getByRole('button').waitFor();
    assert.equal(taken.at(-1), '/hooks issues');
    await noSeriousFinding(page);
    await shoot(page, 'webhook-test');
    await page.keyboard.press('Escape');
    await dialog(page, 'issues').waitFor({ state: 'hidden' });

    // The service breaks: the page says what fails, and when it is tried again.
    status = 500;
    await deliver(url, secret, 'broken');
    const failing = page.getByRole('region', { name: 'Failing delivery' });
    await failing.getByText('Forwarding fails: status 500').waitFor();
    await failing.getByText(/the next one (in \d+ s|now)/).waitFor();
    await list.getByText('Retrying').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'webhook-failing');
    status = 410;
    await list.getByText('Failed', { exact: true }).waitFor({ timeout: 60_000 });
    const states = page.locator('input').and(page.getByLabel('State', { exact: true }));
    await states.click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await list.getByRole('button', { name: 'release' }).waitFor({ state: 'detached' });
    await list.getByRole('button', { name: 'broken' }).waitFor();
    status = 200;
    await press(page, 'Redeliver range');
    const range = dialog(page, 'Redeliver from orders');
    await range.getByText('1 delivery matches. It is sent').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'webhook-redeliver');
    await range.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('1 delivery queued.').waitFor();
    await page.getByText('No deliveries match.').waitFor();
    await states.click();
    await page.getByRole('option', { name: 'All states' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('Up to date').waitFor();
    await shoot(page, 'webhooks');
  });

  test('webhooks page: fits a phone, in dark mode too', async (t) => {
    const page = await fixture.open(t, '/webhooks', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await page.getByRole('link', { name: 'orders' }).waitFor();
    await fits(page);
    await shoot(page, 'webhooks-phone-dark');
    await page.getByRole('link', { name: 'orders' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).waitFor();
    await fits(page);
    await shoot(page, 'webhook-phone-dark');
    await page.getByRole('button', { name: 'release' }).click();
    await dialog(page, 'release')
      .getByRole('button', { name: /^Headers/ })
      .click();
    await dialog(page, 'release').getByText('x-github-delivery').waitFor();
    await fits(page);
    await noSeriousFinding(page);
    await shoot(page, 'webhook-delivery-phone-dark');
  });

  test('webhooks page: a new secret accepts only its own signatures, and a receiver is deleted after confirmation', async (t) => {
    const { id } = await receiver();
    const page = await fixture.open(t, `/webhooks/${id}`);
    await press(page, 'New secret');
    await press(page, 'Set secret');
    const made = dialog(page, 'New secret for orders');
    const other = await made.getByRole('group', { name: 'the secret', exact: true }).innerText();
    await noSeriousFinding(page);
    await press(page, 'Done');
    assert.deepEqual([await deliver(url, secret, 'old'), await deliver(url, other, 'new')], [401, 202]);
    await press(page, 'Delete');
    const asked = dialog(page, 'Delete the receiver orders?');
    await asked.getByText(/stored deliveries are deleted with it/).waitFor();
    await noSeriousFinding(page);
    await asked.getByRole('button', { name: 'Delete receiver' }).click();
    await page.getByText('No receivers yet').waitFor();
  });
});

let deliveries = 0;

/** As GitHub signs it; says the status of the answer. */
async function deliver(to: string, secret: string, event: string): Promise<number> {
  const body = JSON.stringify({ said: HOSTILE, repository: { full_name: 'acme/shop' } });
  const outgoing = request(to, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': `delivery-${++deliveries}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  });
  outgoing.end(body);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  outgoing.on('error', reject);
  outgoing.on('response', (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  return promise;
}

async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}
