/** HTTP requests of visitors of both versions to a service that speaks HTTP/2, and the connections that they share. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCertificate } from '../../fixtures/certificate.ts';
import { Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';
import { parseTarget } from '../../../agent/local/target.ts';
import { overHttp2 } from '../../../agent/http2/service.ts';
import { http2Origin, http2Target } from '../../../agent/http2/testing.ts';

const WITHIN = { timeout: 120_000 };

/** Responds with `body`, and its length. */
function say(stream: ServerHttp2Stream, body: string, headers: Record<string, string | number> = {}): void {
  stream.respond({ ':status': 200, 'content-length': body.length, ...headers });
  stream.end(body);
}

test('service over HTTP/2: an HTTP/1.1 visitor asks again and again on one connection', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const seen: IncomingHttpHeaders[] = [];
  const origin = await http2Origin(t, (stream, headers) => {
    seen.push(headers);
    let body = '';
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    stream.on('end', () => {
      const path = headers[':path'];
      if (path === '/empty') stream.respond({ ':status': 204 }, { endStream: true });
      else if (path === '/same') stream.respond({ ':status': 304, etag: '"a"' }, { endStream: true });
      else if (headers[':method'] === 'HEAD')
        stream.respond({ ':status': 200, 'content-length': 9 }, { endStream: true });
      else if (path === '/none') stream.respond({ ':status': 500 }, { endStream: true });
      else say(stream, `${headers[':method']} ${path} ${body}`);
    });
  });
  await rig.serve('shop', http2Target(origin.port));
  const wire = await rig.visit();
  wire.ask('GET /a?b=1', 'X-A: 1', 'X-A: 2', 'Cookie: a=1; b=2', 'Connection: keep-alive');
  assert.equal((await wire.response()).body, 'GET /a?b=1 ');
  wire.ask('POST /b', 'Content-Length: 5');
  wire.send('hello');
  assert.equal((await wire.response()).body, 'POST /b hello');
  wire.ask('POST /c', 'Transfer-Encoding: chunked');
  wire.send('3\r\nabc\r\n2\r\nde\r\n');
  wire.send('0\r\n\r\n');
  assert.equal((await wire.response()).body, 'POST /c abcde');
  wire.ask('HEAD /d');
  assert.match((await wire.response(true)).head, /content-length: 9/i);
  wire.ask('GET /empty');
  assert.equal((await wire.response(true)).status, 204);
  wire.ask('GET /same');
  assert.equal((await wire.response(true)).status, 304);
  wire.ask('GET /none');
  assert.match((await wire.response()).head, /^HTTP\/1.1 500 Internal Server Error\r\n[^]*content-length: 0\r\n/);
  assert.equal(origin.sessions.length, 1);
  assert.deepEqual([seen[0]?.['x-a'], seen[0]?.cookie, seen[0]?.connection], ['1, 2', 'a=1; b=2', undefined]);
  assert.equal(seen[0]?.[':scheme'], 'http');
});

for (const version of ['HTTP/1.1', 'HTTP/2']) {
  test(`service over HTTP/2: trailers pass both ways to a visitor of ${version}`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    const trailers: IncomingHttpHeaders[] = [];
    const origin = await http2Origin(t, (stream) => {
      stream.on('trailers', (fields) => trailers.push(fields));
      stream.resume();
      stream.on('end', () => {
        // A length alone would leave no room for trailers.
        stream.respond({ ':status': 200, 'content-length': 4, trailer: 'x-sum' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }));
        stream.end('body');
      });
    });
    await rig.serve('shop', http2Target(origin.port));
    if (version === 'HTTP/1.1') {
      const wire = await rig.visit();
      wire.ask('POST /', 'Transfer-Encoding: chunked', 'TE: trailers', 'Trailer: X-Check');
      wire.send('1\r\nx\r\n0\r\nX-Check: 1\r\nX-Check: 2\r\n\r\n');
      assert.match(await wire.until('x-sum: 7\r\n\r\n'), /\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 7\r\n\r\n$/);
      wire.text = '';
      wire.ask('GET /again');
      await wire.until('x-sum: 7');
    } else {
      const visitor = await Http2Visitor.open(t, rig);
      const head = { ':method': 'POST', ':authority': 'shop.example.test' };
      const stream = visitor.session.request(head, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-check': ['1', '2'] }));
      stream.end('x');
      const answer = await readAnswer(stream);
      assert.deepEqual([answer.body, answer.trailers['x-sum']], ['body', '7']);
    }
    assert.equal(trailers[0]?.['x-check'], '1, 2');
  });
}

