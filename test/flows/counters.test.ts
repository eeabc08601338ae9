/**
 * Counters add up: what visitors sent and got is what tunnels, organization, charts, Prometheus, keys and the operator's metrics say, to the
 * byte; and what a kill -9 of the server takes is the last two seconds at the most.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect as connectH2, type OutgoingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { type Account, type Culvert, get, spawnCulvert, startCulvert, startOrigin } from '../harness.ts';

/** A cent per byte and a cent per request: what a key has spent shows both. */
const PRICING = `[pricing]
usd_cents_per_gb = 1000000000
usd_cents_per_million_requests = 1000000
[metrics]
listen = "127.0.0.1:0"`;
/** Counters are collected every 2 s, and a busy machine takes its time. */
const SETTLED_MS = 20_000;
/** At once. */
const VISITORS = 8;

interface Traffic {
  requests: number;
  bytesIn: number;
  bytesOut: number;
}
const nothing = (): Traffic => ({ requests: 0, bytesIn: 0, bytesOut: 0 });
const sum = (...all: readonly Traffic[]): Traffic =>
  all.reduce(
    (total, one) => ({
      requests: total.requests + one.requests,
      bytesIn: total.bytesIn + one.bytesIn,
      bytesOut: total.bytesOut + one.bytesOut,
    }),
    nothing(),
  );

/** Answers every request with as many bytes as its query asks for, by length or (`chunked`) in chunks; anything that is upgraded is an echo. */
async function startService(t: TestContext): Promise<number> {
  const { port, server } = await startOrigin(t, (incoming, outgoing) => {
    const { searchParams } = new URL(incoming.url ?? '/', 'http://any');
    const body = Buffer.alloc(Number(searchParams.get('bytes') ?? 0), 'x');
    incoming.resume().on('end', () => {
      if (!searchParams.has('chunked')) outgoing.setHeader('Content-Length', body.length);
      outgoing.end(body);
    });
  });
  server.on('upgrade', (_incoming, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.write(head);
    socket.pipe(socket);
  });
  return port;
}

/** Sends all of it, reads until the other side ends, and counts both. */
async function talk(socket: Socket, { requests, text }: { requests: number; text: string }): Promise<Traffic> {
  let bytesOut = 0;
  socket.on('data', (bytes: Buffer) => (bytesOut += bytes.length));
  socket.write(text);
  await once(socket, 'end');
  socket.destroy();
  return { requests, bytesIn: Buffer.byteLength(text), bytesOut };
}

/** Requests behind one another on one connection: short and long, with bodies by length and in chunks, the last one closes. */
function pipeline(host: string, count: number): { requests: number; text: string } {
  const head = (line: string, ...fields: string[]): string =>
    [`${line} HTTP/1.1`, `Host: ${host}`, ...fields, '', ''].join('\r\n');
  const texts = Array.from({ length: count - 1 }, (_, n) => {
    switch (n % 4) {
      case 0:
        return head(`GET /?bytes=${n * 37}`);
      case 1:
        return `${head(`POST /?bytes=${n}`, `Content-Length: ${n * 11}`)}${'y'.repeat(n * 11)}`;
      case 2:
        return `${head('POST /?bytes=5', 'Transfer-Encoding: chunked')}3\r\nabc\r\n10\r\n${'z'.repeat(16)}\r\n0\r\n\r\n`;
      default:
        return head(`GET /?chunked&bytes=${n * 101}`);
    }
  });
  return { requests: count, text: texts.join('') + head('GET /?bytes=9', 'Connection: close') };
}

