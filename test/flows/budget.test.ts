/**
 * A key with a cap, on the whole product: how much passes after the cap, what is counted, and what a restart or a kill leaves of it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, type Culvert, get, spawnCulvert, startCulvert, startOrigin } from '../harness.ts';

/** A cent is 10 MB, so that a cap of a few cents is reached in a test. The rest is as it ships. */
const SETTINGS = `
[pricing]
usd_cents_per_gb = 100
[plans]
default = "enterprise"
`;
const CENT = 10_000_000;
/** The meter is walked every 2 s, the edge cuts what is in flight within 1 s of that. */
const FLUSH_MS = 2_000;
const BOUND_MS = FLUSH_MS + 1_000;
/** Timers and pipes of a busy machine. */
const LATE_MS = 1_000;
const IN_PIPES = 16 * 1024 * 1024;

interface Key {
  readonly apiKey: string;
  readonly nonce: string;
}

/** From 10,000 Mbit/s on a limit is none. */
const NO_LIMIT = { bandwidthLimitMbps: 10_000 };

async function mint(account: Account, path = '/tokens', limits: object = NO_LIMIT): Promise<Key> {
  const { status, body } = await account.call('POST', path, { name: 'capped', ...limits });
  assert.ok(status === 200 || status === 201, JSON.stringify(body));
  return { apiKey: String(body['apiKey']), nonce: String(body['nonce']) };
}

async function setBudget(account: Account, { nonce }: Key, monthlyBudgetUsdCents: number | null): Promise<void> {
  const { status, body } = await account.call('PUT', `/tokens/${nonce}/budget`, { monthlyBudgetUsdCents });
  assert.equal(status, 200, JSON.stringify(body));
}

/** Cents, as stored: what a node has counted is there some moments later. */
async function shownSpend(account: Account, key: Key): Promise<number> {
  const { body } = await account.call('GET', '/tokens');
  const rows = body as unknown as Array<{ nonce: string; spentUsdCents: number }>;
  return rows.find(({ nonce }) => nonce === key.nonce)?.spentUsdCents ?? 0;
}

/** A service whose `/endless` sends as fast as it is read, and that answers `hello` to all else. */
async function startStream(t: TestContext): Promise<number> {
  const piece = Buffer.alloc(65_536, 'x');
  const { port } = await startOrigin(t, (request, response) => {
    if (request.url !== '/endless') {
      response.end('hello');
      return;
    }
    response.on('error', () => {});
    const send = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', send);
    send();
  });
  return port;
}

/** A visitor that reads without end, and notes how much it had when. */
class Reader {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  readonly beganMs = performance.now();
  readonly #notes: Array<{ ms: number; bytes: number }> = [];
  bytes = 0;

