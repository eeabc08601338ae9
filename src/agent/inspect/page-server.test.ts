/** The page's server: its address, its callers and its responses. */
import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { checkMetrics, NEEDS_PROMTOOL } from '../../../test/harness/promtool.ts';
import type { Logger } from '../../base/log.ts';
import { getHead, OK, startPageFixture, takePort, viewOf } from './testing.ts';
import { startPage } from './page-server.ts';

function recordingLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const say =
    (level: string) =>
    (_fields: object, message: string): void => {
      lines.push(`${level}: ${message}`);
    };
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  };
  return { log, lines };
}

test('a port that is taken: the next one; none free: said, and left off', async (t) => {
  const first = await takePort(t, 0);
  const { port } = first.address() as AddressInfo;
  const { log, lines } = recordingLog();
  const page = await startPage({ port, tunnels: [], version: '1', log });
  assert.ok(page);
  t.after(() => page.close());
  const found = Number(new URL(page.url).port);
  assert.ok(found > port && found <= port + 20, page.url);
  assert.match(lines.join(), /info: local inspector started/);

  await takePort(t, 65_535).catch(() => undefined);
  const none = await startPage({ port: 65_535, tunnels: [], version: '1', log });
  assert.equal(none, undefined);
  assert.match(lines.at(-1) ?? '', /^warn: the local inspector could not start: no port is free.*--no-inspect/);
});

test('a port that browsers refuse to open is left out', async (t) => {
  const page = await startPage({ port: 4_045, tunnels: [], version: '1', log: recordingLog().log });
  assert.ok(page);
  t.after(() => page.close());
  assert.notEqual(new URL(page.url).port, '4045');
  assert.equal((await fetch(`${page.url}/healthz`)).status, 200);
});

test('a dozen agents of one machine: the next page finds its port, and leaves nothing of its tries behind', async (t) => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  const first = await takePort(t, 0);
  const { port } = first.address() as AddressInfo;
  // A port in use is skipped as well.
  for (let next = port + 1; next < port + 14; next++) await takePort(t, next).catch(() => undefined);
  const page = await startPage({ port, tunnels: [], version: '1', log: recordingLog().log });
  assert.ok(page);
  t.after(() => page.close());
  assert.ok(Number(new URL(page.url).port) >= port + 14, page.url);
  // Warnings come in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});

test('it listens on 127.0.0.1 and on no other address of this machine', async (t) => {
  const { port } = await startPageFixture(t);
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ address }) => address !== '127.0.0.1' && !address.startsWith('fe80'));
  for (const { address } of others) {
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: address, port });
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      t.after(() => socket.destroy());
    });
    assert.equal(answers, false, address);
  }
});

