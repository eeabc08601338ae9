/** Requests that two parsers read differently: what reaches a service is one request per head that the edge took, and nothing besides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { httpOrigin, perHead, rawOrigin } from '../../src/data/edge/testing/rig.ts';
import { REST_MS } from '../../src/data/edge/exchange/upstream.ts';
import { answersIn, edgeFixture, request, say } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const edge = edgeFixture();
const HIDDEN = request('GET /hidden');

/** Each text is refused as a whole: one answer, and no service has heard of it. */
async function areRefused(cases: Readonly<Record<string, string>>, expected = ['400 bad_request']): Promise<void> {
  const { rig, take } = edge();
  for (const [what, text] of Object.entries(cases)) {
    const answers = answersIn(await say(rig.port, text + HIDDEN));
    assert.deepEqual(answers, expected, what);
    assert.deepEqual(take(), [], what);
  }
}

/** Each text is one request with this body, and what follows is the next one. */
async function areOneRequest(cases: Readonly<Record<string, readonly [text: string, body: string]>>): Promise<void> {
  const { rig, take } = edge();
  for (const [what, [text, body]] of Object.entries(cases)) {
    const answers = answersIn(await say(rig.port, text + request('GET /next')));
    assert.deepEqual(answers, ['200', '200'], what);
    assert.deepEqual(
      take().map((one) => [one.line.split(' ')[1], one.body]),
      [
        ['/', body],
        ['/next', ''],
      ],
      what,
    );
  }
}

const post = (fields: readonly string[], body: string): string => request('POST /', ...fields) + body;

test('Node llhttp CVE-2020-8201: a CR in a field name is no hyphen', WITHIN, () =>
  areRefused({
    'in Content-Length': post(['Content\rLength: 5'], 'hello'),
    'in Transfer-Encoding': post(['Transfer\rEncoding: chunked'], '0\r\n\r\n'),
    'as the first': post(['\rContent-Length: 5'], 'hello'),
    'as the last': post(['Content-Length\r: 5'], 'hello'),
  }),
);

test(
  'Node llhttp CVE-2021-22960: line ends and controls in chunk extensions are refused, honest ones are left out',
  WITHIN,
  async () => {
    const chunked = 'Transfer-Encoding: chunked';
    await areRefused({
      'LF in an extension': post([chunked], `5;\n${'x'.repeat(3)}\r\nhello\r\n0\r\n\r\n`),
      'LF behind a size': post([chunked], '5\nhello\r\n0\r\n\r\n'),
      'NUL in an extension': post([chunked], '5;\0\r\nhello\r\n0\r\n\r\n'),
      'CR in an extension': post([chunked], '5;a\rb\r\nhello\r\n0\r\n\r\n'),
      'an extension without an end': post([chunked], `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`),
    });
    await areOneRequest({
      'an extension': [post([chunked], '5;a=b;c="d"\r\nhello\r\n0;x\r\n\r\n'), 'hello'],
      'one that looks like a request': [post([chunked], '5;GET /hidden HTTP/1.1\r\nhello\r\n0\r\n\r\n'), 'hello'],
    });
  },
);

test('Node llhttp CVE-2022-32214: a field that ends with LF alone is none', WITHIN, () =>
  areRefused({
    'a field': 'GET / HTTP/1.1\r\nHost: shop.example.test\nContent-Length: 5\r\n\r\nhello',
    'the request line': 'GET / HTTP/1.1\nHost: shop.example.test\r\n\r\n',
    'the end of the head': 'GET / HTTP/1.1\r\nHost: shop.example.test\r\n\n',
    'every line': 'GET / HTTP/1.1\nHost: shop.example.test\n\n',
    'a chunk of data': post(['Transfer-Encoding: chunked'], '5\r\nhello\n0\r\n\r\n'),
    'the last chunk': post(['Transfer-Encoding: chunked'], '0\n\n'),
    'a trailer': post(['Transfer-Encoding: chunked'], '0\r\nX: 1\n\r\n'),
  }),
);

