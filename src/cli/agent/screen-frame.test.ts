/** What the live screen shows in terminals of any size, and what it never shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { AgentView, RelayView, RequestView, TunnelView } from '../../agent/events.ts';
import { type FrameInput, renderFrame } from './screen-frame.ts';

function tunnel(name: string, changes: Partial<TunnelView> = {}): TunnelView {
  return {
    name,
    protocol: 'http',
    target: 'localhost:3000',
    state: 'online',
    url: `https://${name}.tunnel.example.com`,
    tunnelId: undefined,
    expiresAt: null,
    reason: undefined,
    fault: undefined,
    ...changes,
  };
}

function relay(changes: Partial<RelayView> = {}): RelayView {
  return {
    name: 'udp',
    network: 'home',
    networkId: undefined,
    target: 'localhost:51820',
    state: 'online',
    endpoint: 'tunnel.example.com:30000',
    path: 'udp',
    udp: 'up',
    pathWhy: undefined,
    reason: undefined,
    fault: undefined,
    clients: 2,
    packetsIn: 10,
    bytesIn: 1_234_567,
    packetsOut: 10,
    bytesOut: 999,
    dropped: 0,
    ...changes,
  };
}

function frame(view: Partial<AgentView>, requests: RequestView[] = []): FrameInput {
  const base: AgentView = {
    state: 'online',
    server: 'https://tunnel.example.com',
    account: 'ann@example.com',
    rttMs: 12,
    inFlight: 0,
    cause: undefined,
    retryAt: undefined,
    tunnels: [tunnel('shop')],
    relays: [],
  };
  return { view: { ...base, ...view }, requests, now: 1_000_000, warning: undefined, notice: undefined };
}

const request = (path: string): RequestView => ({ tunnel: 'shop', at: 0, method: 'GET', path, status: 200, ms: 3 });
const SIZE = { columns: 100, rows: 24, color: false, unicode: true };

test('shows state, latency, account, URL and target', () => {
  const text = renderFrame(frame({}), SIZE);
  assert.match(text, /culvert {2}● online {3}latency 12 ms · ann@example\.com · tunnel\.example\.com/);
  assert.match(text, /https:\/\/shop\.tunnel\.example\.com {2}→ localhost:3000/);
  assert.match(text, /no requests yet/);
});

test('shows the address of the local inspector, until there is something to say about the end', () => {
  const page = 'http://127.0.0.1:4040';
  assert.match(renderFrame({ ...frame({}), page }, SIZE), /Inspector: http:\/\/127\.0\.0\.1:4040 · Ctrl-C to stop$/);
  const ending = renderFrame({ ...frame({}), page, notice: 'Press Ctrl-C again to stop immediately' }, SIZE);
  assert.match(ending, /\nPress Ctrl-C again to stop immediately$/);
  assert.match(renderFrame(frame({}), SIZE), /\nCtrl-C to stop$/);
});

test('shows why it is away and when it tries again', () => {
  const text = renderFrame(frame({ state: 'waiting', cause: 'connect ECONNREFUSED', retryAt: 1_003_500 }), SIZE);
  assert.match(text, /○ offline, retrying in 4 s/);
  assert.match(text, /connect ECONNREFUSED/);
});

test('shows what is wrong with a tunnel below it', () => {
  const tunnels = [
    tunnel('a', { state: 'ended', url: undefined, reason: 'a is taken' }),
    tunnel('b', { fault: 'localhost:3000 refused the connection' }),
    tunnel('c', { expiresAt: 1_000_000 + 3_000_000 }),
  ];
  const text = renderFrame(frame({ tunnels }), SIZE);
  assert.match(text, /a is taken/);
  assert.match(text, /refused the connection/);
  assert.match(text, /ends in 50 min/);
});

test('a request that a tried action would have refused says so', () => {
  const requests = [{ ...request('/admin'), dryRun: { status: 403, code: 'denied' } }, request('/shop')];
  const text = renderFrame(frame({}, requests), SIZE);
  assert.match(text, /200 \(would be 403 denied\) +3\.0 ms +GET +\/admin\n/);
  assert.match(text, /200 +3\.0 ms +GET +\/shop/);
});

test('shows which way the datagrams of a private network go, and why', () => {
  const only = (changes: Partial<RelayView> = {}): string =>
    renderFrame(frame({ tunnels: [], relays: [relay(changes)] }), SIZE);
  assert.match(only(), /^ {2}tunnel\.example\.com:30000 {2}→ localhost:51820$/m);
  assert.match(only(), /^ {4}network home · over UDP · 2 clients · 1\.2 MB in, 999 B out$/m);
  assert.ok(!only().includes('no requests yet'), 'datagrams are no requests');
  const blocked = only({ path: 'stream', udp: 'silent', pathWhy: 'no UDP response', clients: 1, dropped: 3 });
  const text = blocked.replaceAll(/\n {4}/g, ' ');
  assert.match(
    text,
    /no UDP connection to the server: datagrams use the TLS session, which is slower with packet loss\./,
  );
  assert.match(
    text,
    /Retrying UDP\. \(no UDP response\) network home · over the TLS session · 1 client · .* · 3 dropped/,
  );
  const off = only({ path: 'stream', udp: 'off', pathWhy: 'UDP is turned off' });
  assert.match(off, /\n {4}UDP is turned off\n {4}network home · over the TLS session/);
  const away = only({ state: 'waiting', endpoint: undefined, path: undefined, reason: 'home has no server yet' });
  assert.match(away, /^ {2}network home {2}→ localhost:51820\n {4}home has no server yet$/m);
  assert.ok(!away.includes('over UDP'));
});

test('says why the peers of a managed interface are not in step', () => {
  const only = (fault: string | undefined): string =>
    renderFrame(frame({ tunnels: [], relays: [relay({ manages: { interface: 'wg0', fault } })] }), SIZE);
  assert.ok(!only(undefined).includes('wg0'));
  const text = only('there is no WireGuard interface wg0. Start it: sudo wg-quick up wg0').replaceAll(/\n {4}/g, ' ');
  assert.match(text, /the peers of wg0 are not in step with the devices: there is no WireGuard interface wg0\./);
});

test('fits every size of terminal, with colours or without', () => {
  const tunnels = Array.from({ length: 30 }, (_, i) =>
    tunnel(`t${i}`, { fault: i % 3 === 0 ? 'not reachable' : undefined }),
  );
  const relays = [relay(), relay({ path: 'stream', udp: 'silent', pathWhy: 'x'.repeat(70) })];
  const requests = Array.from({ length: 40 }, (_, i) => request(`/${'x'.repeat(i * 5)}`));
  for (let columns = 1; columns <= 130; columns += 3) {
    for (let rows = 2; rows <= 50; rows += 3) {
      for (const unicode of [true, false]) {
        const text = renderFrame(frame({ tunnels, relays }, requests), {
          columns,
          rows,
          color: columns % 2 === 0,
          unicode,
        });
        const lines = stripVTControlCharacters(text).split('\n');
        assert.ok(lines.length <= Math.max(1, rows - 1), `${lines.length} lines in ${rows} rows`);
        for (const line of lines)
          assert.ok(Array.from(line).length <= Math.max(columns, 2), `${line} in ${columns} columns`);
      }
    }
  }
});

test('a narrow terminal breaks the URL rather than cut it: it can still be copied', () => {
  const text = renderFrame(frame({}), { ...SIZE, columns: 24 });
  assert.ok(text.replaceAll(/\n */g, '').includes('https://shop.tunnel.example.com'));
});