test('service over HTTP/2: interim responses pass, and 100 Continue when it is asked for', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await http2Origin(t, (stream, headers) => {
    if (headers['expect'] === '100-continue') stream.additionalHeaders({ ':status': 100 });
    else stream.additionalHeaders({ ':status': 103, link: '</a.css>' });
    stream.resume();
    stream.on('end', () => say(stream, 'done'));
  });
  origin.server.on('checkContinue', () => undefined);
  await rig.serve('shop', http2Target(origin.port));
  const visitor = await Http2Visitor.open(t, rig);
  const answer = await visitor.ask({});
  assert.deepEqual(
    [answer.body, answer.interim[0]?.[':status'], answer.interim[0]?.['link']],
    ['done', 103, '</a.css>'],
  );
  const wire = await rig.visit();
  wire.ask('POST /', 'Expect: 100-continue', 'Content-Length: 1');
  await wire.until('HTTP/1.1 100 Continue\r\n\r\n');
  wire.text = '';
  wire.send('x');
  assert.equal((await wire.response()).body, 'done');
});

test('service over HTTP/2: an early answer reaches a visitor that still sends', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await http2Origin(t, (stream) => {
    stream.respond({ ':status': 413, 'content-length': 2 });
    stream.end('no');
  });
  await rig.serve('shop', http2Target(origin.port));
  const visitor = await Http2Visitor.open(t, rig);
  const upload = visitor.stream({ ':method': 'POST' }, false);
  upload.write(Buffer.alloc(100_000));
  const answer = await readAnswer(upload);
  assert.deepEqual([answer.status, answer.body], [413, 'no']);
  assert.equal((await visitor.ask({})).status, 413);
});

test('service over HTTP/2: who does not read stops the one that sends, in both directions', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  let sent = 0;
  const origin = await http2Origin(t, (stream, headers) => {
    if (headers[':method'] === 'POST') return; // nothing is read
    stream.respond({ ':status': 200 });
    const chunk = Buffer.alloc(65_536);
    const write = (): void => {
      while (sent < 200 << 20) {
        sent += chunk.length;
        if (!stream.write(chunk)) return void stream.once('drain', write);
      }
    };
    write();
  });
  await rig.serve('shop', http2Target(origin.port));
  const wire = await rig.visit();
  wire.socket.pause();
  wire.ask('GET /');
  const upload = await rig.visit();
  upload.ask('POST /', 'Content-Length: 209715200');
  let taken = 0;
  const chunk = Buffer.alloc(65_536);
  const push = (): void => {
    while (taken < 200 << 20) {
      taken += chunk.length;
      if (!upload.socket.write(chunk)) return void upload.socket.once('drain', push);
    }
  };
  push();
  let before = -1;
  while (before !== sent + taken) {
    before = sent + taken;
    await sleep(500);
  }
  assert.ok(sent > 100_000 && sent < 40 << 20, `${sent} of the response`);
  assert.ok(taken > 100_000 && taken < 40 << 20, `${taken} of the request`);
  wire.socket.destroy();
  upload.socket.destroy();
});

test('service over HTTP/2: streams share connections, and more of them wait when all are full', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const waiting: ServerHttp2Stream[] = [];
  let most = 0;
  const origin = await http2Origin(
    t,
    (stream) => {
      waiting.push(stream);
      most = Math.max(most, waiting.length);
    },
    { settings: { maxConcurrentStreams: 2 } },
  );
  await rig.serve('shop', http2Target(origin.port));
  const visitor = await Http2Visitor.open(t, rig);
  const answers = Array.from({ length: 20 }, (_, i) => visitor.ask({ ':path': `/${i}` }));
  while (waiting.length < 16) await sleep(10);
  await sleep(100);
  assert.equal(most, 16, '8 connections with 2 streams');
  assert.equal(origin.sessions.length, 8);
  for (let answered = 0; answered < 20; answered++) {
    while (waiting.length === 0) await sleep(5);
    say(waiting.shift() as ServerHttp2Stream, 'ok');
  }
  for (const answer of await Promise.all(answers)) assert.equal(answer.body, 'ok');
  assert.equal(origin.sessions.length, 8);
});

