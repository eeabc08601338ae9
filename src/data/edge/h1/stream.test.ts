import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { rounds } from '../../../base/testing.ts';
import { httpOrigin, perHead, rawOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test('keep-alive and pipelining: answers come in the order of the requests', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) =>
    request.resume().on('end', () => response.end(request.url)),
  );
  await rig.serve('shop', origin.port);
  for (const tls of [false, true]) {
    const wire = await rig.visit({ tls });
    for (let i = 0; i < 50; i++) wire.ask(`GET /${i}`);
    for (let i = 0; i < 50; i++) assert.equal((await wire.response()).body, `/${i}`);
    wire.ask('POST /last', 'Content-Length: 3');
    wire.send('abcGET /behind HTTP/1.1\r\nHost: shop.example.test\r\nConnection: close\r\n\r\n');
    assert.equal((await wire.response()).body, '/last');
    const last = await wire.response();
    assert.equal(last.body, '/behind');
    assert.match(last.head, /\r\nConnection: close\r\n/);
    assert.equal(await wire.closed, 'end');
  }
});

const UNREAD = rounds(700, 2_000);

test(
  `${UNREAD} requests without reading: few of them are under way, all are answered once the visitor reads`,
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    let asked = 0;
    const big = 'x'.repeat(100_000);
    const origin = await httpOrigin(t, (_request, response) => {
      asked++;
      response.end(big);
    });
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    wire.socket.pause();
    for (let i = 1; i < UNREAD; i++) wire.ask(`GET /${i}`);
    wire.ask('GET /last', 'Connection: close');
    // Another visitor is served meanwhile, and its requests show that time passes.
    const other = await rig.visit();
    for (let i = 0; i < 50; i++) {
      other.ask('GET /other');
      await other.response();
    }
    assert.ok(asked < 350, `${asked} requests reached the service`);
    let read = 0;
    wire.socket.removeAllListeners('data');
    wire.socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    wire.socket.resume();
    assert.equal(await wire.closed, 'end');
    assert.ok(read > UNREAD * big.length);
    assert.equal(asked, UNREAD + 50);
  },
);

test('an event arrives before the next is written', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let stream: ServerResponse | undefined;
  const origin = await httpOrigin(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    stream = response;
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /events');
  await wire.until(/event-stream[^]*\r\n\r\n/);
  for (let i = 0; i < 20; i++) {
    stream?.write(`data: ${i}\n\n`);
    await wire.until(`data: ${i}\n\n`);
  }
  stream?.end();
  await wire.until('\r\n0\r\n\r\n');
});

test('chunks flow both ways at the same time', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    request.pipe(response);
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /echo', 'Transfer-Encoding: chunked');
  for (let i = 10; i < 60; i++) {
    wire.send(`4;ext=${i}\r\nab${i}\r\n`);
    await wire.until(`\r\n4\r\nab${i}\r\n`);
  }
  wire.send('0\r\n\r\n');
  await wire.until('\r\n0\r\n\r\n');
});

test('trailers pass both ways, those that frame or route do not', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { trailer: 'X-Sum' });
      response.write(JSON.stringify(request.trailers));
      response.addTrailers({ 'X-Sum': '7', 'Set-Cookie': 'a=b' });
      response.end();
    });
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Transfer-Encoding: chunked', 'Trailer: X-Up');
  wire.send('1\r\nx\r\n0\r\nX-Up: 1\r\nX-Forwarded-For: 6.6.6.6\r\nContent-Length: 9\r\n\r\n');
  const text = await wire.until(/\r\n0\r\nX-Sum: 7\r\n\r\n$/);
  assert.match(text, /\{"x-up":"1"\}/);
  assert.doesNotMatch(text, /set-cookie/i);
  wire.text = '';
  wire.ask('POST /', 'Content-Length: 1');
  wire.send('x');
  await wire.until('{}');
});