test('Node llhttp CVE-2022-35256: a field that is not ended by CR LF does not take the next line with it', WITHIN, () =>
  areRefused({
    'CR and text': post(['X: 1\rContent-Length: 5'], 'hello'),
    'CR CR LF': post(['X: 1\r\r\nContent-Length: 5'], 'hello'),
    'an empty value and CR': post(['X:\rTransfer-Encoding: chunked'], '0\r\n\r\n'),
    'an empty Transfer-Encoding': post(['Transfer-Encoding:', 'Content-Length: 5'], 'hello'),
    'a vertical tab': post(['Transfer-Encoding:\x0bchunked'], '0\r\n\r\n'),
    NUL: post(['X: 1\0', 'Content-Length: 5'], 'hello'),
  }),
);

test('Node llhttp CVE-2023-30589: CR alone separates no fields', WITHIN, () =>
  areRefused({
    'a field': 'POST / HTTP/1.1\r\nHost: shop.example.test\rContent-Length: 5\r\n\r\nhello',
    'the head': 'GET / HTTP/1.1\rHost: shop.example.test\r\r',
    'before a length': post(['Dummy: x\rContent-Length: 23'], ''),
  }),
);

test(
  'Node llhttp GHSA-5689-v88g-g6rv: Transfer-Encoding is chunked and nothing else, in one line',
  WITHIN,
  async () => {
    const codings = [
      ...[
        'chunked, identity',
        'identity',
        'identity, chunked',
        'gzip, chunked',
        'chunked, chunked',
        'chunked,',
        ',chunked',
      ],
      ...['xchunked', 'chunkedx', '"chunked"', 'chunked;q=1', 'chunked\x0b', 'chunked\t', '\u00e7hunked', 'cow'],
    ];
    for (const coding of codings)
      await areRefused({ [coding]: post([`Transfer-Encoding: ${coding}`], '5\r\nhello\r\n0\r\n\r\n') });
    await areRefused({
      'in two lines': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n'),
      folded: post(['Transfer-Encoding:\r\n chunked'], '0\r\n\r\n'),
      'folded behind a word': post(['Transfer-Encoding: chunked\r\n , identity'], '0\r\n\r\n'),
      'a space before the colon': post(['Transfer-Encoding : chunked'], '0\r\n\r\n'),
      'in HTTP/1.0': 'POST / HTTP/1.0\r\nHost: shop.example.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    });
    await areOneRequest({ 'in capitals': [post(['TRANSFER-ENCODING:CHUNKED'], '5\r\nhello\r\n0\r\n\r\n'), 'hello'] });
  },
);

test('class 1 smuggling: two lengths, two framings, signs and lists are refused', WITHIN, async () => {
  const lengths = ['+5', '-5', '5,5', '5, 5', '0x5', '5 5', '"5"', '5.0', '5;', '', '9'.repeat(16), '\u0665'];
  for (const length of lengths) await areRefused({ [length]: post([`Content-Length: ${length}`], 'hello') });
  await areRefused({
    'CL + TE': post(['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    'TE + CL': post(['Transfer-Encoding: chunked', 'Content-Length: 4'], '0\r\n\r\n'),
    'two lengths': post(['Content-Length: 5', 'Content-Length: 6'], 'hello'),
    'the same length twice': post(['Content-Length: 5', 'Content-Length: 5'], 'hello'),
    'a space before the colon': post(['Content-Length : 5'], 'hello'),
    'a folded line': post(['X: 1', ' Content-Length: 5'], 'hello'),
    'a length that Connection names': post(['Content-Length: 5', 'Connection: content-length'], 'hello'),
    'a coding that Connection names': post(
      ['Transfer-Encoding: chunked', 'Connection: Transfer_Encoding, transfer-encoding'],
      '0\r\n\r\n',
    ),
    'a chunk size with 0x': post(['Transfer-Encoding: chunked'], '0x5\r\nhello\r\n0\r\n\r\n'),
    'a chunk size with a space': post(['Transfer-Encoding: chunked'], '5 \r\nhello\r\n0\r\n\r\n'),
    'a chunk size of nine digits': post(['Transfer-Encoding: chunked'], '000000005\r\nhello\r\n0\r\n\r\n'),
    'a chunk that is longer than it says': post(['Transfer-Encoding: chunked'], '5\r\nhello!\r\n0\r\n\r\n'),
    'an unknown expectation': post(['Expect: 200-ok', 'Content-Length: 5'], 'hello'),
    'an empty line before the request': `\r\n${request('GET /')}`,
    'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP/0.9': 'GET /\r\n',
  });
});

test('class 1 smuggling: bodies where none are usual, trailers and leading zeros are one request', WITHIN, () =>
  areOneRequest({
    'a body on GET': [request('GET /', 'Content-Length: 5') + 'hello', 'hello'],
    'a hidden request as a body': [post([`Content-Length: ${HIDDEN.length}`], HIDDEN), HIDDEN],
    'a hidden request as a chunk': [
      post(['Transfer-Encoding: chunked'], `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`),
      HIDDEN,
    ],
    'leading zeros': [post(['Content-Length: 005'], 'hello'), 'hello'],
    'a trailer that frames': [
      post(['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\nContent-Length: 50\r\nTransfer-Encoding: x\r\n\r\n'),
      'hello',
    ],
    'a length in other clothes': [
      post(['Content-Length: 5', 'Content_Length: 50', 'X-Content-Length: 50'], 'hello'),
      'hello',
    ],
    'an upgrade with a body': [
      post(['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 5'], 'hello'),
      'hello',
    ],
  }),
);

test('class 1 smuggling: the body of a refused or cut upload is no next request', WITHIN, async () => {
  const { rig, take } = edge();
  const nowhere = 'Host: nowhere.example.test';
  const refused = await say(rig.port, request('POST /', nowhere, `Content-Length: ${HIDDEN.length}`) + HIDDEN);
  assert.deepEqual(answersIn(refused), ['404 tunnel_not_found']);
  await say(rig.port, request('POST /', `Content-Length: ${HIDDEN.length + 5}`) + HIDDEN);
  assert.deepEqual(
    answersIn(await say(rig.port, request('GET /next'))),
    ['200'],
    'the connection to the service that was cut is not used again',
  );
  assert.deepEqual(
    take().map(({ line }) => line),
    ['GET /next'],
  );
});

test(
  'frp 0.70.1 #5436: no h2c: an upgrade to anything but websocket is a plain request, and what follows is one too',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    const settings = ['HTTP2-Settings: AAMAAABkAAQAAP__', 'Connection: Upgrade, HTTP2-Settings'];
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    for (const upgrade of ['h2c', 'H2C', 'websocket, h2c', 'h2c, websocket', 'TLS/1.0', 'HTTP/2.0']) {
      const text = await say(rig.port, request('GET /', `Upgrade: ${upgrade}`, ...settings) + preface + HIDDEN);
      assert.deepEqual(answersIn(text), ['200', '400 bad_request'], upgrade);
      const [one, ...more] = take();
      assert.deepEqual(more, []);
      assert.equal(one?.line, 'GET /', upgrade);
      for (const name of ['upgrade', 'http2-settings']) assert.equal(one?.headers[name], undefined, upgrade);
    }
    for (const twice of [
      ['Upgrade: websocket', 'Upgrade: h2c'],
      ['Upgrade: h2c', 'Upgrade: websocket'],
    ]) {
      await say(rig.port, request('GET /', 'Connection: Upgrade', ...twice));
      assert.deepEqual(
        take().map(({ line }) => line),
        ['GET /'],
        twice.join(),
      );
    }
  },
);

test('frp 0.70.1 #5436: behind a 101 nothing is read as a request any more', WITHIN, async (t) => {
  const { rig } = edge();
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Host: raw.example.test'];
  const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => socket.write(/upgrade/i.test(head) ? SWITCH : 'HTTP/1.1 200 OK\r\n\r\n')),
  );
  await rig.serve('raw', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /', ...upgrade);
  await wire.until('101');
  wire.send(request('GET /admin', 'X-Forwarded-For: 6.6.6.6'));
  assert.match(
    await origin.arrived(/6\.6\.6\.6/),
    /\r\n\r\nGET \/admin HTTP\/1\.1\r\nHost: shop\.example\.test\r\nX-Forwarded-For: 6\.6\.6\.6\r\n\r\n$/,
  );
  assert.equal(origin.sockets.length, 1);
  wire.socket.destroy();
});

test(
  'GHSA-7vwr-g6pm-9hc8 fastapi-proxy-lib: visitors share connections to a service, and nothing else',
  WITHIN,
  async (t) => {
    const { rig } = edge();
    const sockets = new Set<unknown>();
    let visits = 0;
    const origin = await httpOrigin(t, (got, response) => {
      sockets.add(got.socket);
      response.setHeader('Set-Cookie', `session=visitor-${++visits}`);
      response.end(JSON.stringify([got.headers.cookie, got.headers.authorization]));
    });
    await rig.serve('pool', origin.port);
    const host = 'Host: pool.example.test';
    const first = await say(rig.port, request('GET /', host, 'Cookie: own=1', 'Authorization: Bearer mine'));
    assert.match(first, /\["own=1","Bearer mine"\]$/);
    for (let i = 0; i < 3; i++) {
      await pause(REST_MS + 30);
      const next = await say(rig.port, request('GET /', host));
      assert.match(next, /\[null,null\]$/);
      assert.equal(next.match(/Set-Cookie/g)?.length, 1);
    }
    assert.equal(sockets.size, 1, 'one connection carried them all');
  },
);

test(
  'class 1 smuggling: what a service answers beyond one response never reaches another visitor',
  WITHIN,
  async (t) => {
    const { rig } = edge();
    const extra = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL';
    const answers: Readonly<Record<string, readonly [string, RegExp]>> = {
      'a second response': [`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${extra}`, /\r\n\r\nok$/],
      'a body behind 204': [`HTTP/1.1 204 No Content\r\nContent-Length: ${extra.length}\r\n\r\n${extra}`, /\r\n\r\n$/],
      'a body behind 304': [
        `HTTP/1.1 304 Not Modified\r\nContent-Length: ${extra.length}\r\n\r\n${extra}`,
        /\r\n\r\n$/,
      ],
      'a short length': [`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n${extra}`, /\r\n\r\n$/],
      'two lengths': [`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 99\r\n\r\n${extra}`, /502/],
      'CL + TE': [`HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${extra}`, /502/],
      'a split response': [`HTTP/1.1 200 OK\r\nX: 1\rY: 2\r\nContent-Length: 0\r\n\r\n${extra}`, /502/],
      'a 101 without a request for it': [
        `HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n${extra}`,
        /502/,
      ],
      'interim responses without end': ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000), /502/],
      'a head without end': [`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`, /502/],
    };
    let answer = '';
    const origin = await rawOrigin(
      t,
      perHead((socket) => socket.write(answer)),
    );
    await rig.serve('evil', origin.port);
    for (const [what, [text, expected]] of Object.entries(answers)) {
      answer = text;
      const host = 'Host: evil.example.test';
      await pause(REST_MS + 30); // it takes the stream of the one before
      assert.match(await say(rig.port, request('GET /', host)), expected, what);
      answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi';
      const connections = origin.sockets.length;
      await pause(REST_MS + 30); // and would be the only one to take
      const next = await say(rig.port, request('GET /', host));
      assert.deepEqual([answersIn(next), next.includes('EVIL'), next.endsWith('hi')], [['200'], false, true], what);
      assert.equal(origin.sockets.length, connections + 1, `${what}: its connection is not used again`);
    }
  },
);
