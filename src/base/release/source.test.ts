import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { Outbound } from '../net/outbound/outbound.ts';
import { proxyRules } from '../net/outbound/proxy-rules.ts';
import { playHttpProxy } from '../net/outbound/testing.ts';
import { openSource } from './source.ts';
import { sha256 } from './verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-source-'));
after(() => rmSync(folder, { recursive: true }));
const content = Buffer.alloc(300_000, 'culvert');
writeFileSync(join(folder, 'file'), content);

/** Serves `/file`; `/slow` sends its beginning alone. */
async function serve(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/slow') response.write('begin');
    else if (request.url === '/moved') response.writeHead(302, { location: '/file' }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else if (request.url === '/file') response.end(content);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('source: a folder and a URL give the same file', async (t) => {
  for (const [at, place] of [folder, await serve(t), `${await serve(t)}/`].entries()) {
    const source = openSource(place);
    assert.ok(content.equals(await source.read('file', content.length)));
    const to = join(folder, `saved-${at}`);
    await source.save('file', to, { sum: sha256(content), maxBytes: content.length });
    assert.ok(content.equals(readFileSync(to)));
  }
});

test('source: a file that is missing, too large or another one is refused', async (t) => {
  for (const [at, place] of [folder, await serve(t)].entries()) {
    const source = openSource(place);
    const to = join(folder, `refused-${at}`);
    await assert.rejects(source.read('none', 10), /there is no none in|\/none can not be fetched: the response is 404/);
    await assert.rejects(source.read('file', content.length - 1), /file is larger than 299999 bytes/);
    const sum = sha256(Buffer.from('other'));
    await assert.rejects(source.save('file', to, { sum, maxBytes: content.length }), /its checksum differs/);
  }
});

test('source: a server that falls silent, or is not there, ends the wait with a reason', async (t) => {
  const place = await serve(t);
  await assert.rejects(
    openSource(place, { silenceMs: 100 }).read('slow', 10),
    /can not be fetched: .*no data for 0\.1 s/,
  );
  await assert.rejects(openSource('http://127.0.0.1:1').read('file', 10), /can not be fetched: ECONNREFUSED|bad port/);
});

test('source: redirects are followed, up to five, and a proxy is used', async (t) => {
  const place = await serve(t);
  const proxy = await playHttpProxy(t);
  const { port } = new URL(place);
  const outbound = new Outbound({ rules: proxyRules({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }) });
  const source = openSource(`http://releases.example:${port}`, { outbound });
  assert.ok(content.equals(await source.read('moved', content.length)));
  assert.deepEqual(proxy.asked, Array(2).fill(`releases.example:${port}`));
  await assert.rejects(source.read('round', 10), /can not be fetched: too many redirects/);
  proxy.close();
  await assert.rejects(
    source.read('file', 10),
    /can not be fetched: proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\): can't be reached/,
  );
});
