/** The tap on streams that are whole, cut anywhere or hostile; it never changes what passes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../../base/clock.ts';
import { Allowance } from './allowance.ts';
import { MAX_BODY_BYTES } from './body-capture.ts';
import { RequestRing } from '../request-ring.ts';
import { StreamTap } from './stream-tap.ts';
import { TapFloor } from './tap-floor.ts';
import { PageTally, TunnelTally } from '../metrics/tally.ts';

const GET = 'GET /a?b=1 HTTP/1.1\r\nHost: a.test\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

class Tapped {
  readonly faults: unknown[] = [];
  readonly ring: RequestRing;
  readonly counts = new PageTally();
  readonly tunnel = new TunnelTally(0);
  readonly tap: StreamTap;

  constructor(ring = new RequestRing()) {
    this.ring = ring;
    const floor = new TapFloor({
      clock: systemClock,
      ring,
      allowance: new Allowance(),
      tally: this.counts,
      onFault: (error) => this.faults.push(error),
    });
    this.tap = new StreamTap(floor, { tunnel: 'shop', tally: this.tunnel, replayOf: null });
  }

  /** As it lies in a read buffer: between other bytes, and overwritten afterwards. */
  #feed(text: string, take: (bytes: Buffer, start: number, end: number) => void): void {
    const bytes = Buffer.from(`@@@${text}@@@`, 'latin1');
    const before = Buffer.from(bytes);
    take(bytes, 3, bytes.length - 3);
    assert.ok(bytes.equals(before), 'the tap changes no byte');
    bytes.fill('!');
  }

  request(text: string): this {
    this.#feed(text, (bytes, start, end) => this.tap.request(bytes, start, end));
    return this;
  }

  answer(text: string): this {
    this.#feed(text, (bytes, start, end) => this.tap.answer(bytes, start, end));
    return this;
  }

  /** What is kept, oldest first. */
  get kept(): object[] {
    return this.ring
      .list(500)
      .reverse()
      .map((record) => ({
        line: `${record.method} ${record.target}`,
        status: record.status,
        state: record.state,
        request: record.requestBody.bytes.toString('latin1'),
        answer: record.responseBody.bytes.toString('latin1'),
      }));
  }
}

const one = (line: string, status: number, request: string, answer: string) => [
  { line, status, state: 'done', request, answer },
];

