/** Refusals that say how the tunnel must be set up: known pages are named once per tunnel, and no other page is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { UpstreamForm } from '../../wire/upstream-form.ts';
import { parseTarget } from '../local/target.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import { Watch } from './watch.ts';

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');

interface Page {
  readonly status?: number;
  readonly server?: string;
  readonly upstream?: UpstreamForm;
}

/** What the user gets to read of `bodies`, each the answer to a request on a connection of its own. */
function adviceTo(bodies: readonly string[], { status = 403, server = 'test', upstream }: Page = {}): AdviceCode[] {
  const codes: AdviceCode[] = [];
  const spec = { name: 'shop', ...parseTarget('3000', 'http'), upstream };
  const watch = new Watch([spec], { log: silentLog });
  for (const body of bodies) {
    const head = `HTTP/1.1 ${status} X\r\nServer: ${server}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    const watched = watch.joined(spec.target, (code) => codes.push(code));
    const answer = Buffer.from(head + body);
    watched?.tap?.request(GET, 0, GET.length);
    watched?.tap?.answer(answer, 0, answer.length);
    watched?.close();
  }
  watch.close();
  return codes;
}

const VITE =
  'Blocked request. This host ("shop.example.test") is not allowed.\nTo allow this host, add it to `server.allowedHosts`';
const PAGES: ReadonlyArray<readonly [service: string, body: string, code: AdviceCode, page?: Page]> = [
  ['Vite', VITE, 'host_header'],
  ['webpack-dev-server', 'Invalid Host header', 'host_header'],
  ['Django', '<title>DisallowedHost\n          at /</title>', 'host_header', { status: 400 }],
  ['Django in text', "Invalid HTTP_HOST header: 'shop.example.test'", 'host_header', { status: 400 }],
  ['Jupyter', '<h1>403 : Forbidden</h1>', 'host_header', { server: 'TornadoServer/6.4' }],
  ['Rails', `<style>${' '.repeat(8_000)}</style><h1>Blocked hosts: shop.example.test</h1>`, 'allowed_hosts'],
  ['Go over TLS', 'Client sent an HTTP request to an HTTPS server.\n', 'tls', { status: 400 }],
  ['nginx over TLS', '<center>The plain HTTP request was sent to HTTPS port</center>', 'tls', { status: 400 }],
];
for (const [service, body, code, page] of PAGES) {
  test(`advice: the refusal of ${service} is reported once`, () => {
    assert.deepEqual(adviceTo([body, body, body], page), [code]);
  });
}

test('advice: other refusals, and the same words with another status, say nothing', () => {
  assert.deepEqual(adviceTo(['Forbidden', '<h1>403 : Forbidden</h1>', ' '.repeat(20_000) + VITE]), []);
  assert.deepEqual(adviceTo([VITE], { status: 200 }), []);
  assert.deepEqual(adviceTo([VITE], { status: 404 }), []);
});

test('advice: a tunnel that rewrites the host already gets no such hint', () => {
  assert.deepEqual(adviceTo([VITE], { upstream: { host: 'app.local' } }), []);
  assert.deepEqual(adviceTo([VITE], { upstream: { prefix: '/app' } }), ['host_header']);
});

test('advice: without a listener a refusal passes like any other', () => {
  const spec = { name: 'shop', ...parseTarget('3000', 'http') };
  const watch = new Watch([spec], { log: silentLog });
  const answer = Buffer.from(`HTTP/1.1 403 X\r\nContent-Length: ${VITE.length}\r\n\r\n${VITE}`);
  const watched = watch.joined(spec.target);
  watched?.tap?.request(GET, 0, GET.length);
  watched?.tap?.answer(answer, 0, answer.length);
  assert.equal(watch.tally.faults, 0);
  assert.equal(watch.ring.list(1)[0]?.status, 403);
  watch.close();
});
