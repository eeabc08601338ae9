/** Trailers both ways, interim responses, and answers that have no body, over our own HTTP/2. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { FLAG, FRAME, FrameVisitor, literals, request } from '../../../../test/harness/h2-frames.ts';
import { type Answer, Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { httpOrigin, perHead, Rig, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 60_000 };

/** A request with trailers behind its body. */
function send(
  visitor: Http2Visitor,
  head: OutgoingHttpHeaders,
  body: Buffer | string,
  trailers: OutgoingHttpHeaders,
): Promise<Answer> {
  const stream: ClientHttp2Stream = visitor.session.request(
    { ':method': 'POST', ':authority': visitor.name, ...head },
    { waitForTrailers: true },
  );
  stream.on('error', () => undefined);
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  const answer = readAnswer(stream);
  stream.end(body);
  return answer;
}

test('trailers pass both ways, and the service gets none of those that would be believed', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (incoming, response) => {
    let body = '';
    incoming.on('data', (piece: Buffer) => (body += piece.toString()));
    incoming.on('end', () => {
      response.writeHead(200, { trailer: 'grpc-status' });
      response.write(JSON.stringify({ body, trailers: incoming.trailers }));
      response.addTrailers({ 'Grpc-Status': '14', 'grpc-message': 'away', vary: 'x' });
      response.end();
    });
  });
  await rig.serve('shop', origin.port);
  rig.route('shop', {
    policy: { setAt: 1, actions: [{ kind: 'header_set', name: 'X-Set', value: 'by policy', enforce: true }] },
  });
  const visitor = await Http2Visitor.open(t, rig);
  for (const body of ['', 'hello', 'x'.repeat(500_000)]) {
    const answer = await send(visitor, {}, body, {
      'x-sum': '7',
      'x-set': 'by visitor',
      'x-forwarded-for': '6.6.6.6',
      'culvert-visitor-email': 'eve@evil.test',
      authorization: 'Bearer x',
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.body), { body, trailers: { 'x-sum': '7' } });
    assert.deepEqual(
      [answer.trailers['grpc-status'], answer.trailers['grpc-message'], answer.trailers['vary']],
      ['14', 'away', undefined],
    );
  }
});

test('trailers behind a body with a length are left out and counted', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (incoming, response) => {
    incoming.resume().on('end', () => response.end(JSON.stringify(incoming.trailers)));
  });
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  const answer = await send(visitor, { 'content-length': 5 }, 'hello', { 'x-sum': '7' });
  assert.deepEqual([answer.status, answer.body], [200, '{}']);
  assert.equal(rig.node.stats().dropped['request_trailers'], 1);
  assert.equal((await visitor.ask({}, 'x')).status, 200, 'the connection goes on');
});

test('trailers that are none, or too many, complete no request', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const ends: string[] = [];
  const origin = await httpOrigin(t, (incoming) => {
    incoming.on('data', () => origin.emit('begun'));
    incoming.on('error', () => ends.push('cut'));
    incoming.on('end', () => ends.push('whole'));
  });
  await rig.serve('shop', origin.port);
  const visitor = await FrameVisitor.open(rig.httpsPort);
  t.after(() => visitor.socket.destroy());
  const cases = [
    literals([[':path', '/other']]),
    literals([['X-Upper', 'y']]),
    literals([['x', 'y\r\n\r\nGET /smuggled HTTP/1.1']]),
    literals([['connection', 'close']]),
    literals([['x', 'y'.repeat(9_000)]]),
  ];
  for (const [i, block] of cases.entries()) {
    const id = 2 * i + 1;
    visitor.ask(id, request('POST', '/'), 0);
    const begun = once(origin, 'begun');
    visitor.send(FRAME.data, 0, id, 'hello');
    await begun;
    visitor.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, block);
    const end = await visitor.until(
      (frame) => frame.stream === id && (frame.type === FRAME.rst || frame.type === FRAME.headers),
    );
    if (end.type === FRAME.headers) assert.equal(await visitor.endOf(id), null);
    while (ends.length <= i) await setTimeout(10);
    assert.equal(ends[i], 'cut', `case ${i}`);
  }
});

test('HEAD has no body and no trailers, whatever the service says of them', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n');
    }),
  );
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  for (let i = 0; i < 3; i++) {
    const answer = await visitor.ask({ ':method': 'HEAD' });
    assert.deepEqual([answer.status, answer.body, answer.headers['trailer']], [200, '', 'X-Sum']);
    assert.deepEqual(Object.keys(answer.trailers), []);
  }
});

test(
  'interim responses pass, 100 Continue too, and a visitor that waits for it sends its body then',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await httpOrigin(t, () => undefined);
    origin.on('checkContinue', (incoming, response) => {
      response.writeContinue();
      incoming.on('data', (piece: Buffer) => response.end(piece));
    });
    await rig.serve('shop', origin.port);
    const visitor = await Http2Visitor.open(t, rig);
    const stream = visitor.stream({ ':method': 'PUT', expect: '100-continue' }, false);
    stream.once('continue', () => stream.end('now'));
    assert.equal((await readAnswer(stream)).body, 'now');
  },
);
