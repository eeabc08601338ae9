import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { type Harness, startHarness } from './harness.ts';

const CHROMIUM = '/usr/bin/chromium';
let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

test('the page and its files are public, cached, and of the right type, also under /api', async () => {
  for (const base of ['', '/api']) {
    for (const [path, type] of [
      ['/docs', 'text/html'],
      ['/docs/start.js', 'text/javascript'],
      ['/docs/swagger-ui-bundle.js', 'text/javascript'],
      ['/docs/swagger-ui.css', 'text/css'],
    ] as const) {
      const answer = await h.call('GET', base + path);
      assert.equal(answer.status, 200, path);
      assert.ok(answer.headers.get('content-type')?.startsWith(type), path);
    }
  }
  const page = await h.call('GET', '/docs');
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  const file = await h.call('GET', '/docs/swagger-ui.css');
  const etag = file.headers.get('etag') ?? '';
  assert.equal((await h.call('GET', '/docs/swagger-ui.css', { headers: { 'if-none-match': etag } })).status, 304);
  for (const path of ['/docs/nothing.js', '/docs/constructor', '/docs/..%2f..%2fpackage.json'])
    assert.equal((await h.call('GET', path)).status, 404, path);
});

test('a client that takes no gzip gets the plain file, and both are the same', async () => {
  // `fetch` would unpack by itself.
  const fetched = async (encoding: string): Promise<Buffer> => {
    const request = get(`${h.server.apiUrl}/docs/swagger-ui.css`, { headers: { 'accept-encoding': encoding } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return buffer(response);
  };
  const plain = await fetched('identity');
  const packed = await fetched('gzip');
  assert.ok(packed.length < plain.length / 2);
  assert.deepEqual(gunzipSync(packed), plain);
});

/** Evaluated in the page: half a screen down, until that is painted. */
const SCROLL = `scrollBy(0, innerHeight / 2);
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`;
const SHOWN = "[...document.querySelectorAll('.opblock')].map(({ id }) => id)";
const inBrowser = { skip: !existsSync(CHROMIUM) && 'needs the Debian package chromium', timeout: 60_000 };
test('a browser shows every operation, asks no other host, and finds no fault', inBrowser, async () => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    const asked: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${h.server.apiUrl}/docs`);
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
    await page.goto(`${h.server.apiUrl}/docs?again#/auth/post_auth_login`);
    await page.getByText('access_token', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .response-col_status').first().waitFor();
    assert.match(await page.locator('.live-responses-table .response-col_status').last().innerText(), /^401/);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(h.server.apiUrl) && !url.startsWith('data:')),
      [],
    );
    assert.deepEqual(
      // Swagger UI says the second of every link to an operation whose id has an underscore.
      faults.filter((text) => !text.includes('401') && !text.startsWith('Deprecated: escaping deep link')),
      [],
    );
    if (process.env['CULVERT_SCREENSHOTS'] !== undefined) {
      await page.screenshot({ path: `${process.env['CULVERT_SCREENSHOTS']}/docs.png` });
    }
  } finally {
    await browser.close();
  }
});

test('whoever is signed in at this origin tries an operation without pasting a token', inBrowser, async () => {
  const { password } = await h.account('docs@example.com');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    // The first page asks too, and may ask late: nobody is signed in yet.
    const asNobody = page.waitForResponse(`${h.server.apiUrl}/auth/refresh`);
    await page.goto(`${h.server.apiUrl}/docs`);
    assert.equal((await asNobody).status(), 401);
    const login = { email: 'docs@example.com', password };
    const status = await page.evaluate(async (credentials) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch('/auth/login', { method: 'POST', headers, body: JSON.stringify(credentials) });
      return answer.status;
    }, login);
    assert.equal(status, 200);
    const swapped = page.waitForResponse(`${h.server.apiUrl}/auth/refresh`);
    await page.goto(`${h.server.apiUrl}/docs?again#/auth/get_auth_me`);
    assert.equal((await swapped).status(), 200);
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .response-col_status').first().waitFor();
    assert.match(await page.locator('.live-responses-table .response-col_status').last().innerText(), /^200/);
  } finally {
    await browser.close();
  }
});
