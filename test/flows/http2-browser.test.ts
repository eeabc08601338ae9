// group: browser
/** HTTP/2 as Chromium speaks it: a page of many files with a WebSocket beside it, and one connection for two tunnels. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { httpOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { startCulvert, startOrigin } from '../harness.ts';
import { NO_CHROMIUM, openTab, startChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { echo, FILES, site } from './http2-site.ts';

test('Chromium loads a page of many files by HTTP/2, and its WebSocket works beside it', {
  timeout: 60_000,
  skip: NO_CHROMIUM,
}, async (context) => {
  const t = inReverse(context);
  const culvert = await startCulvert(t);
  const origin = await startOrigin(t, site);
  origin.server.on('upgrade', echo);
  await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const url = `https://shop.localhost:${culvert.httpsPort}`;
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
