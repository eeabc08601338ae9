/**
 * The bandwidth limit of a key, as its owner meets it, by the real clock. What a busy machine adds is a few milliseconds, so the limits are
 * small: they cost next to no processor time. `npm run bench -- --only bandwidth` measures larger ones and more loads; to the byte the
 * limit is held on a fake clock by src/base/limits/token-bucket.test.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { OwnClock } from '../harness/own-clock.ts';

const LIMIT_MBPS = 8;
/** The limit is 1 MB/s. */
const BYTES_PER_SECOND = 1_000_000;
const SECONDS = 3;
/** A busy machine takes processor time from what carries the bytes, never adds to it: from below the best of so many windows counts. */
const WINDOWS = 8;
const PIECE = Buffer.alloc(65_536);

interface Place {
  readonly culvert: Culvert;
  /** Bytes that the service has swallowed. */
  swallowed(): number;
  readonly port: number;
}

async function start(t: TestContext): Promise<Place> {
  let swallowed = 0;
  const origin = await startOrigin(t, (incoming, outgoing) => {
    incoming.on('data', (chunk: Buffer) => (swallowed += chunk.length));
    if (incoming.url !== '/endless') {
      incoming.on('end', () => outgoing.end('small'));
      return;
    }
    const go = (): void => {
      while (outgoing.write(PIECE));
    };
    outgoing.on('drain', go);
    go();
  });
  const culvert = await startCulvert(t);
  return { culvert, swallowed: () => swallowed, port: origin.port };
}

function visit(t: TestContext, culvert: Culvert, url: string, method: string, path: string): ClientRequest {
  const headers = { host: new URL(url).host };
  const outgoing = request({ host: '127.0.0.1', port: culvert.httpPort, agent: false, method, path, headers });
  outgoing.on('error', () => undefined);
  t.after(() => outgoing.destroy());
  return outgoing;
}

/** A visitor that downloads until the test is over. Returns how much it has got. */
function download(t: TestContext, culvert: Culvert, url: string): () => number {
  let bytes = 0;
  const outgoing = visit(t, culvert, url, 'GET', '/endless');
  outgoing.on('response', (response) => {
    response.on('error', () => undefined);
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
  });
  outgoing.end();
  return () => bytes;
}

/** A visitor that downloads, and one that uploads, until the test is over. Returns how much has been downloaded. */
function saturate(t: TestContext, culvert: Culvert, url: string): () => number {
  const downloaded = download(t, culvert, url);
  const upload = visit(t, culvert, url, 'PUT', '/');
  const go = (): void => {
    while (upload.write(PIECE));
  };
  upload.on('drain', go);
  go();
  return downloaded;
}

/**
 * Bytes per second of `sum` in windows of `seconds`, until one is above `least`. Each of them must be below `most`.
 */
async function carries(sum: () => number, seconds: number, { least, most }: { least: number; most: number }) {
  const rates: number[] = [];
  while (!rates.some((rate) => rate > least)) {
    assert.ok(rates.length < WINDOWS, `never above ${least} bytes per second: ${rates.join(', ')}`);
    const [before, began] = [sum(), performance.now()];
    await pause(seconds * 1_000);
    const rate = Math.round((sum() - before) / ((performance.now() - began) / 1_000));
    assert.ok(rate < most, `${rate} bytes per second`);
    rates.push(rate);
  }
}