// biome-ignore format: a table
const CASES: ReadonlyArray<readonly [string, string, string, object[]]> = [
  ['a length', GET, OK, one('GET /a?b=1', 200, '', 'hello')],
  ['a body both ways', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', OK, one('POST /', 200, 'abc', 'hello')],
  ['chunks, without what frames them', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nX: 1\r\n\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n', one('POST /', 200, 'abc', 'hello!')],
  ['interim answers', GET, `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`, one('GET /a?b=1', 200, '', 'hello')],
  ['no body to HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', one('HEAD /', 200, '', '')],
  ['no body of 204', GET, 'HTTP/1.1 204 No Content\r\n\r\n', one('GET /a?b=1', 204, '', '')],
  ['no body of 304', GET, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', one('GET /a?b=1', 304, '', '')],
  ['an upgrade', 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x05hello', one('GET /ws', 101, '', '')],
  ['an upgrade that is refused', 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', OK, one('GET /ws', 200, '', 'hello')],
];

for (const [name, request, answer, kept] of CASES) {
  test(`keeps ${name}, cut anywhere`, () => {
    assert.deepEqual(new Tapped().request(request).answer(answer).kept, kept);
    const bytewise = new Tapped();
    for (const character of request) bytewise.request(character);
    for (const character of answer) bytewise.answer(character);
    assert.deepEqual(bytewise.kept, kept);
    for (let cut = 1; cut < request.length; cut++)
      assert.deepEqual(
        new Tapped().request(request.slice(0, cut)).request(request.slice(cut)).answer(answer).kept,
        kept,
      );
    for (let cut = 1; cut < answer.length; cut++)
      assert.deepEqual(new Tapped().request(request).answer(answer.slice(0, cut)).answer(answer.slice(cut)).kept, kept);
    assert.equal(bytewise.counts.letGo, 0);
    assert.deepEqual(bytewise.faults, []);
  });
}

test('one request after the other on the same stream', () => {
  const tapped = new Tapped();
  for (let n = 0; n < 3; n++) tapped.request(GET.replace('/a', `/${n}`)).answer(OK);
  assert.deepEqual(
    tapped.ring.list(9).map(({ target }) => target),
    ['/2?b=1', '/1?b=1', '/0?b=1'],
  );
  assert.equal(tapped.tunnel.requests.count, 3);
  assert.equal(tapped.tunnel.byClass[2], 3);
});

test('an answer that ends with the connection, and one that is cut', () => {
  const closing = 'HTTP/1.1 200 OK\r\n\r\nhel';
  const whole = new Tapped().request(GET).answer(closing).answer('lo');
  whole.tap.answerEnded();
  whole.tap.closed();
  assert.deepEqual(whole.kept, one('GET /a?b=1', 200, '', 'hello'));
  const cut = new Tapped().request(GET).answer(OK.slice(0, -2));
  cut.tap.answerEnded();
  cut.tap.closed();
  assert.deepEqual(cut.kept, [{ line: 'GET /a?b=1', status: 200, state: 'cut', request: '', answer: 'hel' }]);
  const silent = new Tapped().request(GET);
  silent.tap.closed();
  assert.deepEqual(silent.kept, [{ line: 'GET /a?b=1', status: 0, state: 'cut', request: '', answer: '' }]);
});

test('an answer before the request has ended: its body is kept to its end, and can be sent again', () => {
  const tapped = new Tapped().request('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc').answer(OK);
  const [record] = tapped.ring.list(1);
  assert.equal(record?.requestEnded, false);
  tapped.request('def').request(GET).answer(OK);
  assert.equal(record.requestEnded, true);
  assert.equal(record.requestBody.bytes.toString(), 'abcdef');
  assert.equal(tapped.ring.size, 2);
});

// biome-ignore format: a table
const NONSENSE: ReadonlyArray<readonly [string, string, string, number]> = [
  ['what is no request', 'SSH-2.0-x\r\n\r\n', '', 0],
  ['a request that two would read differently', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', '', 0],
  ['two requests at once', GET + GET, '', 1],
  ['a response without a request', '', OK, 0],
  ['an answer more than was asked for', GET, OK + OK, 1],
  ['what is no answer', GET, 'hello\r\n\r\n', 1],
  ['bad chunks', GET, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 1],
  ['interim answers without end', GET, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17), 1],
  ['a head without end', `GET /${'a'.repeat(70_000)}`, '', 0],
  ['a head of too many bytes', `GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(600)}\r\n`, '', 0],
];

for (const [name, request, answer, kept] of NONSENSE) {
  test(`lets go of ${name}, and counts it once`, () => {
    const tapped = new Tapped().request(request).answer(answer);
    assert.equal(tapped.counts.letGo, 1, 'at once');
    tapped.request(GET).answer(OK).answer('more');
    tapped.tap.closed();
    assert.equal(tapped.counts.letGo, 1);
    assert.equal(tapped.ring.size, kept);
    assert.ok(tapped.ring.list(9).every(({ state }) => state !== 'open'));
    assert.deepEqual(tapped.faults, []);
  });
}

test('any bytes, cut anywhere: no fault, no byte changed', () => {
  const piece = fc.constantFrom(
    GET,
    OK,
    'HTTP/1.1 ',
    'GET ',
    '\r\n',
    '\r\n\r\n',
    '5\r\nhello\r\n',
    '0\r\n\r\n',
    'x',
    '\0',
  );
  const steps = fc.array(fc.tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 4 })), { maxLength: 12 });
  fc.assert(
    fc.property(steps, (list) => {
      const tapped = new Tapped();
      for (const [isRequest, pieces] of list) {
        if (isRequest) tapped.request(pieces.join(''));
        else tapped.answer(pieces.join(''));
      }
      tapped.tap.answerEnded();
      tapped.tap.closed();
      assert.deepEqual(tapped.faults, []);
      assert.ok(tapped.ring.list(500).every(({ state }) => state !== 'open'));
    }),
    { numRuns: 1_000 },
  );
});

test('of a body its beginning is kept, and its true size', () => {
  const tapped = new Tapped().request(GET).answer('HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n');
  for (let n = 0; n < 30; n++) tapped.answer(String(n % 10).repeat(10_000));
  const [record] = tapped.ring.list(1);
  assert.ok(record);
  assert.equal(record.responseBody.size, 300_000);
  assert.equal(record.responseBody.bytes.length, MAX_BODY_BYTES);
  assert.equal(record.responseBody.truncated, true);
  assert.equal(record.responseBody.bytes.toString('latin1', 59_990, 60_010), '5'.repeat(10) + '6'.repeat(10));
  assert.equal(record.state, 'done');
});

test('beyond the allowance nothing is kept, all is counted, and framing is still followed', () => {
  const tapped = new Tapped();
  for (let n = 0; n < 700; n++) tapped.request(GET).answer(OK);
  assert.equal(tapped.ring.size, 500);
  // The allowance grows while this runs, however slow the machine.
  assert.ok(tapped.counts.notKept > 0 && tapped.counts.notKept <= 200, String(tapped.counts.notKept));
  assert.equal(tapped.tunnel.requests.count, 700);
  assert.equal(tapped.counts.letGo, 0);
});

test('what is pushed out while it is under way holds no memory any more', () => {
  const ring = new RequestRing({ maxRecords: 500, maxBytes: 100_000 });
  const first = new Tapped(ring).request(GET).answer('HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n');
  first.answer('a'.repeat(40_000));
  const [record] = ring.list(1);
  const second = new Tapped(ring).request(GET).answer('HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n');
  second.answer('b'.repeat(50_000));
  assert.equal(ring.size, 2);
  second.answer('b'.repeat(40_000));
  assert.equal(ring.size, 1, 'a body that grows makes room for itself while it is under way');
  first.answer('a'.repeat(50_000));
  assert.equal(record?.responseBody.held, 0);
  assert.equal(record.requestHead.length, 0);
  assert.ok(ring.bytes <= 100_000);
  assert.equal(first.tunnel.requests.count, 1, 'and it is followed to its end all the same');
});

test('a fault of ours costs the stream its place on the page and nothing else', () => {
  const tapped = new Tapped();
  tapped.ring.watch({
    onRecord: () => {
      throw new Error('a watcher fails');
    },
    onCleared: () => undefined,
  });
  tapped.request(GET).answer(OK).request(GET).answer(OK);
  tapped.tap.answerEnded();
  tapped.tap.closed();
  assert.equal(tapped.faults.length, 1);
  assert.equal(tapped.counts.faults, 1);
});
