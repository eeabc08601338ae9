// group: browser
/**
 * The agent's own page as a developer has it open in Chromium, beside a real server, agent and service. Requests show up while they
 * happen; what is in them comes from strangers and stays text; pages of other sites get nothing.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { NO_CHROMIUM, openTab, press, startChromium, untilTrue } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { missing, run } from '../harness/tools.ts';
import { type PageService, startPageService } from './page-service.ts';

/** Sets `hit` on the page if it is ever taken for markup or code. */
const XSS = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg onload=window.hit=1>',
  "'-(window.hit=1)-'",
  '</pre></td></script><script>window.hit=1</script>',
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
  '<a href="javascript:window.hit=1">x</a>',
  '{{constructor.constructor("window.hit=1")()}}',
  '<math><mtext><style><img src=x onerror=window.hit=1>',
  '<!--><body onload=window.hit=1>',
];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"><script>window.hit=1</script></svg>';

suite("the agent's own page in Chromium", { timeout: 240_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let service: PageService;
  let browser: Browser;
  /** A site that is not the page, whose name comes to this machine. */
  let foreign: Server;

  before(async () => {
    service = await startPageService(ends);
    browser = await startChromium(ends, ['--host-resolver-rules=MAP *.test 127.0.0.1']);
    foreign = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<h1>another site</h1>'));
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    ends.after(() => foreign.close());
  });

  async function openPage(t: TestContext): Promise<Page> {
    const page = await openTab(inReverse(t), browser);
    await page.goto(service.pageUrl);
    await page.getByRole('status').getByText('online').waitFor();
    return page;
  }

  const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).first();

  test('a request shows up while the page is open, with its headers and bodies', async (t) => {
    const page = await openPage(t);
    const body = '{"order":{"id":7,"of":"Ann"}}';
    await service.visit('/echo/order?type=application/json', {
      ...{ method: 'POST', body },
      headers: { 'Content-Type': 'application/json', 'X-Shop': 'blue' },
    });
    await row(page, '/echo/order').click();
    await page.getByRole('heading', { name: 'POST /echo/order' }).waitFor();
    await page.getByRole('row', { name: 'X-Shop blue' }).waitFor();
    assert.equal(await page.locator('pre').first().textContent(), JSON.stringify(JSON.parse(body), null, 2));
    await press(page, 'Back');
    await page.getByLabel('Filter').waitFor();
  });

  test('the filter, and the keys', async (t) => {
    await service.visit('/missing/one');
    await service.visit('/there/one');
    const page = await openPage(t);
    await row(page, '/there/one').waitFor();
    const shown = (): Promise<string[]> => page.locator('.row .what').allTextContents();
    /** The list is drawn anew some frames after the last key. */
    const gone = (text: string): Promise<void> => row(page, text).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('404');
    await gone('/there/one');
    await page.getByText(/^\d+ of \d+ requests$/).waitFor();
    assert.ok((await shown()).every((text) => text.includes('/missing')));
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'GET /missing/one' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Filter').fill('GET /there');
    await gone('/missing/one');
    await page.getByText(/^\d+ of/).waitFor();
    assert.deepEqual([...new Set(await shown())], ['GET /there/one']);
    await page.getByLabel('Filter').fill('nothing like this');
    await page.getByText('No requests match the filter.').waitFor();
  });

  test('Replay sends it once more, marked; the answer is shown', async (t) => {
    await service.visit('/echo/again', { method: 'POST', body: 'same body', headers: { 'X-Sig': 'v1' } });
    const page = await openPage(t);
    await row(page, '/echo/again').click();
    const first = new URL(await page.evaluate<string>('location.href')).hash.slice(1);
    await press(page, 'Replay');
    await page.getByText('Replay of', { exact: true }).waitFor();
    await page.getByRole('row', { name: `Culvert-Replay ${first}` }).waitFor();
    const hooks = service.got.filter(({ line }) => line === 'POST /echo/again');
    assert.equal(hooks.length, 2);
    assert.deepEqual(
      hooks.map(({ body, headers }) => [body.toString(), headers['x-sig'], headers['culvert-replay']]),
      [
        ['same body', 'v1', undefined],
        ['same body', 'v1', first],
      ],
    );
  });

  test('hostile paths, headers and bodies are text, however they say what they are', async (t) => {
    const page = await openPage(t);
    let n = 0;
    const types = [
      'text/html',
      'application/json',
      'image/svg+xml',
      'text/plain',
      'image/png',
      'application/x-www-form-urlencoded',
    ];
    for (const text of [...XSS, SVG]) {
      const type = types[n++ % types.length] as string;
      const path = `/echo/${n}/${text.replaceAll(' ', '\u00a0').replace(/[#\u00a0]/g, '')}?type=${type}`;
      const body = type.endsWith('urlencoded') ? `a=${encodeURIComponent(text)}&${encodeURIComponent(text)}=b` : text;
      await service.visit(encodeURI(path).replaceAll('%3C', '<').replaceAll('%3E', '>').replaceAll('%22', '"'), {
        ...{ method: 'POST', body },
        headers: { 'Content-Type': type, 'X-Hostile': text, Cookie: text },
      });
      await row(page, `/echo/${n}/`).click();
      await page.getByRole('heading', { name: `POST /echo/${n}/` }).waitFor();
      await page.getByRole('cell', { name: text, exact: true }).first().waitFor();
      await press(page, 'Back');
    }
    assert.equal(await page.evaluate('window.hit'), undefined);
    assert.equal(
      await page.locator('#detail script, #detail iframe, #detail svg, #requests img, #detail a').count(),
      0,
    );
    assert.equal(await page.evaluate('window.frames.length'), 0);
  });

  test('a picture is shown, as a blob of its kind; one of a kind that can hold code is text', async (t) => {
    const page = await openPage(t);
    await service.visit('/echo/picture?type=image/png', { method: 'POST', body: Buffer.from(PNG, 'base64') });
    await row(page, '/echo/picture').click();
    const picture = page.getByRole('img', { name: 'Body: an image of type image/png' });
    await picture.waitFor();
    assert.match((await picture.getAttribute('src')) ?? '', /^blob:/);
    await press(page, 'Back');
    await service.visit('/echo/drawing?type=image/svg%2Bxml', { method: 'POST', body: SVG });
    await row(page, '/echo/drawing').click();
    await page.locator('pre', { hasText: 'window.hit=1' }).first().waitFor();
    assert.equal(await page.locator('#detail img').count(), 0);
    assert.equal(await page.evaluate('window.hit'), undefined);
  });

  test('what is copied as curl is the same request once more', { skip: missing('curl', 'sh') }, async (t) => {
    const bodies = [
      Buffer.from(`it's "quoted" $HOME \`id\` \\ %s !x\nand a second line`),
      Buffer.from(Array.from({ length: 256 }, (_, k) => k)),
      Buffer.from('@/etc/passwd'),
    ];
    const page = await openTab(inReverse(t), browser);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.pageUrl });
    await page.goto(service.pageUrl);
    for (const [k, body] of bodies.entries()) {
      const path = `/echo/curl/${k}/../[1-3]/{a,b}?q='$(id)'`;
      const headers = { 'X-Quote': `it's $HOME "x" \\`, 'X-Empty': '', 'User-Agent': 'Mine' };
      await service.visit(path, { method: 'PUT', body, headers });
      const before = service.got.at(-1);
      await row(page, `/echo/curl/${k}/`).click();
      await page.getByRole('heading', { name: `PUT /echo/curl/${k}/` }).waitFor();
      await press(page, 'Copy as curl');
      await page
        .getByText(/^Copied/)
        .and(page.locator('#notice'))
        .waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      assert.match(command, /^(printf '[^']*' \| )?curl -sS /);
      const there = `shop.localhost:${service.culvert.ports.http}:127.0.0.1:${service.culvert.ports.http}`;
      const { code, stderr } = await run(['sh', '-c', command.replace('curl ', `curl --connect-to '${there}' `)]);
      assert.equal(code, 0, stderr);
      const again = service.got.at(-1);
      assert.ok(again !== before);
      assert.equal(again?.line, before?.line);
      assert.ok(body.equals(again?.body ?? Buffer.alloc(0)), `body ${k}`);
      for (const name of ['x-quote', 'x-empty', 'user-agent', 'content-type'])
        assert.equal(again?.headers[name], before?.headers[name], name);
      await press(page, 'Back');
    }
  });

  test('Clear empties the list, in every page that is open', async (t) => {
    const [one, other] = [await openPage(t), await openPage(t)];
    await service.visit('/last');
    await row(other, '/last').waitFor();
    await press(one, 'Clear');
    await other.getByRole('heading', { name: 'No requests yet' }).waitFor();
    await service.visit('/first');
    await row(one, '/first').waitFor();
  });

  test('a page of another site reads nothing, replays nothing, frames nothing, also under a name of its own', async (t) => {
    await service.visit('/secret');
    const ring = (await service.api('/api/requests/http')) as { requests: { id: string }[] };
    const port = (foreign.address() as AddressInfo).port;
    const pagePort = new URL(service.pageUrl).port;
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    const count = service.got.length;
    for (const host of ['evil.test', 'localhost']) {
      await page.goto(`http://${host}:${port}/`);
      for (const name of [`127.0.0.1:${pagePort}`, `localhost:${pagePort}`, `rebound.test:${pagePort}`]) {
        const outcome = await page.evaluate<string[]>(`(async () => {
          const base = 'http://${name}';
          const seen = async (path, options) => {
            try { const answer = await fetch(base + path, options); return String(answer.status); } catch { return 'failed'; }
          };
          const body = JSON.stringify({ id: ${JSON.stringify(ring.requests[0]?.id)} });
          return [
            await seen('/api/requests/http'),
            await seen('/api/requests/http', { method: 'POST', body, mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } }),
            await seen('/api/requests/http', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
            await seen('/api/requests/http', { method: 'DELETE' }),
            await new Promise((resolve) => {
              const feed = new EventSource(base + '/api/events');
              feed.onopen = () => resolve('open');
              feed.onerror = () => resolve('failed');
            }),
          ];
        })()`);
        assert.ok(
          !outcome.includes('200') && !outcome.includes('201') && !outcome.includes('204') && !outcome.includes('open'),
          outcome.join(),
        );
      }
    }
    // DNS rebinding: the foreign name has come to mean this machine, and the page itself is opened by it.
    const rebound = await page.goto(`http://rebound.test:${pagePort}/`);
    assert.equal(rebound?.status(), 403);
    assert.equal(await page.evaluate(`fetch('/api/requests/http').then((answer) => answer.status)`), 403);
    await page.goto(`http://evil.test:${port}/`);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${service.pageUrl}/' }))`,
    );
    await untilTrue(page, 'frames.length === 1');
    await page
      .frames()[1]
      ?.waitForLoadState()
      .catch(() => undefined);
    assert.doesNotMatch(
      (await page
        .frames()[1]
        ?.content()
        .catch(() => '')) ?? '',
      /secret|Requests - Culvert/,
    );
    assert.equal(service.got.length, count, 'nothing reached the service');
    assert.equal(
      ((await service.api('/api/requests/http')) as { requests: unknown[] }).requests.length,
      ring.requests.length,
    );
  });
});
