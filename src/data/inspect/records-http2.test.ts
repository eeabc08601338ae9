/** Records of requests that come over HTTP/2: the same, by the same reader, with the version said. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { PolicyAction } from '../../plane/policy.ts';
import { Http2Visitor } from '../edge/testing/http2-visitor.ts';
import { httpOrigin, perHead, rawOrigin, Rig } from '../edge/testing/rig.ts';
import { until } from '../fixtures/gateway.ts';
import { TestIssuer } from '../fixtures/issuer.ts';
import { recordOf, recordsOf, textOf } from './testing.ts';

const WITHIN = { timeout: 120_000 };

test('a request over HTTP/2 is recorded as the service got it, bodies without any framing', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    request.resume().on('end', () => {
      response.write('pe');
      response.end('ar');
    });
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  const answer = await visitor.ask({ ':method': 'PUT', ':path': '/a?b', cookie: ['c=1', 'd=2'] }, 'apple');
  assert.equal(answer.body, 'pear');
  const length = await visitor.ask({ ':method': 'POST', 'content-length': 5 }, 'apple');
  assert.equal(length.status, 200);
  const [chunked, known] = await recordsOf(rig);
  for (const record of [chunked, known]) {
    assert.deepEqual([textOf(record?.requestBody ?? null), record?.requestSize], ['apple', 5]);
    assert.deepEqual([textOf(record?.responseBody ?? null), record?.responseSize], ['pear', 4]);
    assert.deepEqual(
      [record?.trace.httpVersion, record?.trace.scheme, record?.trace.outcome],
      ['2', 'https', 'forwarded'],
    );
    assert.match(
      textOf(record?.responseHead ?? null),
      /^HTTP\/1\.1 200 OK\r\n[^]*\r\nTransfer-Encoding: chunked\r\n\r\n$/,
    );
  }
  assert.equal(chunked?.target, '/a?b');
  assert.match(
    textOf(chunked?.requestHead ?? null),
    /^PUT \/a\?b HTTP\/1\.1\r\nhost: shop\.example\.test\r\ncookie: c=1; d=2\r\n/,
  );
});

test('record: trailers of a response are kept, over both versions of HTTP', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (_request, response) => {
    response.writeHead(200, { trailer: 'grpc-status' });
    response.write('x');
    response.addTrailers({ 'grpc-status': '14', 'grpc-message': 'away' });
    response.end();
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({})).trailers['grpc-status'], '14');
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('grpc-message: away');
  await until(() => rig.node.stats().inspector.waiting + rig.node.stats().inspector.recorded === 2);
  for (const { trace } of await recordsOf(rig))
    assert.equal(trace.trailers, 'grpc-status: 14\r\ngrpc-message: away\r\n');
});

test('many streams of one connection have a record each, with their own bytes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => void request.pipe(response));
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  const bodies = Array.from({ length: 60 }, (_, at) => `${at};`.repeat(1 + ((at * 977) % 5_000)));
  const answers = await Promise.all(
    bodies.map((body, at) => visitor.ask({ ':method': 'POST', ':path': `/${at}` }, body)),
  );
  assert.deepEqual(
    answers.map(({ body }) => body),
    bodies,
  );
  const records = await recordsOf(rig);
  assert.equal(records.length, 60);
  for (const { target, requestBody, responseBody } of records) {
    const body = bodies[Number(target.slice(1))];
    assert.equal(textOf(requestBody), body);
    assert.equal(textOf(responseBody), body);
  }
  assert.equal(rig.node.stats().inspector.heldBytes, 0);
});

test('record: refused, cut and reset streams are recorded as such', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.startsWith('GET /half')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf ');
      if (head.startsWith('GET /slow')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf ');
      if (head.startsWith('GET /close')) socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  const deny: PolicyAction = { kind: 'deny', enforce: true, pathPrefix: '/admin' };
  rig.route('shop', { policy: { setAt: 1, actions: [deny] } });
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({ ':path': '/admin', cookie: 's3cret' })).status, 403);
  assert.equal((await visitor.ask({ ':path': '/close' })).status, 502);
  await assert.rejects(visitor.ask({ ':path': '/half' }), /reset/);
  const slow = visitor.stream({ ':path': '/slow' });
  await once(slow, 'data');
  slow.close(8);
  const silent = visitor.stream({ ':path': '/silent' });
  await until(() => origin.texts.some((text) => text.includes('/silent')));
  silent.close(8);
  await until(() => rig.node.stats().inspector.waiting + rig.node.stats().inspector.recorded === 5);
  const records = await recordsOf(rig);
  assert.deepEqual(
    records.map(({ target, status, trace }) => [target, status, trace.outcome, trace.code]),
    [
      ['/admin', 403, 'refused', 'denied'],
      ['/close', 502, 'failed', 'local_closed'],
      ['/half', 200, 'failed', 'local_closed'],
      ['/slow', 200, 'failed', null],
      ['/silent', 0, 'failed', null],
    ],
  );
  assert.match(textOf(records[0]?.requestHead ?? null), /\r\ncookie:\r\n/);
});

test('a visitor that leaves while its request is decided is recorded without a status', WITHIN, async (t) => {
  const issuer = await TestIssuer.start(t);
  const jwt: PolicyAction = {
    kind: 'jwt_validation',
    enforce: true,
    jwksUrl: issuer.jwksUrl,
    allowedIssuers: [],
    allowedAudiences: [],
  };
  const rig = await Rig.start(t, { issuerKeys: { allowPrivate: true, ca: issuer.ca } });
  await rig.serve('shop', 1);
  rig.route('shop', { policy: { setAt: 1, actions: [jwt] } });
  const hold = Promise.withResolvers<void>();
  issuer.hold = hold.promise;
  const visitor = await Http2Visitor.open(t, rig);
  const stream = visitor.stream({ ':path': '/gone', authorization: `Bearer ${await issuer.sign()}` });
  await until(() => issuer.asked.length > 0);
  stream.close(8);
  await until(() => rig.node.stats().inspector.waiting > 0);
  const record = await recordOf(rig);
  assert.deepEqual([record.status, record.trace.outcome, record.trace.code], [0, 'refused', null]);
  assert.match(textOf(record.requestHead), /^GET \/gone HTTP\/1\.1\r\n[^]*\r\nauthorization:\r\n/);
  hold.resolve();
  // The exchange is used again: the next request has a record of its own.
  await until(() => rig.node.connections().length === 1);
  rig.route('shop', {});
  assert.equal((await visitor.ask({ ':path': '/next' })).status, 502);
  const [, next] = await recordsOf(rig);
  assert.deepEqual([next?.target, next?.trace.steps, next?.trace.code], ['/next', [], 'local_unreachable']);
});
