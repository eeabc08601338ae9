/** Requests and answers over HTTP/2: the same checks and the same forwarding as over HTTP/1.1. Client: node:http2. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { HTTP2_ENGINES } from '../testing/http2-engines.ts';
import { Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, Rig, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

for (const http2 of HTTP2_ENGINES)
  suite(`HTTP/2 (${http2})`, () => {
    test('a request gets its answer over HTTP/2', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await httpOrigin(t, (request, response) => {
        response.setHeader(
          'X-Seen',
          `${request.method} ${request.url} ${request.headers['host']} ${request.httpVersion}`,
        );
        response.end(JSON.stringify(request.headers));
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const answer = await visitor.ask({ ':path': '/a?b=1', cookie: ['a=1', 'b=2'], te: 'trailers' });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['x-seen'], 'GET /a?b=1 shop.example.test 1.1');
      const seen = JSON.parse(answer.body) as Record<string, string>;
      assert.equal(seen['cookie'], 'a=1; b=2');
      assert.equal(seen['x-forwarded-proto'], 'https');
      assert.equal(seen['x-forwarded-for'], '127.0.0.1');
      assert.equal(seen['te'], undefined);
      assert.equal(answer.headers['connection'], undefined);
      assert.equal(answer.headers['keep-alive'], undefined);
      assert.equal(answer.headers['transfer-encoding'], undefined);
    });

    test('HEAD, 204, 205 and 304 have no body, whatever their fields say', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await httpOrigin(t, (request, response) => {
        response.statusCode = Number(request.url?.slice(1));
        if (response.statusCode === 304) response.setHeader('content-length', 500);
        response.end(request.method === 'HEAD' || response.statusCode === 304 ? undefined : 'body');
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      for (const [method, path, length] of [
        ['HEAD', '/200', undefined],
        ['GET', '/204', undefined],
        ['GET', '/304', '500'],
        ['HEAD', '/404', undefined],
      ] as const) {
        const answer = await visitor.ask({ ':method': method, ':path': path });
        assert.deepEqual([answer.status, answer.body], [Number(path.slice(1)), ''], `${method} ${path}`);
        assert.equal(answer.headers['content-length'], length);
      }
      const reset = await visitor.ask({ ':path': '/205' });
      assert.deepEqual([reset.status, reset.body], [205, '']);
      assert.equal((await visitor.ask({ ':path': '/200' })).body, 'body', 'the connection goes on');
    });

    test('bodies pass in both directions, with a length and without', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
      const seen: string[] = [];
      const origin = await httpOrigin(t, (request, response) => {
        seen.push(`${request.headers['content-length'] ?? '-'} ${request.headers['transfer-encoding'] ?? '-'}`);
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          const body = Buffer.concat(pieces);
          response.setHeader('x-sum', sum(body));
          if (request.url === '/length') response.setHeader('content-length', body.length);
          response.end(body);
        });
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      for (const size of [0, 1, 5_000, 3_000_000]) {
        const body = randomBytes(size);
        for (const path of ['/length', '/chunks']) {
          const known = path === '/length' ? { 'content-length': size } : {};
          const answer = await visitor.ask({ ':method': 'POST', ':path': path, ...known }, body);
          assert.equal(answer.status, 200);
          assert.equal(answer.headers['x-sum'], sum(body), `${path} ${size}: the service got it`);
          assert.equal(sum(Buffer.from(answer.body, 'latin1')), sum(body), `${path} ${size}: and the visitor`);
          assert.equal(seen.pop(), known['content-length'] === undefined ? '- chunked' : `${size} -`);
        }
      }
    });

    test('interim answers, repeated fields, bytes beyond ASCII and trailers pass', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await rawOrigin(
        t,
        perHead((socket) => {
          socket.write(
            'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.css>\r\n\r\n' +
              'HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Domain=example.test; Path=/\r\nX-Name:  caf\xe9 \r\n' +
              'Age: 1\r\nAge: 2\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nX-Sum: 7\r\nVary: x\r\n\r\n',
            'latin1',
          );
        }),
      );
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const answer = await visitor.ask({ ':path': '/' });
      assert.equal(answer.interim[0]?.[':status'], 103);
      assert.equal(answer.interim[0]?.['link'], '</a.css>; rel=preload, </b.css>');
      assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2; Path=/']);
      assert.equal(answer.headers['x-name'], 'café');
      assert.equal(answer.headers['proxy-connection'], undefined);
      assert.equal(answer.headers['date'], undefined, 'nothing is made up');
      assert.equal(answer.body, 'hi');
      assert.deepEqual([answer.trailers['x-sum'], answer.trailers['vary']], ['7', undefined]);
    });

    test('an answer without length ends with its connection, and one that is cut short is reset', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await rawOrigin(
        t,
        perHead((socket, head) => {
          if (head.startsWith('GET /until')) socket.end('HTTP/1.1 200 OK\r\n\r\nall of it');
          else if (head.startsWith('GET /length')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
          else if (head.startsWith('GET /chunks'))
            socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf');
          else if (head.startsWith('GET /bad')) {
            socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n');
            // Once the answer has begun.
            origin.server.once('begun', () => socket.write('nonsense'));
          } else if (head.startsWith('GET /101'))
            socket.write('HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
          else if (head.startsWith('GET /none')) socket.end();
          else if (head.startsWith('GET /999')) socket.write('HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n');
          else socket.write('nonsense');
        }),
      );
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      assert.equal((await visitor.ask({ ':path': '/until' })).body, 'all of it');
      for (const path of ['/length', '/chunks', '/bad']) {
        const stream = visitor.stream({ ':path': path });
        stream.once('data', () => origin.server.emit('begun'));
        await assert.rejects(readAnswer(stream), /reset 2/, `${path}: INTERNAL_ERROR`);
      }
      for (const [path, code] of [
        ['/101', 'local_bad_response'],
        ['/999', 'local_bad_response'],
        ['/none', 'local_closed'],
        ['/else', 'local_bad_response'],
      ] as const) {
        const answer = await visitor.ask({ ':path': path });
        assert.deepEqual([answer.status, answer.headers['culvert-error']], [502, code], path);
      }
    });

    test('what the edge answers by itself is the same in both versions of HTTP', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      rig.route('shop');
      const visitor = await Http2Visitor.open(t, rig);
      for (const accept of ['text/html', '*/*']) {
        for (const method of ['GET', 'HEAD']) {
          const wire = await rig.visit({ tls: true });
          wire.ask(`${method} /`, `Accept: ${accept}`);
          const one = await wire.response(method === 'HEAD');
          const two = await visitor.ask({ ':method': method, accept });
          assert.equal(two.status, one.status);
          assert.equal(two.body, one.body);
          const fields = one.head.split('\r\n').slice(1, -2);
          assert.deepEqual(
            Object.entries(two.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .slice(1),
            fields.map((field) => field.replace(/^[^:]+/, (name) => name.toLowerCase())),
          );
        }
      }
    });

    test('an answer that comes before the request is complete ends both', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await httpOrigin(t, (_request, response) => {
        response.statusCode = 413;
        response.end('too much');
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const stream = visitor.stream({ ':method': 'POST' }, false);
      stream.write(Buffer.alloc(500_000));
      const answer = await readAnswer(stream);
      assert.deepEqual([answer.status, answer.body], [413, 'too much']);
      assert.equal((await visitor.ask({})).status, 413);
    });

    test(
      'a visitor that gives up frees the stream of the agent and the connection of the service at once',
      WITHIN,
      async (t) => {
        const rig = await Rig.start(t, { http2 });
        const left: string[] = [];
        const origin = await httpOrigin(t, (request, response) => {
          origin.emit('asked');
          request.on('error', () => undefined);
          response.on('close', () => {
            left.push(request.url ?? '');
            origin.emit('left');
          });
          if (request.url === '/answering') response.write('x');
        });
        await rig.serve('shop', origin.port);
        const visitor = await Http2Visitor.open(t, rig);
        for (const [path, method] of [
          ['/waiting', 'GET'],
          ['/answering', 'GET'],
          ['/sending', 'POST'],
        ] as const) {
          const stream = visitor.stream({ ':method': method, ':path': path }, method === 'GET');
          if (method === 'POST') stream.write('half');
          await once(origin, 'asked');
          const gone = once(origin, 'left');
          stream.close(8);
          await gone;
          assert.equal(left.pop(), path);
        }
      },
    );

    test('a connection serves several hosts of its certificate, and several requests at a time', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const waiting: Array<() => void> = [];
      const origin = await httpOrigin(t, (request, response) => {
        waiting.push(() => response.end(request.url));
        if (waiting.length === 50) for (const answer of waiting.reverse()) answer();
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const paths = Array.from({ length: 50 }, (_, i) => `/${i}`);
      const answers = await Promise.all(paths.map((path) => visitor.ask({ ':path': path })));
      assert.deepEqual(
        answers.map(({ body }) => body),
        paths,
      );
    });
  });

test('http2: no visitor gets it when it is off', WITHIN, async (t) => {
  const rig = await Rig.start(t, { http2: 'off' });
  await assert.rejects(Http2Visitor.open(t, rig));
  const wire = await rig.visit({ tls: true });
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 404);
});
