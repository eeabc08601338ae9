/** Services that curl is content with: served in one form where RFC 9112 leaves one meaning, refused with the fault's name where it does not. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { type RawOrigin, Rig, type RigOptions, perHead, rawOrigin } from '../testing/rig.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import { testGrant } from '../../fixtures/link.ts';
import { recordsOf, textOf } from '../../inspect/testing.ts';

const WITHIN = { timeout: 120_000 };
const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
const CRLF_BODY = 'a\r\n\r\nb\nc';

// biome-ignore format: a table
const MENDED: ReadonlyArray<readonly [string, string, string]> = [
  ['lines that end in LF', 'HTTP/1.1 200 OK\nX: 1\nContent-Length: 8\n\n', head('X: 1', 'Content-Length: 8')],
  ['lines that end in LF, without a reason', 'HTTP/1.1 200\nContent-Length: 8\n\n', 'HTTP/1.1 200\r\nContent-Length: 8\r\n\r\n'],
  ['the same length twice', head('Content-Length: 8', 'X: 1', 'Content-Length: 8'), head('Content-Length: 8', 'X: 1')],
  ['a list of the same lengths', head('Content-Length: 8, 8'), head('Content-Length: 8')],
  ['a folded field', head('X: 1,', '\t 2', 'Content-Length: 8'), head('X: 1, 2', 'Content-Length: 8')],
];

async function shop(
  t: TestContext,
  answer: string,
  options: RigOptions = {},
): Promise<{ rig: Rig; origin: RawOrigin }> {
  const rig = await Rig.start(t, options);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(answer, 'latin1')),
  );
  await rig.serve('shop', origin.port);
  return { rig, origin };
}

for (const [name, said, strict] of MENDED) {
  test(`responses: ${name} reach a visitor in the strict form, and the record`, WITHIN, async (t) => {
    const { rig, origin } = await shop(t, said + CRLF_BODY);
    const wire = await rig.visit();
    for (let i = 0; i < 2; i++) {
      wire.ask('GET /');
      const reply = await wire.response();
      assert.deepEqual([reply.head, reply.body], [strict, CRLF_BODY]);
    }
    assert.equal(origin.sockets.length, 2, 'its connection is not used again');
    for (const record of await recordsOf(rig)) assert.equal(textOf(record.responseHead), strict);
    // HEAD, and HTTP/2.
    wire.ask('HEAD /');
    assert.equal((await wire.response(true)).head, strict);
    const visitor = await Http2Visitor.open(t, rig);
    const answer = await visitor.ask({});
    assert.deepEqual([answer.status, answer.body, answer.headers['content-length']], [200, CRLF_BODY, '8']);
  });

  test(`responses: ${name} that come byte by byte, and under a bandwidth limit`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, bandwidthLimitMbps: 10 }));
    const origin = await rawOrigin(
      t,
      perHead((socket) => {
        const pieces = (said + CRLF_BODY).split('');
        const next = (): void => {
          const piece = pieces.shift();
          if (piece !== undefined) socket.write(piece, 'latin1', () => setImmediate(next));
        };
        next();
      }),
    );
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    wire.ask('GET /');
    const reply = await wire.response();
    assert.deepEqual([reply.head, reply.body], [strict, CRLF_BODY]);
  });
}

test('responses: 60 KB of Set-Cookie and 150 fields are served, for both versions of HTTP', WITHIN, async (t) => {
  const cookies = Array.from({ length: 15 }, (_, i) => `Set-Cookie: c${i}=${'x'.repeat(4_000)}`);
  const fields = Array.from({ length: 150 }, (_, i) => `X-${i}: ${i}`);
  for (const lines of [cookies, fields]) {
    for (const over of [{}, { bandwidthLimitMbps: 1 }]) {
      const rig = await Rig.start(t);
      rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, ...over }));
      const said = head(...lines, 'Content-Length: 2');
      const origin = await rawOrigin(
        t,
        perHead((socket) => socket.write(`${said}ok`)),
      );
      await rig.serve('shop', origin.port);
      const wire = await rig.visit();
      for (let i = 0; i < 3; i++) {
        wire.ask('GET /');
        const reply = await wire.response();
        assert.deepEqual([reply.head, reply.body], [said, 'ok']);
      }
      const visitor = await Http2Visitor.open(t, rig);
      const answer = await visitor.ask({});
      assert.deepEqual([answer.status, answer.body], [200, 'ok']);
      assert.equal(
        lines === cookies ? answer.headers['set-cookie']?.length : answer.headers['x-149'],
        lines === cookies ? 15 : '149',
      );
    }
  }
});

test(
  'responses: a body of megabytes behind a mended head comes whole, and gives its windows back',
  WITHIN,
  async (t) => {
    const body = 'y'.repeat(3 << 20);
    const { rig } = await shop(t, `HTTP/1.1 200 OK\nContent-Length: ${body.length}\n\n${body}`);
    const wire = await rig.visit();
    for (let i = 0; i < 2; i++) {
      wire.ask('GET /');
      assert.equal((await wire.response()).body.length, body.length);
    }
    const visitor = await Http2Visitor.open(t, rig);
    assert.equal((await visitor.ask({})).body.length, body.length);
  },
);

// biome-ignore format: a table
const REFUSED: ReadonlyArray<readonly [string, string, RegExp]> = [
  ['a length and a coding', head('Content-Length: 2', 'Transfer-Encoding: chunked'), /content-length and transfer-encoding/],
  ['lengths that differ', head('Content-Length: 2', 'Content-Length: 3'), /content-length fields with different values/],
  ['lines that end in both ways', 'HTTP/1.1 200 OK\r\nX: 1\nSet-Cookie: evil=1\r\n\r\n', /mixed line endings, CR LF and LF/],
  ['a folded length', head('Content-Length: 1', ' 2'), /folded field that frames the message/],
  ['a head of 9 KB', head(`X: ${'x'.repeat(9_000)}`), /more than 8192 bytes \(edge\.max_response_head_bytes\)/],
  ['101 fields', head(...Array.from({ length: 101 }, (_, i) => `X-${i}: 1`)), /more than 100 header fields \(edge\.max_response_fields\)/],
];

for (const [name, said, why] of REFUSED) {
  test(`responses: ${name}: a 502 and the log name the fault and the bound`, WITHIN, async (t) => {
    const lines: string[] = [];
    const log: Logger = { ...silentLog, info: (fields) => void lines.push(JSON.stringify(fields)), child: () => log };
    const limits = { maxResponseHeadBytes: 8_192, maxResponseFields: 100 };
    const { rig } = await shop(t, said, { log, ...limits });
    for (let i = 0; i < 3; i++) {
      const wire = await rig.visit();
      wire.ask('GET /');
      const reply = await wire.response();
      assert.equal(reply.status, 502);
      assert.match(reply.body, why);
    }
    const visitor = await Http2Visitor.open(t, rig);
    const answer = await visitor.ask({});
    assert.equal(answer.status, 502);
    assert.match(answer.body, why);
    const told = lines.filter((line) => why.test(line));
    assert.equal(told.length, 1, 'once a minute');
  });
}