test('100-continue is asked of the service; a final answer without the body ends the connection', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => request.pipe(response));
  origin.on('checkContinue', (request, response: ServerResponse) => {
    if (request.url === '/no') {
      response.writeHead(417, { 'content-length': 0 });
      response.end();
    } else {
      response.writeContinue();
      origin.emit('request', request, response);
    }
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Content-Length: 5', 'Expect: 100-continue');
  await wire.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  wire.send('hello');
  await wire.until(/hello/);
  const refused = await rig.visit();
  refused.ask('POST /no', 'Content-Length: 5', 'Expect: 100-continue');
  const { status, head } = await refused.response();
  assert.equal(status, 417);
  assert.match(head, /Connection: close/);
  assert.equal(await refused.closed, 'end');
});

test(
  'early hints pass to HTTP/1.1 visitors and not to HTTP/1.0; too many interim responses are none',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => {
        const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 3\r\n\r\n';
        socket.write(hint.repeat(head.includes('GET /flood') ? 17 : 2) + HELLO);
      }),
    );
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    wire.ask('GET /');
    const text = await wire.until('hello');
    assert.equal(text, `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(2)}${HELLO}`);
    const old = await rig.visit();
    old.send('GET / HTTP/1.0\r\nHost: shop.example.test\r\n\r\n');
    assert.match(await old.all(), /^HTTP\/1.1 200 OK\r\n[^]*hello$/);
    const flooded = await rig.visit();
    flooded.ask('GET /flood');
    await flooded.until(/HTTP\/1.1 502 [^]*culvert-error: local_bad_response/);
  },
);

test('HEAD, 204 and 304 have no body, whatever their length says', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.startsWith('HEAD')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
      else if (head.includes('/204')) socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n');
      else if (head.includes('/304')) socket.write('HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n');
      else socket.write(HELLO);
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('HEAD /');
  assert.match((await wire.response(true)).head, /Content-Length: 1000/);
  wire.ask('GET /204');
  assert.doesNotMatch((await wire.response(true)).head, /content-length/i);
  wire.ask('GET /304');
  assert.equal((await wire.response(true)).status, 304);
  wire.ask('GET /');
  assert.equal((await wire.response()).body, 'hello');
  // A HEAT is no HEAD: its answer has a body, and the connection stays in step.
  wire.ask('HEAT /');
  assert.equal((await wire.response()).body, 'hello');
  wire.ask('GET /');
  assert.equal((await wire.response()).body, 'hello');
  // After a head that tells of a body which must not come, a connection is not used again: the body might come all the same.
  assert.equal(origin.sockets.length, 4);
});

test('a body that ends with the connection ends the visitor’s too', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      socket.write('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhel');
      socket.end('lo');
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  const text = await wire.all();
  assert.match(text, /^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n\r\nhello$/);
  assert.equal(await wire.closed, 'end');
});

test('a body that is cut is not taken for a whole one', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const cut: Socket[] = [];
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      cut.push(socket);
      if (head.includes('/length')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
      else if (head.includes('/chunks'))
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello');
      else socket.write('HTTP/1.1 200 OK\r\n\r\nhello');
    }),
  );
  await rig.serve('shop', origin.port);
  for (const path of ['/length', '/chunks', '/close']) {
    const wire = await rig.visit();
    wire.ask(`GET ${path}`);
    await wire.until('hello');
    // A body without a length is cut by a reset alone; an end is its end.
    if (path === '/close') cut.at(-1)?.resetAndDestroy();
    else cut.at(-1)?.end();
    assert.equal(await wire.closed, 'cut', path);
  }
});

