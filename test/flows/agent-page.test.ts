/**
 * The agent's own page as a developer has it open: a real server, agent and local service, and Chromium. Requests show up while they
 * happen; what is in them comes from strangers and stays text; pages of other sites get nothing.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { NO_CHROMIUM, openTab, press, startChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { missing, run } from '../harness/tools.ts';

interface Got {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

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

suite("the agent's own page", { timeout: 240_000 }, () => {
  const ends = inReverse({ after });
  const got: Got[] = [];
  let origin: Server;
  let culvert: SpawnedCulvert;
  let pageUrl = '';

  before(async () => {
    origin = createServer((visit, answer) => {
      const parts: Buffer[] = [];
      visit.on('data', (part: Buffer) => parts.push(part));
      visit.on('end', () => {
        const body = Buffer.concat(parts);
        got.push({ line: `${visit.method} ${visit.url}`, headers: visit.headers, body });
        respond(visit.url ?? '', body, answer);
      });
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    ends.after(() => {
      origin.close();
      origin.closeAllConnections();
    });
    culvert = await spawnCulvert(ends);
    const port = String((origin.address() as AddressInfo).port);
    const agent = culvert.agent(['http', port, '--subdomain', 'shop', '--json', '--inspect-port', '0']);
    await agent.printed(/"tunnel_online"/);
    pageUrl = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1] ?? '';
  });

  function respond(path: string, body: Buffer, answer: ServerResponse): void {
    const type = new URL(path, 'http://x').searchParams.get('type');
    if (type !== null) answer.setHeader('Content-Type', type);
    if (path.startsWith('/echo')) answer.end(body);
    else if (path.startsWith('/missing')) answer.writeHead(404).end('no');
    else answer.end('fine');
  }

  interface Visit {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: Buffer | string;
  }

  /** A visitor's request by the public name; the body of its answer. */
  function visit(path: string, { method = 'GET', headers = {}, body }: Visit = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: culvert.ports.http, path, method, agent: false as const };
      const asked = request({ ...options, headers: { host: 'shop.localhost', ...headers } }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => resolve(Buffer.concat(parts)));
        answer.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  const api = async (path: string): Promise<Record<string, unknown>> =>
    (await (await fetch(pageUrl + path)).json()) as Record<string, unknown>;

  test('what scripts for ngrok ask for is there', { skip: missing('curl') }, async () => {
    const { stdout } = await run(['curl', '-s', `${pageUrl}/api/tunnels`]);
    const { tunnels } = JSON.parse(stdout) as { tunnels: { public_url: string; proto: string }[] };
    assert.equal(tunnels[0]?.public_url, `http://shop.localhost:${culvert.ports.http}`);
    assert.equal(tunnels[0]?.proto, 'http');
    assert.equal((await fetch(`${pageUrl}/readyz`)).status, 200);
  });

  test('megabytes pass unchanged, both ways at once, while it looks on', async () => {
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const bodies = Array.from({ length: 4 }, () => randomBytes(5_000_000));
    const answers = await Promise.all(bodies.map((body) => visit('/echo/big', { method: 'POST', body })));
    assert.deepEqual(answers.map(hash), bodies.map(hash));
    const { requests } = (await api('/api/requests/http?limit=4')) as { requests: { id: string }[] };
    for (const { id } of requests) {
      const { request_size, response_size, request_body } = await api(`/api/requests/http/${id}`);
      assert.deepEqual([request_size, response_size], [5_000_000, 5_000_000]);
      assert.equal((request_body as { kept: number }).kept, 65_536);
    }
    assert.match(await (await fetch(`${pageUrl}/metrics`)).text(), /^culvert_agent_page_streams_let_go_total 0$/m);
  });

  test('requests to a service that is down are in the list, with the reason, and counted', async () => {
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const agent = culvert.agent(['http', String(port), '--subdomain', 'dead', '--json', '--inspect-port', '0']);
    await agent.printed(/"tunnel_online"/);
    const url = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1] ?? '';
    await visit('/', { headers: { host: 'dead.localhost' } });
    await visit('/hook', { method: 'POST', body: 'hello', headers: { host: 'dead.localhost' } });
    const reason = `localhost:${port} refused the connection`;
    const { requests } = (await (await fetch(`${url}/api/requests/http`)).json()) as {
      requests: { request: { method: string; uri: string }; response: { status_code: number }; fault: string }[];
    };
    assert.deepEqual(
      requests.map(({ request: { method, uri }, response, fault }) => [method, uri, response.status_code, fault]),
      [
        ['POST', '/hook', 502, reason],
        ['GET', '/', 502, reason],
      ],
    );
    const numbers = await (await fetch(`${url}/metrics`)).text();
    assert.match(numbers, /^culvert_agent_requests_total\{tunnel="http",status="5xx"\} 2$/m);
    assert.equal(await agent.stop(), 0);
  });

  suite('in Chromium', { skip: NO_CHROMIUM }, () => {
    let browser: Browser;
    /** A site that is not the page, whose name comes to this machine. */
    let foreign: Server;

    before(async () => {
      browser = await startChromium(ends, ['--host-resolver-rules=MAP *.test 127.0.0.1']);
      foreign = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<h1>another site</h1>'));
      await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
      ends.after(() => foreign.close());
    });

    async function openPage(t: TestContext): Promise<Page> {
      const page = await openTab(inReverse(t), browser);
      await page.goto(pageUrl);
      await page.getByRole('status').getByText('online').waitFor();
      return page;
    }

    const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).first();

    test('a request shows up while the page is open, with its headers and bodies', async (t) => {
      const page = await openPage(t);
      const body = '{"order":{"id":7,"of":"Ann"}}';
      await visit('/echo/order?type=application/json', {
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
      await visit('/missing/one');
      await visit('/there/one');
      const page = await openPage(t);
      await row(page, '/there/one').waitFor();
      const shown = (): Promise<string[]> => page.locator('.row .what').allTextContents();
      await page.keyboard.press('/');
      await page.keyboard.type('404');
      await page.getByText(/^\d+ of \d+ requests$/).waitFor();
      assert.ok((await shown()).every((text) => text.includes('/missing')));
      await page.keyboard.press('ArrowDown');
      await page.getByRole('heading', { name: 'GET /missing/one' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Filter').fill('GET /there');
      await page.getByText(/^\d+ of/).waitFor();
      assert.deepEqual([...new Set(await shown())], ['GET /there/one']);
      await page.getByLabel('Filter').fill('nothing like this');
      await page.getByText('No request matches the filter.').waitFor();
    });

    test('Replay sends it once more, marked; the answer is shown', async (t) => {
      await visit('/echo/again', { method: 'POST', body: 'same body', headers: { 'X-Sig': 'v1' } });
      const page = await openPage(t);
      await row(page, '/echo/again').click();
      const first = new URL(await page.evaluate<string>('location.href')).hash.slice(1);
      await press(page, 'Replay');
      await page.getByText('Replay of', { exact: true }).waitFor();
      await page.getByRole('row', { name: `Culvert-Replay ${first}` }).waitFor();
      const hooks = got.filter(({ line }) => line === 'POST /echo/again');
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
        await visit(encodeURI(path).replaceAll('%3C', '<').replaceAll('%3E', '>').replaceAll('%22', '"'), {
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
      await visit('/echo/picture?type=image/png', { method: 'POST', body: Buffer.from(PNG, 'base64') });
      await row(page, '/echo/picture').click();
      const picture = page.getByRole('img', { name: 'The body: a picture of the type image/png' });
      await picture.waitFor();
      assert.match((await picture.getAttribute('src')) ?? '', /^blob:/);
      await press(page, 'Back');
      await visit('/echo/drawing?type=image/svg%2Bxml', { method: 'POST', body: SVG });
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
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: pageUrl });
      await page.goto(pageUrl);
      for (const [k, body] of bodies.entries()) {
        const path = `/echo/curl/${k}/../[1-3]/{a,b}?q='$(id)'`;
        const headers = { 'X-Quote': `it's $HOME "x" \\`, 'X-Empty': '', 'User-Agent': 'Mine' };
        await visit(path, { method: 'PUT', body, headers });
        const before = got.at(-1);
        await row(page, `/echo/curl/${k}/`).click();
        await page.getByRole('heading', { name: `PUT /echo/curl/${k}/` }).waitFor();
        await press(page, 'Copy as curl');
        await page
          .getByText(/^Copied/)
          .and(page.locator('#notice'))
          .waitFor();
        const command = await page.evaluate<string>('navigator.clipboard.readText()');
        assert.match(command, /^(printf '[^']*' \| )?curl -sS /);
        const there = `shop.localhost:${culvert.ports.http}:127.0.0.1:${culvert.ports.http}`;
        const { code, stderr } = await run(['sh', '-c', command.replace('curl ', `curl --connect-to '${there}' `)]);
        assert.equal(code, 0, stderr);
        const again = got.at(-1);
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
      await visit('/last');
      await row(other, '/last').waitFor();
      await press(one, 'Clear');
      await other.getByRole('heading', { name: 'No request yet' }).waitFor();
      await visit('/first');
      await row(one, '/first').waitFor();
    });

    test('a page of another site reads nothing, replays nothing, frames nothing, also under a name of its own', async (t) => {
      await visit('/secret');
      const ring = (await api('/api/requests/http')) as { requests: { id: string }[] };
      const port = (foreign.address() as AddressInfo).port;
      const pagePort = new URL(pageUrl).port;
      const context = await browser.newContext();
      t.after(() => context.close());
      const page = await context.newPage();
      const count = got.length;
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
            !outcome.includes('200') &&
              !outcome.includes('201') &&
              !outcome.includes('204') &&
              !outcome.includes('open'),
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
        `document.body.append(Object.assign(document.createElement('iframe'), { src: '${pageUrl}/' }))`,
      );
      await page.waitForFunction(() => (globalThis as unknown as { frames: { length: number } }).frames.length === 1);
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
      assert.equal(got.length, count, 'nothing reached the local service');
      assert.equal(
        ((await api('/api/requests/http')) as { requests: unknown[] }).requests.length,
        ring.requests.length,
      );
    });
  });

  test('a port that is taken is no reason to stop', async () => {
    const blocker = createTcpServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    ends.after(() => blocker.close());
    const { port } = blocker.address() as AddressInfo;
    const target = String((origin.address() as AddressInfo).port);
    const agent = culvert.agent(['http', target, '--subdomain', 'next', '--json', '--inspect-port', String(port)]);
    await agent.printed(/"tunnel_online"/);
    const url = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1];
    if (url !== undefined) assert.notEqual(new URL(url).port, String(port));
    assert.equal(await agent.stop(), 0);
  });
});
