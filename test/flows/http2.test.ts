// alone: it reads how much memory its process holds
/**
 * HTTP/2 with the clients that people use, against a whole server with a real agent. Chromium has a file of its own.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { after, before, suite, test } from 'node:test';
import { Http2Visitor } from '../../src/data/edge/testing/http2-visitor.ts';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { inReverse } from '../harness/ends.ts';
import { missing, run } from '../harness/tools.ts';
import { BIG, echo, site, sum } from './http2-site.ts';

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
});