test('service over HTTP/2: a connection that goes away, or is lost, costs no request', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await http2Origin(t, (stream) => say(stream, 'ok'));
  await rig.serve('shop', http2Target(origin.port));
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({})).body, 'ok');
  origin.sessions[0]?.close();
  assert.equal((await visitor.ask({})).body, 'ok');
  origin.sessions.at(-1)?.destroy();
  assert.equal((await visitor.ask({})).body, 'ok');
  assert.ok(origin.sessions.length >= 2);
});

test('service over HTTP/2: a request that the service refuses goes once more', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const paths: string[] = [];
  const origin = await http2Origin(t, (stream, headers) => {
    paths.push(String(headers[':path']));
    if (paths.length === 1) stream.close(7);
    else if (headers[':path'] === '/bad') stream.close(2);
    else say(stream, 'ok');
  });
  await rig.serve('shop', http2Target(origin.port));
  const wire = await rig.visit();
  wire.ask('GET /');
  assert.equal((await wire.response()).body, 'ok');
  wire.ask('GET /bad');
  assert.match((await wire.response()).head, /culvert-error: local_closed/);
  assert.deepEqual(paths, ['/', '/', '/bad']);
});

test('service over HTTP/2: a service of HTTP/1.1, or none, is a fault that says so', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const plain = await httpOrigin(t, (_request, response) => response.end('plain'));
  await rig.serve('shop', http2Target(plain.port));
  const wire = await rig.visit();
  wire.ask('GET /');
  const { status, head } = await wire.response();
  assert.deepEqual([status, /culvert-error: (\S+)/.exec(head)?.[1]], [502, 'local_unreachable']);
  plain.closeAllConnections();
  plain.close();
  await once(plain, 'close');
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 502);
});

test('service over HTTP/2: TLS and Unix sockets', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-h2-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'app.sock');
  const seen: IncomingHttpHeaders[] = [];
  const answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    seen.push(headers);
    say(stream, 'ok');
  };
  const secure = await http2Origin(t, answer, { tls: await testCertificate() });
  await http2Origin(t, answer, { path });
  await rig.serve('shop', http2Target(secure.port, 'http2', 'https'));
  await rig.serve('unix', overHttp2(parseTarget(`unix:${path}`, 'http').target, 'http2'));
  for (const name of ['shop', 'unix']) {
    const wire = await rig.visit();
    wire.ask('GET /', `Host: ${name}.example.test`);
    assert.equal((await wire.response()).body, 'ok');
  }
  assert.deepEqual(
    seen.map((headers) => headers[':scheme']),
    ['https', 'http'],
  );
});

test('auto: a service is spoken to in what it offers by ALPN', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const certificate = await testCertificate();
  const both = await http2Origin(t, (stream) => say(stream, 'h2'), { tls: certificate });
  const old = createSecure(certificate, (_request, response) => response.end('h1'));
  old.listen(0, '127.0.0.1');
  await once(old, 'listening');
  t.after(() => {
    old.closeAllConnections();
    old.close();
  });
  await rig.serve('shop', http2Target(both.port, 'auto', 'https'));
  await rig.serve('old', http2Target((old.address() as AddressInfo).port, 'auto', 'https'));
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({})).body, 'h2');
  const wire = await rig.visit();
  for (let i = 0; i < 3; i++) {
    wire.ask('GET /', 'Host: old.example.test');
    await wire.until('h1');
    wire.text = '';
  }
});

test(
  'auto: without TLS a service that speaks HTTP/2 alone is found out, and others get HTTP/1.1',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await http2Origin(t, (stream) => {
      let body = '';
      stream.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      stream.on('end', () => say(stream, `h2 ${body}`));
    });
    const plain = await httpOrigin(t, (_request, response) => response.end('h1'));
    await rig.serve('shop', http2Target(origin.port, 'auto'));
    await rig.serve('plain', http2Target(plain.port, 'auto'));
    const visitor = await Http2Visitor.open(t, rig);
    assert.equal((await visitor.ask({ ':method': 'POST' }, 'first')).body, 'h2 first');
    assert.equal((await visitor.ask({ ':method': 'POST' }, 'second')).body, 'h2 second');
    const wire = await rig.visit();
    for (let i = 0; i < 3; i++) {
      wire.ask('GET /', 'Host: plain.example.test');
      assert.equal((await wire.response()).body, 'h1');
    }
  },
);

