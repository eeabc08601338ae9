// group: browser
/** Charts of latency: on the page of a tunnel and the overview, by pointer, keyboard and on a phone; a selection opens the inspector. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { get } from '../harness/visitor.ts';
import { NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const DARK_PHONE = { colorScheme: 'dark', viewport: PHONE } as const;
const REQUESTS = 6;

suite('charts of latency', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let shop: string;

  before(async () => {
    fixture = await startFixture(ends);
    const origin = await startOrigin(ends, ({ url }, answer) => {
      answer.statusCode = { '/broken': 500, '/missing': 404 }[url ?? ''] ?? 200;
      void sleep(url === '/slow' ? 300 : 0).then(() => answer.end('hello'));
    });
    const { account, ports } = fixture.culvert;
    const made = await account.call('POST', '/tunnels', { localPort: origin.port, subdomain: 'shop' });
    shop = String(made.body['id']);
    await fixture.culvert
      .agent(['http', String(origin.port), '--subdomain', 'shop'])
      .printed(/http:\/\/shop\.localhost:\d+/);
    for (const path of ['/', '/a', '/b', '/slow', '/missing', '/broken'])
      await get(`http://shop.localhost:${ports.http}${path}`, ports.http);
    // The edge reports every ten seconds.
    for (let count = 0; count < REQUESTS; await sleep(200)) {
      const { body } = await account.call('GET', `/tunnels/${shop}/latency`);
      count = (body['summary'] as { count: number }).count;
    }
  });

  test('tunnel page: latency and status classes are shown, and follow range and part', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}`);
    const panel = page.getByRole('region', { name: 'Latency and errors' });
    await panel.getByText(/^p50 [\d.]+ ms, p95 \d+ ms, p99 \d+ ms in the last 24 hours$/).waitFor();
    await panel.getByText('6 requests in the last 24 hours, 17 % server errors').waitFor();
    await panel.getByText('5xx', { exact: true }).waitFor();
    await panel.getByText('1 h', { exact: true }).click();
    await panel.getByText(/ in the last hour$/).waitFor();
    await panel.getByText('Whole response', { exact: true }).click();
    const chart = panel.getByRole('slider', { name: 'Latency (whole response), by time' });
    await chart.waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'latency');
    const box = await chart.boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width - 14, box.y + box.height / 2);
    await panel.getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d to \d\d:\d\d [+-]\d\d:\d\d: /).waitFor();
  });

  test('tunnel page: a chart that is dragged over opens its requests in the inspector', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}`);
    const chart = page.getByRole('slider', { name: 'Requests by status, by time' });
    const box = await chart.boundingBox();
    assert.ok(box !== null);
    await page.mouse.move(box.x + box.width - 60, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/\/inspector\?/);
    const asked = new URL(page.url()).searchParams;
    assert.equal(asked.get('tunnel'), shop);
    const [since, until] = ['since', 'until'].map((name) => Date.parse(asked.get(name) ?? ''));
    assert.ok(since !== undefined && until !== undefined && since < Date.now() && until > since, page.url());
    assert.equal(since % 900_000, 0, 'whole buckets');
    await page.getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d to /).waitFor();
    await page.getByText('/slow').first().waitFor();
    await page.getByRole('button', { name: 'Any time' }).click();
    await page.waitForURL((url) => !url.searchParams.has('until') && !url.searchParams.has('since'));
  });

  test('overview: the charts work by keyboard, and Enter opens the inspector', async (t) => {
    const page = await fixture.open(t, '/');
    const panel = page.getByRole('region', { name: 'Latency and errors' });
    const chart = panel.getByRole('slider', { name: 'Requests by status, by time' });
    await chart.focus();
    await page.keyboard.press('Home');
    assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /: no requests$/);
    await page.keyboard.press('End');
    const said = (await chart.getAttribute('aria-valuetext')) ?? '';
    assert.match(said, /^\d{4}-\d\d-\d\d \d\d:\d\d to \d\d:\d\d [+-]\d\d:\d\d: (no requests|2xx)/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/inspector\?since=.*&until=/);
  });

  test('tunnel page: the charts fit a phone in the dark', async (t) => {
    const page = await fixture.open(t, `/tunnels/${shop}`, { context: DARK_PHONE });
    await page.getByText('6 requests in the last 24 hours, 17 % server errors').waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'latency-phone-dark');
  });
});