describe('a key with a bandwidth limit', { timeout: 120_000 }, () => {
  test('carries that much, both ways and over two agents together, and small requests get through', async (t) => {
    const { culvert, swallowed, port } = await start(t);
    const token = await culvert.account.mint({ name: 'limited', bandwidthLimitMbps: LIMIT_MBPS });
    const one = await culvert.publish('http', port, { subdomain: 'one', token });
    const two = await culvert.publish('http', port, { subdomain: 'two', token });
    const downloads = [one, two].map(({ url }) => saturate(t, culvert, url));
    const sum = (): number => swallowed() + downloads.reduce((all, bytes) => all + bytes(), 0);
    await pause(500); // what may pass at once has passed
    await carries(sum, SECONDS, { least: 0.7 * BYTES_PER_SECOND, most: 1.3 * BYTES_PER_SECOND });
    assert.ok(swallowed() > 0 && downloads.every((bytes) => bytes() > 0), 'all get something');
    assert.equal((await culvert.get(`${one.url}/small`)).body, 'small');
    assert.equal((await culvert.get(`${two.url}/small`)).body, 'small');
    assert.ok([one, two].every(({ events }) => events.filter(({ kind }) => kind === 'tunnel_online').length === 1));
  });

  test('keeps it within 5 % over 10 s, by what came out at the visitor and at the service', async (t) => {
    const { culvert, swallowed, port } = await start(t);
    const token = await culvert.account.mint({ name: 'limited', bandwidthLimitMbps: 2 });
    const { url } = await culvert.publish('http', port, { subdomain: 'one', token });
    const downloaded = saturate(t, culvert, url);
    await pause(1_000);
    const limit = BYTES_PER_SECOND / 4;
    // From below it comes as near where the processors have time: `npm run bench -- --only bandwidth`.
    await carries(() => swallowed() + downloaded(), 10, { least: 0.8 * limit, most: 1.05 * limit });
  });

  test('of 1 Mbps answers small requests beside a hundred downloads', async (t) => {
    const { culvert, port } = await start(t);
    const token = await culvert.account.mint({ name: 'limited', bandwidthLimitMbps: 1 });
    const { url } = await culvert.publish('http', port, { subdomain: 'one', token });
    const downloads = Array.from({ length: 100 }, () => download(t, culvert, url));
    await pause(2_000);
    const took: number[] = [];
    // A busy machine delays some of them, not three one after the other.
    while (took.length < 3 || took.slice(-3).some((ms) => ms >= 3_000)) {
      assert.ok(took.length < WINDOWS, `${took.join(', ')} ms`);
      const began = performance.now();
      assert.equal((await culvert.get(`${url}/small`)).body, 'small');
      took.push(Math.round(performance.now() - began));
    }
    // They take turns: after some seconds all have had something.
    while (downloads.some((bytes) => bytes() === 0)) await pause(100);
  });

  test('is revoked within a second while it is saturated', async (t) => {
    const { culvert, port } = await start(t);
    const { status, body } = await culvert.account.call('POST', '/tokens', { name: 'doomed', bandwidthLimitMbps: 1 });
    assert.equal(status, 200);
    const tunnel = await culvert.publish('http', port, { subdomain: 'one', token: String(body['apiKey']) });
    const bytes = saturate(t, culvert, tunnel.url);
    while (bytes() === 0) await pause(10);
    const own = new OwnClock();
    await culvert.account.call('DELETE', `/tokens/${String(body['nonce'])}`);
    const cause = (): string | undefined => tunnel.events.find((event) => event.kind === 'offline')?.cause;
    while (cause() === undefined) await pause(10);
    assert.ok(own.ms < 1_000, `${own.ms} ms, the request among them`);
    assert.match(cause() ?? '', /revoked/);
    await tunnel.agent.done;
  });
});

test('an unlimited key is not held back', { timeout: 120_000 }, async (t) => {
  const total = 20 << 20;
  const origin = await startOrigin(t, (_incoming, outgoing) => void outgoing.end(Buffer.alloc(total)));
  const culvert = await startCulvert(t);
  const tunnel = await culvert.publish('http', origin.port, { subdomain: 'free' });
  const own = new OwnClock();
  const { host } = new URL(tunnel.url);
  const outgoing = request({ host: '127.0.0.1', port: culvert.httpPort, headers: { host }, agent: false });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  assert.equal(bytes, total);
  // 20 MB take 1.7 s at 100 Mbps, which is what a key has that asks for nothing.
  assert.ok(own.ms < 10_000, `${own.ms} ms`);
});
