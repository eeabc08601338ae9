/**
 * HTTP/2 with the clients that people use: curl, h2load and Chromium, against a whole server with a real agent. WebSockets go on over
 * HTTP/1.1 beside it.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, suite, test } from 'node:test';
import { Http2Visitor } from '../../src/data/edge/testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { NO_CHROMIUM, openTab, startChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { missing, run } from '../harness/tools.ts';

const BIG = randomBytes(50 << 20);
const FILES = 60;
const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A page with many files, a large one, and what was sent to it. */
function site(request: IncomingMessage, response: ServerResponse): void {
  const { url = '/' } = request;
  if (url === '/big') response.end(BIG);
  else if (url === '/sum') {
    const hash = createHash('sha256');
    request.on('data', (piece: Buffer) => hash.update(piece)).on('end', () => response.end(hash.digest('hex')));
  } else if (url === '/') {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>files</title><link rel="icon" href="data:,"><body>
      ${Array.from({ length: FILES }, (_, i) => `<script src="/file-${i}.js"></script>`).join('')}`);
  } else {
    response.setHeader('content-type', 'text/javascript');
    response.end(`window.loaded = (window.loaded ?? 0) + 1; // ${'x'.repeat(2_000)}`);
  }
}

/** A WebSocket that sends back short text messages (RFC 6455). */
function echo(request: IncomingMessage, socket: Socket): void {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on('error', () => undefined);
  socket.on('data', (frame: Buffer) => {
    const length = (frame[1] as number) & 127;
    const mask = frame.subarray(2, 6);
    const text = frame.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] as number));
    socket.write(Buffer.concat([Buffer.from([frame[0] as number, length]), text]));
  });
}

suite('HTTP/2 through a whole server', { timeout: 120_000 }, () => {
  const ends = inReverse({ after });
  let culvert: Culvert;
  let url: string;

  before(async () => {
    culvert = await startCulvert(ends);
    const origin = await startOrigin(ends, site);
    origin.server.on('upgrade', echo);
    await culvert.publish('http', origin.port, { subdomain: 'shop' });
    url = `https://shop.localhost:${culvert.httpsPort}`;
  });

  const visit = (t: { after(close: () => void): void }): Promise<Http2Visitor> =>
    Http2Visitor.open(t, culvert, 'shop.localhost');

  test('50 MB arrive unchanged in both directions', async (t) => {
    const visitor = await visit(t);
    const down = visitor.stream({ ':path': '/big' });
    const hash = createHash('sha256');
    await pipeline(down, hash);
    assert.equal(hash.digest('hex'), sum(BIG));
    for (const known of [{}, { 'content-length': BIG.length }])
      assert.equal((await visitor.ask({ ':method': 'POST', ':path': '/sum', ...known }, BIG)).body, sum(BIG));
  });

  test('a stream whose reader stands still holds up none of a hundred beside it, and little memory', async (t) => {
    const visitor = await visit(t);
    const stuck = visitor.stream({ ':path': '/big' });
    await once(stuck, 'response');
    stuck.pause();
    const before = process.memoryUsage().rss;
    const paths = Array.from({ length: 99 }, (_, i) => `/file-${i}.js`);
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(paths.map((path) => visitor.ask({ ':path': path })));
      assert.ok(answers.every(({ status, body }) => status === 200 && body.length > 2_000));
    }
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 64 << 20, `grown by ${grown >> 20} MB`);
    stuck.close(8);
  });

  test('curl', { skip: missing('curl') }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'culvert-h2-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'file');
    writeFileSync(file, BIG.subarray(0, 5 << 20));
    const curl = (...args: string[]): ReturnType<typeof run> =>
      run(['curl', '-sSk', '--http2', '--resolve', `shop.localhost:${culvert.httpsPort}:127.0.0.1`, ...args]);
    const got = await curl('-o', join(folder, 'got'), '-w', '%{http_version} %{http_code}', `${url}/big`);
    assert.deepEqual([got.stdout, got.stderr], ['2 200', '']);
    assert.equal(sum(readFileSync(join(folder, 'got'))), sum(BIG));
    const sent = await curl('-T', file, `${url}/sum`);
    assert.equal(sent.stdout, sum(BIG.subarray(0, 5 << 20)), sent.stderr);
    const head = await curl('-I', `${url}/`);
    assert.match(head.stdout, /^HTTP\/2 200/);
  });

  test('h2load: 2,000 requests over 10 connections, none fails', { skip: missing('h2load') }, async () => {
    const to = `--connect-to=127.0.0.1:${culvert.httpsPort}`;
    const { stdout } = await run(['h2load', '-n', '2000', '-c', '10', '-m', '20', to, `${url}/file-1.js`]);
    assert.match(stdout, /2000 succeeded, 0 failed, 0 errored, 0 timeout/);
    assert.match(stdout, /status codes: 2000 2xx/);
  });

  test('Chromium loads a page of many files by HTTP/2, and its WebSocket works beside it', {
    skip: NO_CHROMIUM,
  }, async (t) => {
    const chromium = await startChromium(t);
    const page = await openTab(t, await chromium.newContext({ ignoreHTTPSErrors: true }));
    await page.goto(`${url}/`);
    const seen = await page.evaluate(() => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return {
        loaded: (globalThis as unknown as { loaded: number }).loaded,
        protocols: [...new Set(entries.map(({ nextHopProtocol }) => nextHopProtocol))],
      };
    });
    assert.deepEqual(seen, { loaded: FILES, protocols: ['h2'] });
    const echoed = await page.evaluate(
      (to) =>
        new Promise((resolve, reject) => {
          const socket = new WebSocket(to);
          socket.onopen = () => socket.send('hello');
          socket.onmessage = ({ data }) => resolve(data);
          socket.onerror = () => reject(new Error('no WebSocket'));
        }),
      `${url.replace('https', 'wss')}/echo`,
    );
    assert.equal(echoed, 'hello');
  });
});

test('Chromium asks for two tunnels under one wildcard certificate on one connection', {
  timeout: 60_000,
  skip: NO_CHROMIUM,
}, async (t) => {
  const rig = await Rig.start(t, { certificateNames: ['*.example.test'] });
  const origin = await httpOrigin(t, (request, response) => {
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '');
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader('content-type', 'text/html');
    response.end(`<link rel="icon" href="data:,">${request.headers.host}`);
  });
  await rig.serve('shop', origin.port);
  await rig.serve('shed', origin.port);
  const key = new X509Certificate(rig.certificate).publicKey.export({ type: 'spki', format: 'der' });
  const chromium = await startChromium(t, [
    '--host-resolver-rules=MAP *.example.test 127.0.0.1',
    `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`,
  ]);
  const page = await openTab(t, chromium);
  await page.goto(`https://shop.example.test:${rig.httpsPort}/`);
  const other = `https://shed.example.test:${rig.httpsPort}/`;
  // Without credentials, as the page's own request was made with, it would be a connection of another kind.
  const said = await page.evaluate(
    (to) =>
      fetch(to, { credentials: 'include' })
        .then((a) => a.text())
        .catch(String),
    other,
  );
  assert.match(said, /shed/);
  assert.equal(rig.node.stats().connections.http, 1);
  assert.equal(rig.node.stats().answered['misdirected_request'] ?? 0, 0);
});