  constructor(t: TestContext, port: number, host: string) {
    this.socket = connect(port, '127.0.0.1');
    t.after(() => this.socket.destroy());
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      this.#notes.push({ ms: performance.now(), bytes: this.bytes });
    });
    this.socket.write(`GET /endless HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    // Not `once`: it rejects at the reset that is the point here.
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()));
  }

  /** Resolves once it has `bytes`. */
  async has(bytes: number): Promise<void> {
    while (this.bytes < bytes) await once(this.socket, 'data');
  }

  /** What it had at an instant of performance.now(). */
  bytesAt(ms: number): number {
    return this.#notes.findLast((note) => note.ms <= ms)?.bytes ?? 0;
  }

  /** Fails when more passed after `cap` bytes than flowed in the bound, at the pace that this visitor saw. */
  assertBound(cap: number): void {
    const reached = this.#notes.find(({ bytes }) => bytes >= cap)?.ms ?? Number.NaN;
    const last = this.#notes.at(-1)?.ms ?? Number.NaN;
    const tookMs = last - reached;
    const perMs = this.bytes / (last - this.beganMs);
    const over = this.bytes - cap;
    assert.ok(tookMs <= BOUND_MS + LATE_MS, `it went on for ${tookMs} ms after the cap`);
    assert.ok(over <= perMs * (BOUND_MS + LATE_MS) + IN_PIPES, `${over} bytes passed after the cap, ${perMs} per ms`);
  }
}

async function codeOf(culvert: Culvert, url: string): Promise<string> {
  const { status, code } = await culvert.get(url);
  return `${status} ${code ?? ''}`.trim();
}

suite('a key with a cap', { timeout: 120_000 }, () => {
  test('an endless download is cut within the bound, what follows is refused, and the agent stays', async (t) => {
    const culvert = await startCulvert(t, SETTINGS);
    const key = await mint(culvert.account, '/tokens', { ...NO_LIMIT, monthlyBudgetUsdCents: 5 });
    const tunnel = await culvert.publish('http', await startStream(t), { subdomain: 'shop', token: key.apiKey });
    assert.equal(await codeOf(culvert, tunnel.url), '200');
    const reader = new Reader(t, culvert.httpPort, 'shop.localhost');
    await reader.closed;
    reader.assertBound(5 * CENT);
    assert.equal(await codeOf(culvert, tunnel.url), '503 budget_exhausted');
    const ends = new Set(['stopped', 'offline', 'tunnel_offline', 'tunnel_refused']);
    assert.deepEqual(
      tunnel.events.filter(({ kind }) => ends.has(kind)),
      [],
    );
    await setBudget(culvert.account, key, null);
    assert.equal(await codeOf(culvert, tunnel.url), '200');
    await setBudget(culvert.account, key, 0);
    assert.equal(await codeOf(culvert, tunnel.url), '503 budget_exhausted');
    await assert.rejects(culvert.publish('http', 9, { subdomain: 'site', token: key.apiKey }), /budget/);
  });

  test('with a bandwidth limit at most three seconds of it pass after the cap', async (t) => {
    const culvert = await startCulvert(t, SETTINGS);
    const megabits = 80;
    const key = await mint(culvert.account, '/tokens', { monthlyBudgetUsdCents: 2, bandwidthLimitMbps: megabits });
    await culvert.publish('http', await startStream(t), { subdomain: 'shop', token: key.apiKey });
    const reader = new Reader(t, culvert.httpPort, 'shop.localhost');
    await reader.closed;
    const perMs = (megabits * 1e6) / 8 / 1_000;
    assert.ok(reader.bytes - 2 * CENT <= perMs * (BOUND_MS + LATE_MS), `${reader.bytes - 2 * CENT} bytes`);
  });

  test('a raw connection is cut too, and the next one is refused', async (t) => {
    const culvert = await startCulvert(t, SETTINGS);
    const key = await mint(culvert.account, '/tokens', { ...NO_LIMIT, monthlyBudgetUsdCents: 2 });
    const tunnel = await culvert.publish('tcp', await startStream(t), { token: key.apiKey });
    const port = Number(new URL(tunnel.url).port);
    const reader = new Reader(t, port, 'any');
    await reader.closed;
    reader.assertBound(2 * CENT);
    const next = new Reader(t, port, 'any');
    await next.closed;
    assert.equal(next.bytes, 0);
  });

  test('what its agent still carries when another key has taken the name over is cut too, and the other key pays nothing', async (t) => {
    const culvert = await startCulvert(t, SETTINGS);
    const { account } = culvert;
    const megabits = 80;
    const one = await mint(account, '/tokens', { monthlyBudgetUsdCents: 2, bandwidthLimitMbps: megabits });
    const two = await mint(account);
    const port = await startStream(t);
    await culvert.publish('http', port, { subdomain: 'shop', token: one.apiKey });
    const reader = new Reader(t, culvert.httpPort, 'shop.localhost');
    await reader.has(1);
    const tunnel = await culvert.publish('http', port, { subdomain: 'shop', token: two.apiKey });
    await reader.closed;
    const perMs = (megabits * 1e6) / 8 / 1_000;
    assert.ok(reader.bytes - 2 * CENT <= perMs * (BOUND_MS + LATE_MS), `${reader.bytes - 2 * CENT} bytes`);
    while ((await shownSpend(account, one)) < 2) await sleep(50);
    assert.equal(await shownSpend(account, two), 0);
    assert.equal(await codeOf(culvert, tunnel.url), '200');
  });

  test("what one child of a master key spends stops all, once the master key's cap is reached", async (t) => {
    const culvert = await startCulvert(t, SETTINGS);
    const { account } = culvert;
    const { status, body } = await account.call('POST', '/projects', { name: 'Shop', slug: 'shop' });
    assert.ok(status === 200 || status === 201, JSON.stringify(body));
    const master = await mint(account, '/tokens/master', { monthlyBudgetUsdCents: 2 });
    const asMaster = new (account.constructor as typeof Account)(account.apiUrl, master.apiKey);
    const urls: string[] = [];
    for (const subdomain of ['one', 'two']) {
      const child = await mint(asMaster, '/projects/shop/tokens');
      const port = await startStream(t);
      urls.push((await culvert.publish('http', port, { subdomain, token: child.apiKey })).url);
    }
    for (const url of urls) assert.equal(await codeOf(culvert, url), '200');
    const reader = new Reader(t, culvert.httpPort, 'one-shop.localhost');
    await reader.closed;
    reader.assertBound(2 * CENT);
    for (const url of urls) assert.equal(await codeOf(culvert, url), '503 budget_exhausted');
    await setBudget(account, master, null);
    for (const url of urls) assert.equal(await codeOf(culvert, url), '200');
  });

  test('stays blocked over a restart of the server: the agent is bound again, and visitors get the reason', async (t) => {
    const culvert = await spawnCulvert(t, { toml: SETTINGS });
    const key = await mint(culvert.account, '/tokens', { ...NO_LIMIT, monthlyBudgetUsdCents: 1 });
    const args = ['http', String(await startStream(t)), '--subdomain', 'shop'];
    const agent = culvert.agent(args, { token: key.apiKey });
    const url = await agent.printed(/^(http:\S+)$/m);
    await new Reader(t, culvert.ports.http, 'shop.localhost').closed;
    assert.deepEqual(await answersUntil(url, culvert.ports.http, () => true), ['503 budget_exhausted']);
    // A server that is killed before loses what it has not stored, and with it the reason to block.
    while ((await shownSpend(culvert.account, key)) < 1) await sleep(50);
    await culvert.killServer();
    await culvert.startServer();
    const answers = await answersUntil(url, culvert.ports.http, (answer) => answer !== '503 tunnel_offline');
    assert.equal(answers.at(-1), '503 budget_exhausted');
    // A fresh agent is a new claim.
    const fresh = culvert.agent(args, { token: key.apiKey });
    assert.equal(await fresh.ended(), 4);
    assert.match(fresh.output, /budget/);
    await setBudget(culvert.account, key, 1_000);
    assert.deepEqual(await answersUntil(url, culvert.ports.http, () => true), ['200']);
  });
});

suite('what is counted', { timeout: 120_000 }, () => {
  test('is what passed, to the byte and the request, for the tunnel and for its key', async (t) => {
    const culvert = await spawnCulvert(t, { toml: SETTINGS });
    const key = await mint(culvert.account);
    const agent = culvert.agent(['http', String(await startEcho(t)), '--subdomain', 'shop'], { token: key.apiKey });
    await agent.printed(/^(http:\S+)$/m);
    let sent = 0;
    let got = 0;
    for (let size = 1; size <= 4_000_000; size *= 20) {
      const passed = await exchange(culvert.ports.http, 'shop.localhost', size);
      sent += passed.sent;
      got += passed.got;
    }
    const deadline = performance.now() + BOUND_MS + 5_000;
    let tunnel: unknown;
    do {
      await sleep(100);
      const { body } = await culvert.account.call('GET', '/tunnels');
      const { bytesIn, bytesOut, totalRequests } = (body as unknown as Array<Record<string, unknown>>)[0] ?? {};
      tunnel = [bytesIn, bytesOut, totalRequests];
    } while (String(tunnel) !== String([sent, got, 6]) && performance.now() < deadline);
    assert.deepEqual(tunnel, [sent, got, 6]);
    assert.deepEqual(storedSpend(culvert.folder), { bytes: sent + got, requests: 6 });
  });

  test('while it flows: a server that is killed forgets one walk of the meter at most', async (t) => {
    const culvert = await spawnCulvert(t, { toml: SETTINGS });
    const key = await mint(culvert.account);
    const agent = culvert.agent(['http', String(await startStream(t)), '--subdomain', 'shop'], { token: key.apiKey });
    await agent.printed(/^(http:\S+)$/m);
    const reader = new Reader(t, culvert.ports.http, 'shop.localhost');
    // Enough for the count, so long ago that it is stored.
    while (reader.bytesAt(performance.now() - FLUSH_MS - LATE_MS) <= CENT) await sleep(100);
    const killedMs = performance.now();
    await culvert.killServer();
    const { bytes, requests } = storedSpend(culvert.folder);
    const must = reader.bytesAt(killedMs - FLUSH_MS - LATE_MS);
    assert.ok(bytes >= must, `${bytes} of ${must} bytes are stored`);
    assert.equal(requests, 1);
  });
});

/** What all keys together have spent, as it is stored. */
function storedSpend(folder: string): { bytes: number; requests: number } {
  const database = new DatabaseSync(join(folder, 'data', 'culvert.db'));
  try {
    const row = database.prepare('SELECT sum(bytes) AS bytes, sum(requests) AS requests FROM token_spend').get();
    return { bytes: Number(row?.['bytes']), requests: Number(row?.['requests']) };
  } finally {
    database.close();
  }
}

/** Asks until an answer is the one that is waited for; returns all, each once. A server that is not up yet gives none. */
async function answersUntil(url: string, port: number, isLast: (answer: string) => boolean): Promise<string[]> {
  const answers = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const answer = await get(url, port).then(
      ({ status, code }) => `${status} ${code ?? ''}`.trim(),
      () => undefined,
    );
    if (answer !== undefined) answers.add(answer);
    if (answer !== undefined && isLast(answer)) break;
    await sleep(100);
  }
  return [...answers];
}

/** A service that sends back what it is sent. */
async function startEcho(t: TestContext): Promise<number> {
  const { port } = await startOrigin(t, (request, response) => void request.pipe(response));
  return port;
}

/** Posts a body on a connection of its own; how many bytes left the socket and how many came back. */
async function exchange(port: number, host: string, size: number): Promise<{ sent: number; got: number }> {
  const socket = connect(port, '127.0.0.1');
  const head = `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${size}\r\nconnection: close\r\n\r\n`;
  socket.write(head);
  socket.write(Buffer.alloc(size, 'x'));
  let got = 0;
  socket.on('data', (chunk: Buffer) => {
    got += chunk.length;
  });
  await once(socket, 'end');
  socket.destroy();
  return { sent: head.length + size, got };
}
