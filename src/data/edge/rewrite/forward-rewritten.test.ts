/** Tunnels with another host or path: what the service gets from visitors of each kind, and what they get back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import type { UpstreamForm } from '../../../wire/upstream-form.ts';
import { idOf } from '../../fixtures/link.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig, type RigOptions } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const REWRITE: UpstreamForm = { host: 'localhost:3000' };

interface Seen {
  readonly url: string | undefined;
  readonly raw: string[];
  readonly headers: IncomingMessage['headers'];
}

/** A tunnel `shop` in front of a service that answers with what it got, and as `answer` says. */
async function served(
  t: TestContext,
  upstream: UpstreamForm,
  { answer, ...options }: RigOptions & { answer?: (response: ServerResponse) => void } = {},
) {
  const rig = await Rig.start(t, options);
  const got: Seen[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    got.push({ url: request.url, raw: request.rawHeaders, headers: request.headers });
    answer?.(response);
    response.end('body');
  });
  const agent = await rig.serve('shop', origin.port, 'http', { upstream });
  return { rig, origin, got, agent };
}

test(
  'host header: the service gets its own name first, and X-Forwarded-Host stays the public one',
  WITHIN,
  async (t) => {
    const { rig, got } = await served(t, REWRITE);
    const visitor = await Http2Visitor.open(t, rig);
    const wire = await rig.visit({ tls: true });
    wire.ask('POST /a?b=1', 'X-A: 1', 'Origin: https://shop.example.test', 'Content-Length: 3', 'X-B: 2');
    wire.send('abc');
    assert.equal((await wire.response()).body, 'body');
    await visitor.ask({
      ':path': '/a?b=1',
      'x-a': '1',
      origin: 'https://shop.example.test',
      referer: 'https://shop.example.test/x',
    });
    assert.deepEqual(got[0]?.raw.slice(0, 6), ['Host', 'localhost:3000', 'X-A', '1', 'X-B', '2']);
    assert.equal(got[1]?.headers.referer, 'http://localhost:3000/x');
    for (const { url, headers, raw } of got) {
      assert.equal(url, '/a?b=1');
      assert.equal(headers.host, 'localhost:3000');
      assert.equal(headers.origin, 'http://localhost:3000');
      assert.equal(headers['x-forwarded-host'], 'shop.example.test');
      assert.equal(headers['x-forwarded-proto'], 'https');
      assert.equal(raw.filter((name) => name.toLowerCase() === 'host').length, 1);
    }
  },
);

test('host header: a foreign Origin stays, so that the service can refuse it', WITHIN, async (t) => {
  const { rig, got } = await served(t, REWRITE);
  const wire = await rig.visit();
  wire.ask('GET /', 'Origin: https://evil.test', 'Referer: https://evil.test/?https://shop.example.test');
  await wire.response();
  assert.equal(got[0]?.headers.origin, 'https://evil.test');
  assert.equal(got[0]?.headers.referer, 'https://evil.test/?https://shop.example.test');
});

test('host header: redirects and cookies of the service name the public host again', WITHIN, async (t) => {
  const answer = (response: ServerResponse): void => {
    response.statusCode = 302;
    response.setHeader('Location', 'http://localhost:3000/login');
    response.setHeader('Set-Cookie', ['a=1; Domain=localhost; Path=/', 'b=2; Domain=example.test', 'c=3']);
  };
  const { rig } = await served(t, REWRITE, { answer });
  const wire = await rig.visit({ tls: true });
  wire.ask('GET /');
  const { head } = await wire.response();
  assert.match(head, /\r\nLocation: https:\/\/shop\.example\.test\/login\r\n/);
  assert.deepEqual(head.match(/Set-Cookie: [^\r]*/g)?.toSorted(), [
    'Set-Cookie: a=1; Path=/',
    'Set-Cookie: b=2',
    'Set-Cookie: c=3',
  ]);
  const visitor = await Http2Visitor.open(t, rig);
  const answered = await visitor.ask({ ':path': '/' });
  assert.equal(answered.headers.location, 'https://shop.example.test/login');
  assert.deepEqual(answered.headers['set-cookie']?.toSorted(), ['a=1; Path=/', 'b=2', 'c=3']);
});

test('host header: a policy that sets a field has the last word', WITHIN, async (t) => {
  const answer = (response: ServerResponse): void => void response.setHeader('Location', 'http://localhost:3000/login');
  const { rig, got } = await served(t, REWRITE, { answer });
  rig.route('shop', {
    policy: {
      setAt: 1,
      actions: [
        { kind: 'header_set', name: 'Origin', value: 'https://set.test', enforce: true },
        { kind: 'response_header_set', name: 'Location', value: '/set', enforce: true },
      ],
    },
  });
  const wire = await rig.visit();
  wire.ask('GET /', 'Origin: http://shop.example.test');
  const { head } = await wire.response();
  assert.deepEqual(head.match(/Location: [^\r]*/gi), ['Location: /set']);
  assert.deepEqual(
    got[0]?.raw.filter((_, i) => /^origin$/i.test(got[0]?.raw[i - 1] ?? '')),
    ['https://set.test'],
  );
});

