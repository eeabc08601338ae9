/** gRPC through the edge to a service that speaks HTTP/2 alone: the cases of its interop tests that a proxy can change. Messages are made by hand. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Http2Visitor, readAnswer } from '../testing/http2-visitor.ts';
import { Rig, type RigOptions } from '../testing/rig.ts';
import { http2Origin, http2Target, message, Messages } from '../../../agent/http2/testing.ts';

const WITHIN = { timeout: 120_000 };
const GRPC = { ':method': 'POST', ':path': '/shop.Cart/Add', 'content-type': 'application/grpc', te: 'trailers' };

type Method = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

async function served(t: TestContext, method: Method, options: RigOptions = {}): Promise<Http2Visitor> {
  const rig = await Rig.start(t, options);
  const origin = await http2Origin(t, method);
  await rig.serve('shop', http2Target(origin.port));
  return Http2Visitor.open(t, rig);
}

/** Answers with these messages, then with the trailers. */
function respond(
  stream: ServerHttp2Stream,
  texts: readonly string[],
  trailers: Record<string, string | string[]>,
): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const text of texts) stream.write(message(text));
  stream.end();
}

/** Messages as they come on the visitor's stream. */
function reader(stream: ClientHttp2Stream): { next(): Promise<string> } {
  const got: string[] = [];
  const messages = new Messages((text) => {
    got.push(text);
    stream.emit('message');
  });
  stream.on('data', (chunk: Buffer) => messages.feed(chunk));
  return {
    async next() {
      while (got.length === 0) await once(stream, 'message');
      return got.shift() as string;
    },
  };
}

test('grpc: a unary call brings its message, metadata and status both ways', WITHIN, async (t) => {
  let seen: IncomingHttpHeaders = {};
  const visitor = await served(t, (stream, headers) => {
    seen = headers;
    const messages = new Messages((text) => {
      respond(stream, [`got ${text}`], {
        'grpc-status': '0',
        'x-trail': ['a', 'b'],
        'trace-bin': 'AAEC',
      });
    });
    stream.on('data', (chunk: Buffer) => messages.feed(chunk));
  });
  const head = { ...GRPC, 'grpc-timeout': '5S', 'x-meta': 'ü', 'key-bin': 'AAEC', 'grpc-accept-encoding': 'gzip' };
  const answer = await visitor.ask(head, message('apples'));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/grpc');
  assert.equal(answer.headers['content-length'], undefined);
  assert.equal(answer.body, message('got apples').toString('latin1'));
  assert.deepEqual(Object.entries(answer.trailers), [
    ['grpc-status', '0'],
    ['x-trail', 'a, b'],
    ['trace-bin', 'AAEC'],
  ]);
  assert.equal(seen[':path'], '/shop.Cart/Add');
  assert.equal(seen[':authority'], 'shop.example.test');
  assert.equal(seen['te'], 'trailers');
  assert.equal(seen['grpc-timeout'], '5S');
  assert.equal(seen['x-meta'], 'ü');
  assert.equal(seen['key-bin'], 'AAEC');
  assert.equal(seen['x-forwarded-proto'], 'https');
  assert.equal(seen['transfer-encoding'], undefined);
});

test('grpc: empty, large and compressed messages pass unchanged', WITHIN, async (t) => {
  const visitor = await served(t, (stream) => {
    const pieces: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => pieces.push(chunk));
    stream.on('end', () => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.concat(pieces));
    });
  });
  const large = Buffer.alloc(3_000_000, 'abcdefg').toString('latin1');
  const sent = [message(''), message(large), message(gzipSync('compressed').toString('latin1'), true)];
  for (const bytes of sent) {
    const answer = await visitor.ask({ ...GRPC, 'grpc-encoding': 'gzip' }, bytes);
    assert.ok(Buffer.from(answer.body, 'latin1').equals(bytes));
    assert.equal(answer.trailers['grpc-status'], '0');
  }
});

test('grpc: an error without messages comes as headers that end the stream', WITHIN, async (t) => {
  const visitor = await served(t, (stream) => {
    stream.resume();
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5', 'grpc-message': 'no%20such%20cart' },
      { endStream: true },
    );
  });
  const stream = visitor.stream(GRPC, false);
  stream.end(message('x'));
  const [[headers, flags]] = await Promise.all([once(stream, 'response'), once(stream, 'close')]);
  assert.equal(headers['grpc-status'], '5');
  assert.equal(headers['grpc-message'], 'no%20such%20cart');
  assert.equal((flags as number) & 1, 1, 'END_STREAM');
});

test('grpc: messages of a server stream come when they are sent', WITHIN, async (t) => {
  let go: () => void = () => undefined;
  const visitor = await served(t, (stream) => {
    stream.resume();
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.write(message('first'));
    go = () => {
      stream.write(message('second'));
      go = () => void stream.end();
    };
  });
  const stream = visitor.stream(GRPC, false);
  stream.end(message('list'));
  const answers = reader(stream);
  assert.equal(await answers.next(), 'first');
  go();
  assert.equal(await answers.next(), 'second');
  const trailers = once(stream, 'trailers');
  go();
  assert.equal((await trailers)[0]['grpc-status'], '0');
});

