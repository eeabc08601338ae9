import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { freePort } from '../../../../test/harness/config.ts';
import { EDGE_FAULTS } from '../../../base/codes/edge-faults.ts';
import { until } from '../../fixtures/gateway.ts';
import { httpOrigin, perHead, rawOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** Asks for `line` and checks that the edge answers with `code` by itself. */
async function faultOf(
  wire: Wire,
  line: string,
  ...fields: string[]
): Promise<{ code: string; head: string; body: string }> {
  wire.ask(line, ...fields);
  const { status, head, body } = await wire.response(line.startsWith('HEAD'));
  const code = /\r\nculvert-error: (\w+)\r\n/.exec(head)?.[1] ?? '';
  assert.equal(status, EDGE_FAULTS[code as keyof typeof EDGE_FAULTS].status);
  return { code, head, body };
}

test('every reason why a tunnel takes no request, in order, on one connection', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const wire = await rig.visit();
  const code = async (): Promise<string> => (await faultOf(wire, 'GET /')).code;
  assert.equal(await code(), 'tunnel_not_found');
  rig.route('shop');
  assert.equal(await code(), 'tunnel_offline');
  rig.route('shop', { stopped: true, maintenance: 'new <paint>' });
  const maintenance = await faultOf(wire, 'GET /');
  assert.equal(maintenance.code, 'maintenance');
  assert.deepEqual(JSON.parse(maintenance.body), { error: 'maintenance', message: 'new <paint>' });
  rig.route('shop', { stopped: true });
  const stopped = await faultOf(wire, 'GET /');
  assert.equal(stopped.code, 'tunnel_offline');
  assert.match(stopped.body, /stopped/);
  rig.route('shop', { expiresAt: Date.now() - 1 });
  const expired = await faultOf(wire, 'GET /');
  assert.equal(expired.code, 'tunnel_offline');
  assert.match(expired.body, /expired/);
  assert.match(expired.head, /Retry-After: \d/);
});

test('browsers get a page, others JSON, HEAD neither; nothing is executable or cached', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  rig.route('shop', { maintenance: '<script>alert(1)</script>' });
  const wire = await rig.visit();
  const page = await faultOf(wire, 'GET /', 'Accept: text/html,application/xhtml+xml');
  assert.match(page.head, /Content-Type: text\/html; charset=utf-8/);
  assert.match(page.head, /Content-Security-Policy: default-src 'none'/);
  assert.match(page.head, /Cache-Control: no-store/);
  assert.match(page.body, /&lt;script&gt;/);
  assert.doesNotMatch(page.body, /<script>/);
  for (const accept of ['Accept: */*', 'Accept: application/json, text/html', 'Accept: text/htm'])
    assert.match((await faultOf(wire, 'GET /', accept)).head, /Content-Type: application\/json/, accept);
  const head = await faultOf(wire, 'HEAD /');
  assert.match(head.head, /Content-Length: [1-9]/);
  // The connection is in step: a HEAD's answer has left no body behind, and nonsense after it is answered in full.
  wire.send('nonsense\r\n\r\n');
  const { status, body } = await wire.response();
  assert.equal(status, 400);
  assert.equal((JSON.parse(body) as { error: string }).error, 'bad_request');
  assert.equal(await wire.closed, 'end');
});

// biome-ignore format: a table
const SCRIPTS = [
  '<script>alert(1)</script>', '</p><img src=x onerror=alert(1)>', '</main></body></html><svg/onload=alert(1)>', '"><iframe srcdoc="<b>">', "' onmouseover='alert(1)",
  '<!--<script>', ']]><a href=javascript:alert(1)>', '&lt;script&gt;alert(1)&#60;/script&#62;', '<\u0000script>', '\uff1cscript\uff1e', '\u2028<b>\u2029', '\ud83d<b>',
  '\r\nSet-Cookie: a=1\r\n\r\n<b>', '<style>*{display:none}</style>', '<meta http-equiv=refresh content=0;url=//evil.test>', '{{constructor}}', '+ADw-script+AD4-',
];

test("no message of a tunnel's owner is more than text, on the page and in JSON", WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const wire = await rig.visit();
  rig.route('shop', { maintenance: 'MESSAGE' });
  const plain = await faultOf(wire, 'GET /', 'Accept: text/html');
  const frame = plain.body.split('MESSAGE');
  assert.equal(frame.length, 2);
  for (const message of SCRIPTS) {
    rig.route('shop', { maintenance: message });
    const page = await faultOf(wire, 'GET /', 'Accept: text/html');
    assert.doesNotMatch(page.head, /Set-Cookie/);
    const [before = '', behind = ''] = frame;
    assert.ok(page.body.startsWith(before) && page.body.endsWith(behind), message);
    const text = page.body.slice(before.length, page.body.length - behind.length);
    assert.doesNotMatch(text, /[<>"']/, message);
    assert.equal(unescaped(text), Buffer.from(message).toString('latin1'), message);
    const other = await faultOf(wire, 'GET /');
    assert.match(other.head, /Content-Type: application\/json\r\n/);
    assert.match(other.head, /X-Content-Type-Options: nosniff\r\n/);
    const said = JSON.parse(Buffer.from(other.body, 'latin1').toString()) as unknown;
    assert.deepEqual(said, { error: 'maintenance', message });
  }
});

/** What a browser makes of the entities. */
function unescaped(text: string): string {
  const of: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (entity) => of[entity] ?? entity);
}