test('host header: WebSocket upgrades pass the check of a service that knows its own name alone', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => response.end());
  const own = ({ headers }: IncomingMessage): boolean =>
    headers.host === 'localhost:3000' && headers.origin === 'http://localhost:3000';
  const server = new WebSocketServer({ server: origin, verifyClient: ({ req }: { req: IncomingMessage }) => own(req) });
  t.after(() => server.close());
  server.on('connection', (socket) => socket.send('hello'));
  await rig.serve('shop', origin.port, 'http', { upstream: REWRITE });
  const socket = new WebSocket(`wss://127.0.0.1:${rig.httpsPort}/hmr`, {
    headers: { host: 'shop.example.test', origin: 'https://shop.example.test' },
    rejectUnauthorized: false,
  });
  const [hello] = (await once(socket, 'message')) as [Buffer];
  assert.equal(hello.toString(), 'hello');
  socket.close();
});

test('host header: a request of the control plane is rewritten as a visitor is', WITHIN, async (t) => {
  const { rig, got } = await served(t, { ...REWRITE, prefix: '/app' });
  const answer = await rig.node.send({
    ...{
      tunnelId: idOf('shop'),
      method: 'POST',
      target: '/orders?x=1',
      fields: [['Origin', 'https://shop.example.test']],
    },
    ...{ host: 'shop.example.test', body: Buffer.from('abc'), clientIp: '203.0.113.9', scheme: 'https' },
    ...{ replayOf: null, timeoutMs: 15_000 },
  });
  assert.ok(answer.ok);
  assert.equal(answer.status, 200);
  assert.equal(got[0]?.url, '/app/orders?x=1');
  assert.equal(got[0]?.headers.host, 'localhost:3000');
  assert.equal(got[0]?.headers.origin, 'http://localhost:3000');
});

test('path prefix: it is put before each path, and taken from redirects and cookies', WITHIN, async (t) => {
  const answer = (response: ServerResponse): void => {
    response.setHeader('Location', '/app/login?x');
    response.setHeader('Set-Cookie', 'a=1; Path=/app');
  };
  const { rig, got } = await served(t, { prefix: '/app' }, { answer });
  const wire = await rig.visit();
  wire.ask('GET /a?b=1', 'Referer: http://shop.example.test/x');
  const { head } = await wire.response();
  assert.match(head, /\r\nLocation: \/login\?x\r\n/);
  assert.match(head, /\r\nSet-Cookie: a=1; Path=\/\r\n/);
  wire.ask('GET http://shop.example.test?q');
  await wire.response();
  wire.ask('OPTIONS *');
  await wire.response();
  const old = await rig.visit();
  old.send('GET /old HTTP/1.0\r\nHost: shop.example.test\r\n\r\n');
  await old.all();
  assert.deepEqual(
    got.map(({ url }) => url),
    ['/app/a?b=1', '/app/?q', '*', '/app/old'],
  );
  assert.equal(got[0]?.headers.host, 'shop.example.test');
  assert.equal(got[0]?.headers.referer, 'http://shop.example.test/app/x');
});

test('path prefix: a path or Destination that leads out of it never reaches the service', WITHIN, async (t) => {
  const { rig, got } = await served(t, { prefix: '/app' });
  const wire = await rig.visit();
  for (const path of ['/../admin', '/%2e%2e/admin', '/a/..;/../admin']) {
    wire.ask(`GET ${path}`);
    const { status, body } = await wire.response();
    assert.equal(status, 400);
    assert.match(body, /\.\./);
  }
  assert.equal(got.length, 0);
  wire.ask('MOVE /a', 'Destination: http://shop.example.test/b');
  await wire.response();
  wire.ask('MOVE /a', 'Destination: http://other.test/b');
  await wire.response();
  wire.ask('MOVE /a', 'Destination: /../b');
  await wire.response();
  assert.deepEqual(
    got.map(({ headers }) => headers['destination']),
    ['http://shop.example.test/app/b', undefined, undefined],
  );
});

test('keep-alive time: a connection to the service is kept no longer than the agent says', WITHIN, async (t) => {
  for (const [upstream, connections] of [
    [{ keepAliveMs: 0 }, 3],
    [{ keepAliveMs: 60_000 }, 1],
  ] as const) {
    const { rig, origin } = await served(t, upstream);
    let count = 0;
    origin.on('connection', () => count++);
    const wire = await rig.visit();
    for (let i = 0; i < 3; i++) {
      wire.ask('GET /');
      await wire.response();
    }
    assert.equal(count, connections);
  }
});
