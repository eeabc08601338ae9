// group: browser
/**
 * The main job with what developers really run: a Vite dev server on a local port, opened by a browser on its public name. The page
 * comes up, its WebSocket brings an edit of a file to the open page, and a large file arrives unchanged. Then the same name with other
 * clients. Server and agent are processes of their own.
 */
import assert from 'node:assert/strict';
import { createHash, randomFillSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { NO_CHROMIUM, startChromium } from '../harness/chromium.ts';
import { Ending } from '../harness/ends.ts';
import { type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { missing, run } from '../harness/tools.ts';

const BIG_BYTES = 200 * 1024 * 1024;

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Shop</title>
<style>body { font: 20px sans-serif; margin: 3rem } output { color: rebeccapurple; font-weight: bold }</style>
<h1>A shop on a laptop</h1>
<p>Offer of the day: <output id="offer">…</output></p>
<script type="module" src="/main.js"></script>
`;
const MAIN = `import { offer } from './offer.js';
const show = (text) => { document.getElementById('offer').textContent = text; };
show(offer);
if (import.meta.hot) import.meta.hot.accept('./offer.js', (next) => show(next.offer));
`;
const offerOf = (text: string): string => `export const offer = ${JSON.stringify(text)};\n`;

suite('main job: a Vite dev server on a public name', { timeout: 240_000 }, () => {
  const ending = new Ending();
  let site = '';
  let vite: ViteDevServer;
  let culvert: SpawnedCulvert;
  let url: URL;
  let bigHash = '';

  before(async () => {
    site = await mkdtemp(join(tmpdir(), 'culvert-site-'));
    ending.after(() => rm(site, { recursive: true, force: true }));
    bigHash = await writeSite(site);
    vite = await createServer({
      root: site,
      configFile: false,
      logLevel: 'error',
      cacheDir: join(site, '.vite'),
      server: { host: '127.0.0.1', port: 0 },
    });
    await vite.listen();
    ending.after(() => vite.close());
    culvert = await spawnCulvert(ending);
    const [local = ''] = vite.resolvedUrls?.local ?? [];
    const agent = culvert.agent(['http', new URL(local).port, '--subdomain', 'shop']);
    url = new URL(await agent.printed(/^(http:\S+)$/m));
  });
  after(() => ending.run());

  suite('in Chromium', { skip: NO_CHROMIUM }, () => {
    let page: Page;
    const faults: string[] = [];

    before(async () => {
      const browser = await startChromium(ending, ['--disable-quic', '--disable-component-update']);
      page = await browser.newPage({ viewport: { width: 800, height: 500 } });
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('console', (message) => {
        // A browser asks every site for an icon; this one has none.
        if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) faults.push(message.text());
      });
    });

    test('the page renders', async () => {
      const sockets: string[] = [];
      page.on('websocket', (socket) => sockets.push(socket.url()));
      const connected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'));
      const answer = await page.goto(url.href);
      assert.equal(answer?.status(), 200);
      await page.getByText('Offer of the day: apples').waitFor();
      await connected;
      assert.ok(
        sockets.some((socket) => new URL(socket).host === url.host),
        `sockets: ${sockets.join(', ')}`,
      );
      const picture = process.env['CULVERT_SCREENSHOT'];
      if (picture !== undefined) await page.screenshot({ path: picture });
    });

    test('an edit reaches the open page by WebSocket, without a reload', async () => {
      await page.evaluate('window.keptSince = "before the edit"');
      await writeFile(join(site, 'offer.js'), offerOf('pears'));
      await page.getByText('Offer of the day: pears').waitFor();
      assert.equal(await page.evaluate('window.keptSince'), 'before the edit');
    });

    test('200 MB arrive in the page as they left', async () => {
      const found = await page.evaluate<{ size: number; hash: string }>(`(async () => {
        const bytes = await (await fetch('/big.bin')).arrayBuffer();
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        return { size: bytes.byteLength, hash: digest.toHex() };
      })()`);
      assert.deepEqual(found, { size: BIG_BYTES, hash: bigHash });
    });

    test('and nothing failed on the page meanwhile', () => {
      assert.deepEqual(faults, []);
    });
  });

  test('curl downloads 200 MB as they left', { skip: missing('curl', 'sha256sum') }, async () => {
    const there = `--connect-to '${url.host}:127.0.0.1:${culvert.ports.http}'`;
    const outcome = await run(['sh', '-c', `curl -sSf ${there} '${new URL('/big.bin', url)}' | sha256sum`]);
    assert.equal(outcome.stderr, '');
    assert.equal(outcome.stdout.split(' ')[0], bigHash);
  });

  test('wrk gets nothing but good answers', { skip: missing('wrk') }, async () => {
    const at = `http://127.0.0.1:${culvert.ports.http}/offer.js`;
    const { code, stdout, stderr } = await run(['wrk', '-t2', '-c20', '-d2s', '-H', `Host: ${url.host}`, at]);
    assert.equal(code, 0, stderr);
    const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
    assert.ok(requests > 50, stdout);
    assert.doesNotMatch(stdout, /Non-2xx|Socket errors/);
  });

  test('h2load by HTTP/1.1 gets nothing but good answers', { skip: missing('h2load') }, async () => {
    const to = `--connect-to=127.0.0.1:${culvert.ports.http}`;
    const command = ['h2load', '--h1', '-n', '2000', '-c', '20', '-m', '4', to, new URL('/offer.js', url).href];
    const { code, stdout, stderr } = await run(command);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /2000 done, 2000 succeeded, 0 failed, 0 errored/);
    assert.match(stdout, /status codes: 2000 2xx/);
  });
});

/** The site's files, one of them large and random. Returns the large one's hash. */
async function writeSite(folder: string): Promise<string> {
  await mkdir(join(folder, 'public'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'main.js'), MAIN);
  await writeFile(join(folder, 'offer.js'), offerOf('apples'));
  const bytes = randomFillSync(Buffer.allocUnsafe(BIG_BYTES));
  await writeFile(join(folder, 'public/big.bin'), bytes);
  return createHash('sha256').update(bytes).digest('hex');
}