test('what is no request is refused with its reason, and the connection ends', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  for (const [text, status] of [
    ['GET / HTTP/1.1\nHost: shop.example.test\n\n', 400],
    ['CONNECT shop.example.test:443 HTTP/1.1\r\nHost: shop.example.test:443\r\n\r\n', 400],
    [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: shop.example.test\r\n\r\n`, 414],
    [`GET / HTTP/1.1\r\nHost: shop.example.test\r\nX: ${'a'.repeat(33_000)}\r\n\r\n`, 431],
    [`GET / HTTP/1.1\r\nHost: shop.example.test\r\n${'X: 1\r\n'.repeat(100)}\r\n`, 431],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ] as const) {
    const wire = await rig.visit();
    wire.send(text);
    const all = await wire.all();
    assert.match(all, new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n`));
  }
});

test('a body that is none ends the connection and reaches no further request', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Transfer-Encoding: chunked');
  wire.send('5\r\nhello\r\n');
  await origin.arrived(/\r\n\r\n5\r\nhello\r\n$/);
  wire.send('0x5\r\nGET /smuggled HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
  assert.match(await wire.all(), /^HTTP\/1.1 400 /);
  const [service] = origin.sockets;
  assert.ok(service);
  if (!service.destroyed) await new Promise((resolve) => service.once('close', resolve));
  assert.doesNotMatch(origin.texts[0] ?? '', /smuggled/);
});