/** The handshake of a WebSocket and some bytes there and back. */
async function webSocket(port: number, host: string, bytes: number): Promise<Traffic> {
  const socket = connect(port, '127.0.0.1');
  const text = `GET /live HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  let heard = Buffer.alloc(0);
  const moved = () => once(socket, 'data').then(([more]) => (heard = Buffer.concat([heard, more as Buffer])));
  socket.write(text);
  while (!heard.includes('\r\n\r\n')) await moved();
  const headBytes = heard.indexOf('\r\n\r\n') + 4;
  socket.write(Buffer.alloc(bytes, 'w'));
  while (heard.length < headBytes + bytes) await moved();
  socket.destroy();
  return { requests: 1, bytesIn: text.length + bytes, bytesOut: heard.length };
}

async function tcpEcho(port: number, bytes: number): Promise<Traffic> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let bytesOut = 0;
  socket.on('data', (more: Buffer) => (bytesOut += more.length));
  socket.end(Buffer.alloc(bytes, 't'));
  await once(socket, 'end');
  return { requests: 1, bytesIn: bytes, bytesOut };
}

/** Requests of one HTTP/2 connection at once. Its bytes are compared among the counters alone: heads are packed on this wire. */
async function overHttp2(port: number, host: string, count: number): Promise<void> {
  const session = connectH2(`https://${host}:${port}`, {
    rejectUnauthorized: false,
    createConnection: () =>
      connectTls({ host: '127.0.0.1', port, servername: host, ALPNProtocols: ['h2'], rejectUnauthorized: false }),
  });
  const one = async (headers: OutgoingHttpHeaders, body: string): Promise<void> => {
    const stream = session.request(headers, { endStream: body === '' });
    const ended = once(stream.resume(), 'end');
    if (body !== '') stream.end(body);
    const [answer] = (await once(stream, 'response')) as [{ ':status'?: number }];
    assert.equal(answer[':status'], 200);
    await ended;
  };
  const all = Array.from({ length: count }, (_, n) =>
    one({ ':path': `/?bytes=${n * 10}`, ':method': n % 2 === 0 ? 'GET' : 'POST' }, n % 2 === 0 ? '' : 'p'.repeat(n)),
  );
  await Promise.all(all);
  session.close();
}

interface Seen {
  readonly tunnels: ReadonlyMap<string, Traffic>;
  readonly all: Traffic;
}

/** Everywhere that counters are shown; all must say the same. */
class Counters {
  readonly #account: Account;
  /** For `GET /metrics/prometheus`. */
  readonly #key: string;

  constructor(account: Account, key: string) {
    this.#account = account;
    this.#key = key;
  }

  static async of(account: Account): Promise<Counters> {
    const { status, body } = await account.call('POST', '/metrics/keys', { name: 'counters' });
    assert.equal(status, 201);
    return new Counters(account, String(body['key']));
  }