test('Host, Origin and Sec-Fetch-Site decide who is answered', async (t) => {
  const { ask, port, pass } = await startPageFixture(t);
  pass(getHead('/secret'), OK);
  const own = { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' };
  const json = { 'content-type': 'application/json' };
  const list = '/api/requests/http';
  // biome-ignore format: a table
  const rows: ReadonlyArray<readonly [number, string, string, Record<string, string>]> = [
    [200, 'GET', '/', {}],
    [200, 'GET', '/', { host: `localhost:${port}` }],
    [200, 'GET', '/', { host: `LOCALHOST:${port}` }],
    [200, 'GET', '/', { host: `[::1]:${port}` }],
    [403, 'GET', '/', { host: 'localhost' }],
    [403, 'GET', '/', { host: `localhost:${port + 1}` }],
    [403, 'GET', '/', { host: `evil.test:${port}` }],
    [403, 'GET', '/', { host: `localhost.evil.test:${port}` }],
    [403, 'GET', '/', { host: `127.0.0.1.nip.io:${port}` }],
    [403, 'GET', list, { host: `evil.test:${port}` }],
    [403, 'GET', '/healthz', { host: `evil.test:${port}` }],
    // Programs say nothing of an origin.
    [200, 'GET', list, {}],
    [200, 'GET', list, own],
    [403, 'GET', list, { 'sec-fetch-site': 'cross-site' }],
    // Another port of localhost is the same site, and the very thing that is being developed.
    [403, 'GET', list, { 'sec-fetch-site': 'same-site' }],
    [403, 'GET', list, { origin: 'http://evil.test' }],
    [403, 'GET', list, { origin: 'null' }],
    [403, 'GET', list, { origin: `https://127.0.0.1:${port}` }],
    [403, 'GET', list, { origin: 'http://localhost:3000' }],
    // A link leads to the page, and to nothing else.
    [200, 'GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
    [403, 'GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    [403, 'GET', list, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
    [403, 'GET', '/api/events', { 'sec-fetch-site': 'same-site' }],
    [403, 'POST', list, { ...json, origin: 'http://evil.test' }],
    [403, 'POST', list, { ...json, 'sec-fetch-site': 'cross-site' }],
    [403, 'POST', list, { ...json, 'sec-fetch-site': 'same-site', origin: `http://localhost:${port}` }],
    [403, 'POST', list, { 'content-type': 'text/plain' }],
    [403, 'POST', list, {}],
    [400, 'POST', list, json],
    [400, 'POST', list, { ...json, ...own }],
    [403, 'DELETE', list, { origin: 'http://localhost:3000' }],
    [204, 'DELETE', list, own],
  ];
  for (const [status, method, path, headers] of rows) {
    const said = await ask(path, { method, headers });
    assert.equal(said.status, status, `${method} ${path} ${JSON.stringify(headers)}: ${said.text}`);
    if (status === 403) assert.doesNotMatch(said.text, /secret|<html/);
    assert.equal(said.headers['x-content-type-options'], 'nosniff');
    assert.equal(said.headers['cache-control'], 'no-store');
    assert.equal(said.headers['access-control-allow-origin'], undefined);
    assert.match(String(said.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
  }
});

test('the page and its files are there, with nothing inline and nothing from elsewhere', async (t) => {
  const { ask } = await startPageFixture(t);
  const { text, headers } = await ask('/');
  assert.match(String(headers['content-type']), /^text\/html/);
  assert.doesNotMatch(text, /<script>|<style|onclick|style=/);
  const files = [...text.matchAll(/(?:href|src)="([^"]+)"/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'data:,');
  assert.deepEqual(files, ['page.css', 'main.js']);
  for (const name of [...files, 'list.js', 'detail.js', 'bodies.js', 'curl.js', 'parts.js']) {
    const file = await ask(`/${name}`);
    assert.equal(file.status, 200, name);
    for (const [, other = ''] of file.text.matchAll(/from '\.\/([^']+)'/g))
      assert.equal((await ask(`/${other}`)).status, 200);
    assert.doesNotMatch(
      file.text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?:\/\/(?!localhost)/,
    );
  }
});

test('tunnels in the shape that scripts for ngrok expect', async (t) => {
  const fixture = await startPageFixture(t);
  fixture.pass(getHead('/'), OK);
  const { body } = await fixture.ask('/api/tunnels');
  const tunnels = body['tunnels'] as Record<string, unknown>[];
  assert.equal(body['uri'], '/api/tunnels');
  assert.deepEqual(
    tunnels.map(({ name, ID, uri, public_url, proto, config }) => ({ name, ID, uri, public_url, proto, config })),
    [
      {
        ...{
          name: 'shop',
          ID: 'id-of-shop',
          uri: '/api/tunnels/shop',
          public_url: 'https://shop.culvert.test',
          proto: 'https',
        },
        config: { addr: 'http://127.0.0.1:9', inspect: true },
      },
      {
        ...{
          name: 'quiet',
          ID: 'id-of-quiet',
          uri: '/api/tunnels/quiet',
          public_url: 'https://quiet.culvert.test',
          proto: 'https',
        },
        config: { addr: 'http://127.0.0.1:9', inspect: false },
      },
      {
        ...{ name: 'db', ID: 'id-of-db', uri: '/api/tunnels/db', public_url: 'tcp://culvert.test:20001', proto: 'tcp' },
        config: { addr: '127.0.0.1:9', inspect: false },
      },
    ],
  );
  const metrics = tunnels[0]?.['metrics'] as Record<string, Record<string, number>>;
  const names = ['count', 'p50', 'p90', 'p95', 'p99', 'rate1', 'rate15', 'rate5'];
  assert.deepEqual(Object.keys(metrics['http'] ?? {}).sort(), names);
  assert.deepEqual(Object.keys(metrics['conns'] ?? {}).sort(), ['count', 'gauge', ...names.slice(1)]);
  assert.deepEqual([metrics['http']?.['count'], metrics['conns']?.['count'], metrics['conns']?.['gauge']], [1, 1, 0]);
  assert.deepEqual((await fixture.ask('/api/tunnels/shop')).body['ID'], 'id-of-shop');
  for (const name of ['nope', '%zz', '__proto__', ''])
    assert.equal((await fixture.ask(`/api/tunnels/${name}`)).status, 404);
  fixture.view = { ...fixture.view, tunnels: fixture.view.tunnels.map((tunnel) => ({ ...tunnel, url: undefined })) };
  assert.deepEqual((await fixture.ask('/api/tunnels')).body['tunnels'], [], 'none before it has a URL');
});

test('requests: the list, one of them, the limits', async (t) => {
  const { ask, pass } = await startPageFixture(t);
  for (let n = 0; n < 60; n++) pass(getHead(`/${n}`), OK);
  pass(getHead('/hidden'), OK, 'quiet');
  pass('\x16\x03\x01 hello', 'x', 'db');
  const { body } = await ask('/api/requests/http');
  const requests = body['requests'] as Record<string, unknown>[];
  assert.equal(requests.length, 50);
  assert.equal(requests[0]?.['tunnel_name'], 'shop');
  assert.equal(requests[0]['remote_addr'], '192.0.2.7');
  const [{ request, response }] = requests as [{ request: Record<string, unknown>; response: Record<string, unknown> }];
  assert.deepEqual([request['method'], request['proto'], request['uri']], ['GET', 'HTTP/1.1', '/59']);
  assert.deepEqual(request['headers'], { Host: ['shop.test'], 'X-Forwarded-For': ['192.0.2.7'] });
  assert.equal(Buffer.from(String(request['raw']), 'base64').toString(), getHead('/59'));
  assert.deepEqual([response['status'], response['status_code'], response['proto']], ['200 OK', 200, 'HTTP/1.1']);
  assert.equal(Buffer.from(String(response['raw']), 'base64').toString(), OK);
  const count = async (query: string): Promise<unknown> =>
    ((await ask(`/api/requests/http?${query}`)).body['requests'] as unknown[] | undefined)?.length;
  assert.equal(await count('limit=2'), 2);
  assert.equal(await count('limit=500&tunnel_name=shop'), 60);
  assert.equal(await count('tunnel_name=quiet'), 0, 'what is not to be inspected is not kept');
  for (const limit of ['501', '-1', '1e2', 'x', ''])
    assert.equal((await ask(`/api/requests/http?limit=${limit}`)).status, 400);
  const one = await ask(String(requests[0]['uri']));
  assert.equal(one.body['path'], '/59');
  assert.deepEqual(one.body['request_headers'], [
    ['Host', 'shop.test'],
    ['X-Forwarded-For', '192.0.2.7'],
  ]);
  for (const id of ['x', '__proto__', '%00']) assert.equal((await ask(`/api/requests/http/${id}`)).status, 404);
  assert.equal((await ask('/api/requests/http', { method: 'DELETE' })).status, 204);
  assert.equal(await count(''), 0);
});

test('health, readiness, what is not there, and methods that mean nothing', async (t) => {
  const fixture = await startPageFixture(t);
  assert.equal((await fixture.ask('/readyz')).status, 200);
  fixture.view = viewOf('waiting', fixture.specs);
  assert.equal((await fixture.ask('/readyz')).status, 503);
  assert.equal((await fixture.ask('/healthz')).status, 200);
  assert.equal((await fixture.ask('/nothing')).status, 404);
  const page = await fixture.ask('/inspect/http');
  assert.deepEqual([page.status, page.headers['location']], [302, '/'], "the page of ngrok's agent");
  assert.equal((await fixture.ask('/api/tunnels', { method: 'DELETE' })).status, 405);
  assert.equal((await fixture.ask('/', { method: 'constructor'.toUpperCase() })).status, 400);
  assert.equal((await fixture.ask('http://evil.test/api/tunnels')).status, 400);
  assert.equal((await fixture.ask('/api/requests/http', { method: 'HEAD' })).text, '');
  const long = JSON.stringify({ id: 'x'.repeat(10_000) });
  const headers = { 'content-type': 'application/json' };
  assert.equal((await fixture.ask('/api/requests/http', { method: 'POST', headers, body: long })).status, 400);
  assert.equal((await fixture.ask('/api/requests/http', { method: 'POST', headers, body: '{"id":"x"}' })).status, 404);
});

test('metrics: what passed is counted', async (t) => {
  const fixture = await startPageFixture(t);
  fixture.page.onEvent({ kind: 'online', agentId: 'a', account: 'Ann', serverVersion: '1' });
  fixture.page.onEvent({ kind: 'online', agentId: 'a', account: 'Ann', serverVersion: '1' });
  for (const status of [200, 201, 302, 404, 500, 503])
    fixture.pass(getHead('/'), `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);
  fixture.pass('nonsense\r\n', '');
  const { text, headers } = await fixture.ask('/metrics');
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const values = Object.fromEntries(
    text.split('\n').flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.split(/ (?=[^ ]+$)/)])),
  ) as Record<string, string>;
  const shop = (status: string): string | undefined =>
    values[`culvert_agent_requests_total{tunnel="shop",status="${status}"}`];
  assert.deepEqual([shop('2xx'), shop('3xx'), shop('4xx'), shop('5xx')], ['2', '1', '1', '2']);
  assert.equal(values['culvert_agent_up'], '1');
  assert.equal(values['culvert_agent_sessions_total'], '2');
  assert.equal(values['culvert_agent_reconnects_total'], '1');
  assert.equal(values['culvert_agent_streams'], '2');
  assert.equal(values['culvert_agent_bytes_total{from="services"}'], '7');
  assert.equal(values['culvert_agent_connections_total{tunnel="shop"}'], '7');
  assert.equal(values['culvert_agent_page_streams_let_go_total'], '1');
  assert.equal(values['culvert_agent_page_records'], '6');
  await t.test('promtool has nothing to say', NEEDS_PROMTOOL, () => checkMetrics(text));
});

test('a private network is in the status and in the metrics', async (t) => {
  const fixture = await startPageFixture(t);
  const without = (await fixture.ask('/metrics')).text;
  assert.doesNotMatch(without, /relay/, 'an agent of tunnels alone says nothing of relays');
  const relay = {
    name: 'vpn',
    network: 'office "main"',
    networkId: undefined,
    target: 'localhost:51820',
    state: 'online',
    endpoint: 'relay.example.com:20000',
    path: 'udp',
    udp: 'up',
    pathWhy: undefined,
    reason: undefined,
    fault: undefined,
    clients: 3,
    packetsIn: 10,
    bytesIn: 1_000,
    packetsOut: 20,
    bytesOut: 2_000,
    dropped: 4,
  } as const;
  fixture.view = { ...fixture.view, relays: [relay, { ...relay, name: 'lab', state: 'waiting', path: undefined }] };
  const { text } = await fixture.ask('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('culvert_agent_relay') && line.includes('vpn'));
  assert.deepEqual(lines, [
    'culvert_agent_relay_udp{relay="vpn"} 1',
    'culvert_agent_relay_clients{relay="vpn"} 3',
    'culvert_agent_relay_packets_total{relay="vpn",from="clients"} 10',
    'culvert_agent_relay_packets_total{relay="vpn",from="service"} 20',
    'culvert_agent_relay_bytes_total{relay="vpn",from="clients"} 1000',
    'culvert_agent_relay_bytes_total{relay="vpn",from="service"} 2000',
    'culvert_agent_relay_dropped_total{relay="vpn"} 4',
  ]);
  assert.match(text, /culvert_agent_relays\{state="online"\} 1\n.*\{state="waiting"\} 1\n/);
  assert.match(text, /culvert_agent_relay_udp\{relay="lab"\} 0/);
  await t.test('promtool has nothing to say', NEEDS_PROMTOOL, () => checkMetrics(text));
  assert.deepEqual((await fixture.ask('/api/status')).body['relays'], [
    {
      name: 'vpn',
      network: 'office "main"',
      endpoint: 'relay.example.com:20000',
      path: 'udp',
      target: 'localhost:51820',
      state: 'online',
      clients: 3,
      fault: null,
    },
    {
      name: 'lab',
      network: 'office "main"',
      endpoint: 'relay.example.com:20000',
      path: null,
      target: 'localhost:51820',
      state: 'waiting',
      clients: 3,
      fault: null,
    },
  ]);
});