test('a service that is not there, speaks nonsense, or leaves without a word', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const port = await freePort();
  await rig.serve('shop', port);
  const wire = await rig.visit();
  const refused = await faultOf(wire, 'GET /');
  assert.equal(refused.code, 'local_unreachable');
  assert.doesNotMatch(refused.body, new RegExp(`localhost|127\\.0\\.0|${port}`), 'the target is no visitor’s business');
  const answers = [
    'SSH-2.0-OpenSSH_9.9\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\nX: 1\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    '',
  ];
  answers.push(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(140_000)}\r\n\r\n`,
  );
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      const text = answers[Number(/ \/(\d)/.exec(head)?.[1])] as string;
      if (text === '') socket.end();
      else socket.write(text);
    }),
  );
  await rig.serve('shop', origin.port);
  for (const i of answers.keys()) {
    const fault = await faultOf(wire, `GET /${i}`);
    assert.equal(fault.code, answers[i] === '' ? 'local_closed' : 'local_bad_response', `answer ${i}`);
  }
});

test('a service cannot speak for the edge', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => {
    response.setHeader('culvert-error', 'tunnel_offline');
    response.end('mine');
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  assert.doesNotMatch((await wire.response()).head, /culvert-error/i);
});

test('an agent that dies in the middle of an answer cuts it, one that dies before is a 502', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.includes('/half')) socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');
      else if (head.includes('/length')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    }),
  );
  const agent = await rig.serve('shop', origin.port);
  const half = await rig.visit();
  half.ask('GET /half');
  const sized = await rig.visit({ tls: true });
  sized.ask('GET /length');
  const silent = await rig.visit();
  silent.ask('GET /silent');
  await Promise.all([half.until('half'), sized.until('half'), origin.arrived(/silent/, 2)]);
  agent.socket.destroy();
  assert.equal(await half.closed, 'cut');
  // TLS has its own end: a body with a length is short, which every client sees.
  await sized.closed;
  assert.match(sized.text, /\r\n\r\nhalf$/);
  const { status, head } = await silent.response();
  assert.equal(status, 502);
  assert.match(head, /culvert-error: agent_lost/);
  assert.equal((await faultOf(silent, 'GET /')).code, 'tunnel_offline');
});

test('a head, a body and a service that take too long', WITHIN, async (t) => {
  const limits = {
    headTimeoutSeconds: 0.2,
    bodyIdleTimeoutSeconds: 0.2,
    localTimeoutSeconds: 0.2,
    idleTimeoutSeconds: 0.2,
  };
  const rig = await Rig.start(t, { limits });
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => void (head.includes('/answer') && socket.write(HELLO))),
  );
  await rig.serve('shop', origin.port);
  const [head, body, service, idle, fresh] = await Promise.all([
    rig.visit(),
    rig.visit(),
    rig.visit(),
    rig.visit(),
    rig.visit(),
  ]);
  head.send('GET / HTTP/1.1\r\nHost: sh');
  body.ask('POST /', 'Content-Length: 5');
  body.send('he');
  service.ask('GET /silent');
  idle.ask('GET /answer');
  assert.equal((await idle.response()).body, 'hello');
  // A byte now and then does not make a head any more complete.
  const drip = setInterval(() => head.send('x'), 100);
  head.socket.once('close', () => clearInterval(drip));
  assert.match(await head.all(), /^HTTP\/1.1 408 [^]*culvert-error: request_timeout/);
  assert.match(await body.all(), /^HTTP\/1.1 408 [^]*culvert-error: request_timeout/);
  assert.match(await service.until('\r\n\r\n'), /^HTTP\/1.1 504 [^]*culvert-error: local_timeout/);
  await idle.closed;
  assert.equal(idle.text, '');
  await fresh.closed;
  assert.equal(fresh.text, '');
});

test('a visitor that is slow with its body is not told that the service is', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { bodyIdleTimeoutSeconds: 3, localTimeoutSeconds: 0.1 } });
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Content-Length: 5');
  assert.match(await wire.all(), /^HTTP\/1.1 408 /);
});

test('a visitor that reads nothing is cut, one that has left a silent stream too', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { bodyIdleTimeoutSeconds: 0.2, idleTimeoutSeconds: 0.2 } });
  const big = Buffer.alloc(1 << 24);
  const origin = await httpOrigin(t, (request, response) => {
    if (request.url === '/big') return response.end(big);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.write(': hello\n\n');
  });
  await rig.serve('shop', origin.port);
  const lazy = await rig.visit();
  lazy.socket.pause();
  lazy.ask('GET /big');
  const left = await rig.visit({ allowHalfOpen: true });
  left.ask('GET /events');
  await left.until('hello');
  left.socket.end();
  const stays = await rig.visit();
  stays.ask('GET /events');
  await stays.until('hello');
  assert.equal(await left.closed, 'cut');
  // Not before: on a busy machine it would still get all.
  await until(() => rig.node.stats().dropped['slow_reader'] === 1);
  lazy.socket.resume();
  await lazy.closed;
  assert.ok(lazy.text.length < big.length);
  // A silent stream whose visitor is there stays.
  assert.equal(stays.socket.readyState, 'open');
});

test('connections beyond the limits are turned away, and places come back', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { maxConnections: 4, maxConnectionsPerIp: 3 } });
  const first = [await rig.visit(), await rig.visit(), await rig.visit()];
  // The reset may come before the event of the connection.
  const over = await rig.visit().catch(() => null);
  await over?.closed;
  // Counted from the first byte of a handshake on: TLS connections take the same places.
  await assert.rejects(rig.visit({ tls: true }));
  first[0]?.socket.destroy();
  await first[0]?.closed;
  for (;;) {
    const again = await rig.visit().catch(() => null);
    if (again === null) continue;
    again.ask('GET /');
    if (
      await again.until('404').then(
        () => true,
        () => false,
      )
    )
      break;
  }
});

for (const tls of [false, true]) {
  test(
    `a drain ends idle connections, finishes what is under way and says so (${tls ? 'TLS' : 'plain'})`,
    WITHIN,
    async (t) => {
      const rig = await Rig.start(t);
      const origin = await rawOrigin(
        t,
        perHead((socket, head) => {
          if (head.includes('/begun')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
          if (head.includes('/quick')) socket.write(HELLO);
        }),
      );
      await rig.serve('shop', origin.port);
      const [idle, begun, waiting] = await Promise.all([rig.visit({ tls }), rig.visit({ tls }), rig.visit({ tls })]);
      idle.ask('GET /quick');
      await idle.response();
      begun.ask('GET /begun');
      await begun.until('hello');
      waiting.ask('GET /wait');
      while (!origin.texts.some((text) => text.includes('/wait'))) await once(origin.server, 'moved');
      const drained = rig.node.drain(10_000);
      assert.equal(await idle.closed, 'end');
      await assert.rejects(rig.visit({ tls }));
      const at = (path: string): number => origin.texts.findIndex((text) => text.includes(path));
      origin.sockets[at('/begun')]?.write('world');
      origin.sockets[at('/wait')]?.write(HELLO);
      assert.match(await begun.all(), /helloworld$/);
      assert.match(await waiting.all(), /\r\nConnection: close\r\n\r\nhello$/);
      await drained;
    },
  );
}

test('drain: it waits no longer than its limit', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  await origin.arrived(/GET/);
  await rig.node.drain(50);
  await rig.node.close();
  assert.equal(await wire.closed.then(() => true), true);
});