test('nothing that a visitor or a server sends reaches the terminal as a control', () => {
  const evil = '\u001b]52;c;ZXZpbA==\u0007\u009b31m\r\n\u202ettam';
  const text = renderFrame(
    frame(
      {
        account: evil,
        cause: evil,
        tunnels: [tunnel('a', { reason: evil, state: 'waiting' })],
        relays: [relay({ network: evil, pathWhy: evil })],
      },
      [{ ...request(evil), dryRun: { status: 403, code: evil } }],
    ),
    SIZE,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(text));
});

test('colours only where they are wanted', () => {
  assert.ok(renderFrame(frame({}), { ...SIZE, color: true }).includes('\u001b['));
  assert.ok(!renderFrame(frame({}), SIZE).includes('\u001b['));
});

test('a tunnel with routes shows each of them, and which one is away', () => {
  const routes = [
    { path: '/api', target: 'localhost:8080' },
    { path: '/', target: 'https://localhost:8443' },
  ];
  const tunnels = [tunnel('shop', { routes, target: 'unused', fault: '/api: refused' })];
  const lines = renderFrame(frame({ tunnels }), SIZE)
    .split('\n')
    .map((line) => line.trim());
  const at = lines.findIndex((line) => line.includes('https://shop.tunnel.example.com'));
  assert.match(lines[at] ?? '', /→ 2 routes$/);
  assert.deepEqual(lines.slice(at + 1, at + 4), [
    '/api → localhost:8080',
    '/    → https://localhost:8443',
    '/api: refused',
  ]);
});