  async tunnels(): Promise<Seen> {
    const listed = (await this.#account.call('GET', '/tunnels')).body as unknown as ReadonlyArray<{ id: string }>;
    const tunnels = new Map<string, Traffic>();
    for (const { id } of listed) {
      const { body } = await this.#account.call('GET', `/tunnels/${id}`);
      tunnels.set(String(body['subdomain'] || id), {
        requests: Number(body['totalRequests']),
        bytesIn: Number(body['bytesIn']),
        bytesOut: Number(body['bytesOut']),
      });
    }
    return { tunnels, all: sum(...tunnels.values()) };
  }

  /** Waits until tunnels have counted so many requests, and one round of collecting more. */
  async settled(requests: number): Promise<Seen> {
    const end = Date.now() + SETTLED_MS;
    while ((await this.tunnels()).all.requests < requests && Date.now() < end) await pause(200);
    // What is counted too much, or too late, shows by then.
    await pause(2_500);
    return this.tunnels();
  }

  async organization(): Promise<Traffic> {
    const { body } = await this.#account.call('GET', '/metrics');
    return {
      requests: Number(body['requests_last_24h']),
      bytesIn: Number(body['bytes_in_last_24h']),
      bytesOut: Number(body['bytes_out_last_24h']),
    };
  }

  async chart(window: string): Promise<Traffic> {
    const of = async (metric: string): Promise<number> => {
      const { body } = await this.#account.call('GET', `/metrics/timeseries?metric=${metric}&window=${window}`);
      return (body as unknown as ReadonlyArray<{ value: number }>).reduce((total, { value }) => total + value, 0);
    };
    return { requests: await of('requests'), bytesIn: await of('bytes_in'), bytesOut: await of('bytes_out') };
  }

  async prometheus(): Promise<Traffic> {
    const { apiUrl } = this.#account;
    const { body } = await get(`${apiUrl}/metrics/prometheus`, Number(new URL(apiUrl).port), 10_000, this.#key);
    return summed(body, ['culvert_requests_total', 'culvert_bytes_in_total', 'culvert_bytes_out_total']);
  }

  /** Bytes and requests together, by the name of the key. */
  async spent(): Promise<ReadonlyMap<string, number>> {
    const keys = (await this.#account.call('GET', '/tokens')).body as unknown as ReadonlyArray<{
      name: string;
      spentUsdCents: number;
    }>;
    return new Map(keys.map(({ name, spentUsdCents }) => [name, spentUsdCents]));
  }
}

/** The sum over all lines of each metric. */
function summed(text: string, [requests, bytesIn, bytesOut]: readonly [string, string, string]): Traffic {
  const of = (name: string): number =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return { requests: of(requests), bytesIn: of(bytesIn), bytesOut: of(bytesOut) };
}

async function nodeTotals({ server }: Culvert): Promise<Traffic> {
  const port = server.addresses.metrics?.port ?? 0;
  const { body } = await get(`http://127.0.0.1:${port}/metrics`, port);
  return summed(body, ['culvert_node_requests_total', 'culvert_node_bytes_in_total', 'culvert_node_bytes_out_total']);
}

suite('counters', { timeout: 180_000 }, () => {
  test('add up exactly over everything that visitors do, also when an agent comes back in the middle', async (t) => {
    const culvert = await startCulvert(t, PRICING);
    const { account, httpPort, httpsPort } = culvert;
    const counters = await Counters.of(account);
    const port = await startService(t);
    const second = await account.mint({ name: 'second', tunnelQuota: 10, bandwidthLimitMbps: 10_000 });
    const shop = await culvert.publish('http', port, { subdomain: 'shop' });
    await culvert.publish('http', port, { subdomain: 'live', token: second });
    await culvert.publish('http', port, { subdomain: 'packed', token: second });
    const echo = await startEcho(t);
    const tcp = new URL((await culvert.publish('tcp', echo, { token: second })).url);

    const plain = (host: string, count: number) => talk(connect(httpPort, '127.0.0.1'), pipeline(host, count));
    const secure = (host: string, count: number) =>
      talk(
        connectTls({
          host: '127.0.0.1',
          port: httpsPort,
          servername: host,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        }),
        pipeline(host, count),
      );
    const round = async (): Promise<{ shop: Traffic; live: Traffic; tcp: Traffic }> => {
      const [a, b, c, d, e, f] = await Promise.all([
        plain('shop.localhost', 60),
        secure('shop.localhost', 40),
        plain('live.localhost', 20),
        webSocket(httpPort, 'live.localhost', 40_000),
        tcpEcho(Number(tcp.port), 70_000),
        tcpEcho(Number(tcp.port), 3),
        overHttp2(httpsPort, 'packed.localhost', 25),
      ]);
      return { shop: sum(a, b), live: sum(c, d), tcp: sum(e, f) };
    };

    const first = await round();
    const [session] = (await account.call('GET', '/connections')).body as unknown as ReadonlyArray<{
      agent_id: string;
    }>;
    const online = () => shop.events.filter(({ kind }) => kind === 'tunnel_online').length;
    const sessions = (await account.call('GET', '/connections')).body as unknown as ReadonlyArray<{
      agent_id: string;
      tunnels: string[];
    }>;
    assert.ok(session !== undefined && sessions.length === 4);
    for (const { agent_id } of sessions)
      assert.equal((await account.call('DELETE', `/connections/${agent_id}`, { reason: 'in the middle' })).status, 200);
    const end = Date.now() + 30_000;
    const back = async () => ((await account.call('GET', '/connections')).body as unknown as unknown[]).length === 4;
    while (!(online() === 2 && (await back())) && Date.now() < end) await pause(100);
    assert.equal(online(), 2, 'the agent came back');
    assert.match(
      JSON.stringify(shop.events.filter(({ kind }) => kind === 'offline' || kind === 'retrying')),
      /in the middle/,
    );
    const then = await round();

    const expected = {
      shop: sum(first.shop, then.shop),
      live: sum(first.live, then.live),
      tcp: sum(first.tcp, then.tcp),
    };
    const requests = 2 * (60 + 40 + 20 + 1 + 2 + 25);
    const { tunnels, all } = await counters.settled(requests);
    assert.deepEqual(tunnels.get('shop'), expected.shop);
    assert.deepEqual(tunnels.get('live'), expected.live);
    const packed = tunnels.get('packed') ?? nothing();
    assert.equal(packed.requests, 50);
    // Bodies alone; heads come on top.
    assert.ok(packed.bytesOut > 2 * 10 * 300 && packed.bytesIn > 2 * 144, JSON.stringify(packed));
    const other = [...tunnels].find(([name]) => !['shop', 'live', 'packed'].includes(name))?.[1];
    assert.deepEqual(other, expected.tcp);
    assert.equal(all.requests, requests);

    assert.deepEqual(await counters.organization(), all);
    for (const window of ['1h', '24h', '7d', '30d']) assert.deepEqual(await counters.chart(window), all, window);
    assert.deepEqual(await counters.prometheus(), all);
    assert.deepEqual(await nodeTotals(culvert), all);
    const cost = (...parts: readonly Traffic[]): number => {
      const total = sum(...parts);
      return total.requests + total.bytesIn + total.bytesOut;
    };
    const spent = await counters.spent();
    assert.equal(spent.get('harness'), cost(expected.shop));
    assert.equal(spent.get('second'), cost(expected.live, expected.tcp, packed));
    const ended = (await account.call('GET', '/connections/ended')).body as unknown as ReadonlyArray<
      Record<string, unknown>
    >;
    assert.deepEqual(
      ended.map(({ reason, message }) => [reason, message]),
      Array.from({ length: 4 }, () => [
        'disconnected',
        'A member of the organization disconnected this agent: in the middle',
      ]),
    );
  });

  test('a kill -9 of the server takes nothing of what was shown before, and of what was answered after it', async (t) => {
    const culvert = await spawnCulvert(t);
    const port = await startService(t);
    culvert.agent(['http', String(port), '--subdomain', 'shop', '--quiet']);
    const counters = await Counters.of(culvert.account);
    const url = `http://shop.localhost:${culvert.ports.http}/?bytes=100`;
    const answers: number[] = [];
    let sent = 0;
    const ask = async (): Promise<boolean> => {
      const { status, code } = await fetchOnce(culvert.ports.http, url);
      if (status !== 200 || code !== undefined) return false;
      answers.push(Date.now());
      return true;
    };
    const untilServed = async (): Promise<void> => {
      const end = Date.now() + 40_000;
      for (;;) {
        const served = await ask().catch(() => false);
        if (served) return;
        if (Date.now() > end) assert.fail('the tunnel is not served');
        await pause(100);
      }
    };
    /** Visitors without a pause until `over`; each request counts as sent before it is. */
    const load = async (over: () => boolean): Promise<void> => {
      const visitor = async (): Promise<void> => {
        while (!over()) {
          sent++;
          await ask().catch(() => false);
        }
      };
      await Promise.all(Array.from({ length: VISITORS }, visitor));
    };
    await untilServed();
    let killed = false;
    const before = load(() => killed);
    await pause(3_000);
    // What the API shows is written: a kill takes none of it. How soon that is (two seconds) is a figure for a quiet machine.
    const safe = answers.length;
    while ((await counters.tunnels()).all.requests < safe) await pause(100);
    await culvert.killServer();
    const at = Date.now();
    killed = true;
    await before;
    const answeredBefore = answers.filter((when) => when <= at).length;
    await culvert.startServer();
    await untilServed();
    const until = Date.now() + 3_000;
    await load(() => Date.now() > until);
    const answered = answers.length;
    const least = safe + answers.filter((when) => when > at).length;
    const { all } = await counters.settled(least);
    const lost = answered - all.requests;
    const lostSince = answers.filter((when) => when <= at)[answeredBefore - lost];
    t.diagnostic(
      `${answered} answered, ${all.requests} counted; lost: ${lost}, ${lostSince === undefined ? 0 : at - lostSince} ms`,
    );
    assert.ok(answeredBefore > 100, `${answeredBefore}`);
    assert.ok(all.requests >= least, `${all.requests} of at least ${least}`);
    assert.ok(all.requests <= sent + 2, `${all.requests} counted, ${sent} sent`);
    assert.deepEqual(await counters.organization(), all);
    assert.deepEqual(await counters.chart('1h'), all);
    assert.deepEqual(await counters.prometheus(), all);
    // Each asks the same. Of those that were under way at the kill the answer may be missing.
    assert.equal(all.bytesIn % all.requests, 0);
    assert.ok(all.bytesOut >= (all.requests - VISITORS) * 100, `${all.bytesOut} bytes`);
  });
});

async function startEcho(t: TestContext): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** As `get`, with nothing in the request that differs from one to the next. */
function fetchOnce(port: number, url: string): Promise<{ status: number; code: unknown }> {
  const { pathname, search, host } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; code: unknown }>();
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: pathname + search,
    headers: { host },
    agent: false,
    timeout: 10_000,
  });
  outgoing.on('error', reject);
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
  outgoing.on('response', (response) => {
    response.on('error', reject);
    response
      .resume()
      .on('end', () => resolve({ status: response.statusCode ?? 0, code: response.headers['culvert-error'] }));
  });
  outgoing.end();
  return promise;
}
