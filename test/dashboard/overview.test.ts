// group: browser
/** The overview of an organization that publishes: counters, traffic over time, tunnels online, latest requests, warnings. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { get } from '../harness/visitor.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const DARK_PHONE = { colorScheme: 'dark', viewport: PHONE } as const;

suite('the overview', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let visit: (path: string) => Promise<unknown>;
  before(async () => {
    fixture = await startFixture(ends);
    const origin = await startOrigin(ends, ({ url }, answer) => {
      answer.statusCode = url === '/missing' ? 404 : 200;
      answer.end('x'.repeat(2_000));
    });
    await fixture.culvert
      .agent(['http', String(origin.port), '--subdomain', 'shop'])
      .printed(/http:\/\/shop\.localhost:\d+/);
    visit = (path) => get(`http://shop.localhost:${fixture.culvert.ports.http}${path}`, fixture.culvert.ports.http);
    for (const path of ['/', '/cart', '/missing']) await visit(path);
    await fixture.culvert.account.call('POST', '/domains', { domain: 'shop.example.org' });
  });

  test('overview: counters, tunnels and requests update by themselves', async (t) => {
    const page = await fixture.open(t, '/');
    await heading(page, 'Overview');
    const tunnels = page.getByRole('list', { name: 'Tunnels online' });
    await tunnels.getByText('3 requests').waitFor();
    assert.match((await tunnels.getByRole('link', { name: /^http/ }).getAttribute('href')) ?? '', /^http:\/\/shop\./);
    const requests = page.getByRole('list', { name: 'Latest requests' });
    await requests.getByText('GET /missing').waitFor();
    await requests.getByText('404').waitFor();
    await visit('/later?<img src=x onerror=alert(1)>');
    await requests.getByText('GET /later?').waitFor();
    const now = page.getByRole('group', { name: 'Now, and in the last 24 hours' });
    await now.getByRole('link', { name: /^Requests\s*4/ }).waitFor();
    await now.getByRole('link', { name: /^Agents connected\s*1/ }).waitFor();
    await page.getByText('Domain shop.example.org is not verified').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'overview');
    await tunnels.getByRole('link', { name: 'shop', exact: true }).click();
    await page.waitForURL(/\/tunnels\/[\w-]+$/);
  });

  test('overview: "Show all" takes the keyboard to the first problem that it shows', async (t) => {
    const page = await fixture.open(t, '/domains');
    const problems = Array.from({ length: 10 }, (_, nth) => ({
      ...{ severity: 'warning', kind: 'domain', title: `Problem ${nth}`, detail: 'Check it.', since: null },
      ...{ object: { type: 'domain', id: `d${nth}` }, action: { label: 'Open domains', href: '/app/domains' } },
    }));
    await page.route('**/attention', (route) => route.fulfill({ json: problems }));
    await page.getByRole('link', { name: /^Overview/ }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Show all 10' }).press('Enter');
    await page.getByText('Problem 9').waitFor();
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Problem 8/);
    await shoot(page, 'overview-all-problems');
  });

  test('overview: the chart shows each metric and span, and works by keyboard', async (t) => {
    const page = await fixture.open(t, '/');
    const traffic = page.getByRole('region', { name: 'Traffic' });
    await traffic.getByText(/^\d+ forwarded in the last 24 hours$/).waitFor();
    await traffic.getByText('1 h', { exact: true }).click();
    await traffic.getByText(/^\d+ forwarded in the last hour$/).waitFor();
    await traffic.getByText('Out', { exact: true }).click();
    await traffic.getByText(/KB in the last hour$/).waitFor();
    const chart = traffic.getByRole('slider', { name: 'Bytes to visitors, by time' });
    await chart.focus();
    await page.keyboard.press('End');
    const latest = (await chart.getAttribute('aria-valuetext')) ?? '';
    assert.match(latest, /^\d{4}-\d\d-\d\d \d\d:\d\d to \d\d:\d\d [+-]\d\d:\d\d: [\d.]+ K?B$/);
    await page.keyboard.press('ArrowLeft');
    const before = (await chart.getAttribute('aria-valuetext')) ?? '';
    assert.match(before, /^\d{4}-\d\d-\d\d \d\d:\d\d to \d\d:\d\d [+-]\d\d:\d\d: /);
    assert.notEqual(before, latest);
    assert.equal(await chart.getAttribute('aria-valuenow'), '58');
    await page.keyboard.press('Tab');
    await traffic.getByText(/KB in the last hour$/).waitFor();
    const box = await chart.boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width - 12, box.y + box.height / 2);
    await traffic.getByText(/ to \d\d:\d\d [+-]\d\d:\d\d: /).waitFor();
  });

  test('overview: fits a phone, and connects an agent from there', async (t) => {
    const page = await fixture.open(t, '/', { context: DARK_PHONE });
    await page.getByRole('list', { name: 'Latest requests' }).waitFor();
    await page.getByRole('slider').first().waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'overview-phone-dark');
    await page.getByRole('button', { name: 'Connect an agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect an agent' });
    await dialog.getByLabel('Local port').fill('8080');
    await dialog.getByText('Logged in', { exact: true }).click();
    await dialog.getByText(/^culvert http 8080 --server http/).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'connect-phone-dark');
  });
});
