// group: browser
/** The page of the API's document as people use it. Its files are judged by api-reference.test.ts. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { NO_CHROMIUM, startChromium } from '../../../test/harness/chromium.ts';
import { Ending } from '../../../test/harness/ends.ts';
import { type Harness, startHarness } from '../core/testing/harness.ts';

const ending = new Ending();
let h: Harness;
let browser: Browser;
before(async () => {
  if (NO_CHROMIUM !== false) return;
  h = await startHarness();
  ending.after(() => h.close());
  browser = await startChromium(ending);
});
after(() => ending.run());

/** Evaluated in the page: half a screen down, until that is painted. */
const SCROLL = `scrollBy(0, innerHeight / 2);
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`;
const SHOWN = "[...document.querySelectorAll('.opblock')].map(({ id }) => id)";
const inBrowser = { skip: NO_CHROMIUM, timeout: 120_000 };
/** Swagger UI computes for 7 s until an operation is open, most of it to resolve the document: 16 s beside two busy test suites. */
const SHOWN_MS = 90_000;

test('a browser shows every operation, asks no other host, and finds no fault', inBrowser, async (t) => {
  const { page, assertNoFault } = await openReference(t, '/docs/api/');
  await page.locator('.opblock').first().waitFor();
  const document = JSON.parse((await h.call('GET', '/openapi.json')).text) as { paths: Record<string, object> };
  const count = Object.values(document.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
  // What is far outside the window is not in the page: its height grows while it is read downwards.
  const seen = new Set<string>();
  for (let screens = 0; seen.size < count && screens < count; screens += 1) {
    for (const id of await page.evaluate<string[]>(SHOWN)) seen.add(id);
    await page.evaluate(SCROLL);
  }
  assert.equal(seen.size, count);
  assertNoFault();
});

test('a browser opens the operation that a link names, and tries it', inBrowser, async (t) => {
  const { page, assertNoFault } = await openReference(t, '/docs/api/#/auth/post_auth_login');
  await page.getByText('access_token', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status').first().waitFor();
  assert.match(await page.locator('.live-responses-table .response-col_status').last().innerText(), /^401/);
  assertNoFault();
  if (process.env['CULVERT_SCREENSHOTS'] !== undefined) {
    await page.screenshot({ path: `${process.env['CULVERT_SCREENSHOTS']}/api-reference.png` });
  }
});

test(
  'API reference: a user logged in at this origin tries an operation without pasting a token',
  inBrowser,
  async (t) => {
    const { password } = await h.account('docs@example.com');
    const page = await openPage(t);
    // The first page asks too, and may ask late: no user is logged in yet.
    const signedOut = page.waitForResponse(`${h.server.apiUrl}/auth/refresh`);
    await page.goto(`${h.server.apiUrl}/docs/api/`);
    assert.equal((await signedOut).status(), 401);
    const login = { email: 'docs@example.com', password };
    const status = await page.evaluate(async (credentials) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch('/auth/login', { method: 'POST', headers, body: JSON.stringify(credentials) });
      return answer.status;
    }, login);
    assert.equal(status, 200);
    const swapped = page.waitForResponse(`${h.server.apiUrl}/auth/refresh`);
    await page.goto(`${h.server.apiUrl}/docs/api/?again#/auth/get_auth_me`);
    assert.equal((await swapped).status(), 200);
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .response-col_status').first().waitFor();
    assert.match(await page.locator('.live-responses-table .response-col_status').last().innerText(), /^200/);
  },
);

async function openPage(t: TestContext): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  t.after(() => page.close());
  page.setDefaultTimeout(SHOWN_MS);
  return page;
}

/** `assertNoFault`: so far the page asked its own server alone, and said nothing of a fault. */
async function openReference(t: TestContext, path: string): Promise<{ page: Page; assertNoFault: () => void }> {
  const page = await openPage(t);
  const asked: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`${h.server.apiUrl}${path}`);
  const assertNoFault = () => {
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(h.server.apiUrl) && !url.startsWith('data:')),
      [],
    );
    assert.deepEqual(
      // Swagger UI says the second of every link to an operation whose id has an underscore.
      faults.filter((text) => !text.includes('401') && !text.startsWith('Deprecated: escaping deep link')),
      [],
    );
  };
  return { page, assertNoFault };
}