test('grpc: a client stream is read while it is sent, and both ways at once', WITHIN, async (t) => {
  const visitor = await served(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-count': String(count) }));
    let count = 0;
    const messages = new Messages((text) => {
      count++;
      stream.write(message(`echo ${text}`));
    });
    stream.on('data', (chunk: Buffer) => messages.feed(chunk));
    stream.on('end', () => stream.end());
  });
  const stream = visitor.stream(GRPC, false);
  const answers = reader(stream);
  for (let i = 0; i < 20; i++) {
    stream.write(message(`ping ${i}`));
    assert.equal(await answers.next(), `echo ping ${i}`);
  }
  const trailers = once(stream, 'trailers');
  stream.end();
  assert.equal((await trailers)[0]['x-count'], '20');
});

test('grpc: a call that is cancelled is cancelled at the service', WITHIN, async (t) => {
  const codes: number[] = [];
  const closed = Promise.withResolvers<void>();
  const visitor = await served(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.write(message('begun'));
    stream.on('close', () => {
      codes.push(stream.rstCode);
      if (codes.length === 2) closed.resolve();
    });
  });
  for (const code of [8, 11]) {
    const stream = visitor.stream(GRPC, false);
    stream.write(message('x'));
    assert.equal(await reader(stream).next(), 'begun');
    const over = new Promise((resolve) => stream.once('close', resolve));
    stream.close(code);
    await over;
  }
  await closed.promise;
  assert.deepEqual(codes, [8, 11]);
});

for (const [name, code] of [
  ['ENHANCE_YOUR_CALM', 11],
  ['CANCEL', 8],
  ['NO_ERROR', 0],
] as const) {
  test(`grpc: a stream that the service resets with ${name} is no whole answer`, WITHIN, async (t) => {
    const visitor = await served(t, (stream) => {
      stream.resume();
      // Node ends a stream that is reset unless trailers are awaited.
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.write(message('half'));
      setTimeout(() => stream.close(code), 50);
    });
    const stream = visitor.stream(GRPC, false);
    stream.end(message('x'));
    await assert.rejects(readAnswer(stream), new RegExp(`reset ${code === 0 ? 2 : code}$`));
  });
}

test('grpc: a deadline that passes at the service is its status, and its timeout reaches it', WITHIN, async (t) => {
  const visitor = await served(t, (stream, headers) => {
    stream.resume();
    const ms = Number(String(headers['grpc-timeout']).replace('m', ''));
    setTimeout(() => respond(stream, [], { 'grpc-status': '4', 'grpc-message': 'Deadline Exceeded' }), ms);
  });
  const answer = await visitor.ask({ ...GRPC, 'grpc-timeout': '50m' }, message('x'));
  assert.equal(answer.trailers['grpc-status'], '4');
});

test('grpc: a call both ways may be silent for longer than an upload', WITHIN, async (t) => {
  const echo: Method = (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('data', (chunk: Buffer) => stream.write(chunk));
    stream.on('end', () => stream.end());
  };
  const limits = { bodyIdleTimeoutSeconds: 1, minBytesPerSecond: 100 };
  const visitor = await served(t, echo, { limits, sweepMs: 100 });
  const stream = visitor.stream(GRPC, false);
  const answers = reader(stream);
  for (const text of ['one', 'two']) {
    stream.write(message(text));
    assert.equal(await answers.next(), text);
    await sleep(3_000);
  }
  const trailers = once(stream, 'trailers');
  stream.end();
  assert.equal((await trailers)[0]['grpc-status'], '0');
});

test('grpc: grpc-web passes to visitors of both versions, with its trailers in the body', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const TYPE = 'application/grpc-web+proto';
  const ending = Buffer.from('grpc-status: 0\r\ngrpc-message: fine\r\n');
  const trailer = Buffer.concat([Buffer.of(0x80, 0, 0, 0, ending.length), ending]);
  const seen: IncomingHttpHeaders[] = [];
  const origin = await http2Origin(t, (stream, headers) => {
    seen.push(headers);
    const messages = new Messages((text) => {
      stream.respond({ ':status': 200, 'content-type': TYPE, 'access-control-expose-headers': 'grpc-status' });
      stream.write(message(`got ${text}`));
      stream.end(trailer);
    });
    stream.on('data', (chunk: Buffer) => messages.feed(chunk));
  });
  await rig.serve('shop', http2Target(origin.port));
  const whole = Buffer.concat([message('got apples'), trailer]).toString('latin1');
  const visitor = await Http2Visitor.open(t, rig);
  const head = { ':method': 'POST', ':path': '/shop.Cart/Add', 'content-type': TYPE, 'x-grpc-web': '1' };
  const answer = await visitor.ask(head, message('apples'));
  assert.deepEqual([answer.status, answer.headers['content-type'], answer.body], [200, TYPE, whole]);
  assert.deepEqual(answer.trailers, {});
  const wire = await rig.visit();
  const sent = message('apples').toString('latin1');
  wire.ask('POST /shop.Cart/Add', `Content-Type: ${TYPE}`, 'X-Grpc-Web: 1', `Content-Length: ${sent.length}`);
  wire.send(sent);
  await wire.until('grpc-message: fine\r\n');
  assert.match(wire.text, /^HTTP\/1\.1 200 [^]*\r\ncontent-type: application\/grpc-web\+proto\r\n/i);
  assert.ok(wire.text.includes('got apples'));
  assert.deepEqual(
    seen.map((headers) => [headers['content-type'], headers['x-grpc-web']]),
    [
      [TYPE, '1'],
      [TYPE, '1'],
    ],
  );
});