test(
  'an answer that breaks off takes none of the earlier ones with it, however late its request came',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const first = 'x'.repeat(600_000);
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => {
        if (head.includes('/whole')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${first.length}\r\n\r\n${first}`);
        else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
      }),
    );
    await rig.serve('shop', origin.port);
    for (const tls of [false, true]) {
      const wire = await rig.visit({ tls });
      const before = carried(rig);
      wire.ask('GET /whole');
      await wire.until('\r\n\r\n');
      // Not read on: some of the first answer is in kernels when the second request comes, and the edge is done with it.
      wire.socket.pause();
      while (carried(rig) - before < first.length) await pause(5);
      wire.ask('GET /broken');
      const { answered } = rig.node.stats();
      while (rig.node.stats().answered['local_closed'] === answered['local_closed']) await pause(5);
      wire.socket.resume();
      const text = await wire.all();
      const body = text.indexOf('\r\n\r\n') + 4;
      assert.equal(text.slice(body, body + first.length), first, `${text.length - body} bytes came`);
      assert.match(text.slice(body + first.length), /hello$/);
    }
  },
);

test(
  'HTTP/1.0 visitors get the payload of chunks, and keep their connection when the length is known',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await httpOrigin(t, (request, response) => {
      if (request.url === '/known') response.setHeader('content-length', 5);
      response.write('hel');
      if (request.url === '/chunks') response.addTrailers({ 'x-sum': '1' });
      response.end('lo');
    });
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    for (let i = 0; i < 3; i++) {
      wire.send('GET /known HTTP/1.0\r\nHost: shop.example.test\r\nConnection: keep-alive\r\n\r\n');
      const reply = await wire.response();
      assert.match(reply.head, /\r\nConnection: keep-alive\r\n/);
      assert.equal(reply.body, 'hello');
    }
    wire.send('GET /chunks HTTP/1.0\r\nHost: shop.example.test\r\nConnection: keep-alive\r\n\r\n');
    const text = await wire.all();
    assert.match(text, /\r\nConnection: close\r\n\r\nhello$/);
    assert.doesNotMatch(text, /transfer-encoding/i);
    const plain = await rig.visit();
    plain.send('GET /known HTTP/1.0\r\nHost: shop.example.test\r\n\r\n');
    assert.match(await plain.all(), /Connection: close\r\n\r\nhello$/);
  },
);

test('a visitor that has said all it had to say still gets its answers', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let pending: ServerResponse[] = [];
  const origin = await httpOrigin(t, (_request, response) => {
    pending.push(response);
    origin.emit('asked');
  });
  await rig.serve('shop', origin.port);
  for (const tls of [false, true]) {
    pending = [];
    const wire = await rig.visit({ tls, allowHalfOpen: true });
    wire.ask('GET /');
    await once(origin, 'asked');
    wire.socket.end();
    pending[0]?.end('late');
    assert.match(await wire.all(), /late$/);
    assert.equal(await wire.closed, 'end');
  }
});

test('several requests and an end at once are all answered', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const big = 'x'.repeat(300_000);
  const origin = await httpOrigin(t, (_request, response) => response.end(big));
  await rig.serve('shop', origin.port);
  const one = 'GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n';
  const wire = await rig.visit({ allowHalfOpen: true });
  wire.socket.end(one.repeat(4));
  assert.equal((await wire.all()).split(big).length, 5);
});

test('an answer in the middle of an upload reaches the visitor, then the connection ends', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, (socket, text) => {
    if (!text.includes('\r\n\r\n') || socket.writableEnded) return;
    socket.end('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig');
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Content-Length: 50000000');
  const piece = Buffer.alloc(65_536);
  for (let i = 0; i < 700 && !wire.text.includes('big'); i++)
    if (!wire.socket.write(piece)) await Promise.race([once(wire.socket, 'drain').catch(() => {}), wire.closed]);
  assert.match(await wire.until('big'), /^HTTP\/1.1 413 /);
});

test('a service that speaks TLS is reached as such', WITHIN, async (t) => {
  const { createServer } = await import('node:https');
  const { testCertificate } = await import('../../fixtures/certificate.ts');
  const server = createServer({ ...(await testCertificate()) }, (_request, response) => response.end('secret'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const rig = await Rig.start(t);
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await rig.serve('shop', address.port, 'https');
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('secret');
});

/** Bytes that visitors were given, as far as it was reported. */
function carried(rig: Rig): number {
  const events = rig.link.batches.flatMap((batch) => batch.events);
  return events.reduce((sum, event) => sum + (event.kind === 'usage' ? event.bytesOut : 0), 0);
}