test('http1: a service that speaks HTTP/2 alone gets an error that names the flag', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const certificate = await testCertificate();
  const plain = await http2Origin(t, (stream) => say(stream, 'h2'));
  const secure = await http2Origin(t, (stream) => say(stream, 'h2'), { tls: certificate });
  await rig.serve('shop', plain.port);
  await rig.serve('tls', secure.port, 'https');
  for (const name of ['shop', 'tls', 'shop']) {
    const wire = await rig.visit();
    wire.ask('GET /', `Host: ${name}.example.test`, 'Accept: text/html');
    const { status, head, body } = await wire.response();
    assert.deepEqual([status, /culvert-error: (\S+)/.exec(head)?.[1]], [502, 'local_speaks_http2'], name);
    assert.match(body, /--upstream-protocol http2/);
  }
});

test(
  'service over HTTP/2: a connection that has died is given up, and the next request gets another',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await http2Origin(t, (stream) => say(stream, 'ok'));
    const sockets: Socket[] = [];
    const front = createTcp((socket) => {
      socket.on('error', () => undefined); // cut by the agent
      if (sockets.push(socket) > 1) {
        origin.server.emit('connection', socket);
        return;
      }
      // It is polite once, and then hears nothing.
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      socket.resume();
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    t.after(() => void front.close());
    await rig.serve('shop', http2Target((front.address() as AddressInfo).port));
    const visitor = await Http2Visitor.open(t, rig);
    const lost = visitor.stream({});
    await sleep(300);
    lost.close(8);
    const begunMs = performance.now();
    while (sockets.length === 1) {
      const answer = await Promise.race([visitor.ask({}), sleep(1_000)]);
      if (answer !== undefined) assert.equal(answer.body, 'ok');
      assert.ok(performance.now() - begunMs < 30_000, 'it is given up');
    }
    assert.equal((await visitor.ask({})).body, 'ok');
  },
);

test('service over HTTP/2: bodies of any size pass unchanged, many at once', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await http2Origin(
    t,
    (stream, headers) => {
      const length = headers['content-length'];
      stream.respond({ ':status': 200, ...(length === undefined ? {} : { 'content-length': length }) });
      stream.pipe(stream);
    },
    { settings: { maxConcurrentStreams: 10 } },
  );
  await rig.serve('shop', http2Target(origin.port));
  const visitors = await Promise.all([0, 1, 2].map(() => Http2Visitor.open(t, rig)));
  const exchange = async (index: number): Promise<void> => {
    const body = Buffer.from(Array.from({ length: 997 }, (_, i) => (i * 31 + index * 17) & 0xff));
    const sent = Buffer.concat(Array.from({ length: (index * 7) % 300 }, () => body));
    const visitor = visitors[index % 3] as Http2Visitor;
    const isSized = index % 2 === 0;
    const head = { ':method': 'POST', ...(isSized ? { 'content-length': sent.length } : {}) };
    const stream = visitor.stream(head, false);
    const answer = readAnswer(stream);
    for (let from = 0; from < sent.length; from += 7_001 * (1 + (index % 5))) {
      stream.write(sent.subarray(from, Math.min(sent.length, from + 7_001 * (1 + (index % 5)))));
      if (index % 4 === 0) await sleep(1);
    }
    stream.end();
    const { body: got } = await answer;
    assert.ok(Buffer.from(got, 'latin1').equals(sent), `exchange ${index}: ${got.length} of ${sent.length}`);
  };
  await Promise.all(Array.from({ length: 90 }, (_, index) => exchange(index)));
  // The edge closes a connection on which a response has begun before the request was whole.
  const overHttp1 = async (index: number): Promise<void> => {
    const wire = await rig.visit();
    const sent = String.fromCharCode(97 + (index % 26)).repeat(1 + index * 9_000);
    wire.ask('POST /', `Content-Length: ${sent.length}`);
    wire.send(sent);
    assert.equal((await wire.response()).body, sent);
  };
  await Promise.all(Array.from({ length: 40 }, (_, index) => overHttp1(index)));
});
