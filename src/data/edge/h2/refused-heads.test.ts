/** Heads that HTTP/2 could say and HTTP/1.1 could not, or in two ways, over the wire: refused, and nothing of them reaches the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FRAME, FrameVisitor, request } from '../../../../test/harness/h2-frames.ts';
import { GET, REFUSED_HEADS } from '../testing/refused-heads.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 60_000 };
/** RFC 9113 §8.2.2. */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

test(
  'a head that HTTP/2 does not have, or that says something twice, is a 400 for its stream alone',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const asked: string[] = [];
    const origin = await httpOrigin(t, (incoming, response) => {
      asked.push(incoming.url ?? '');
      response.end('ok');
    });
    await rig.serve('shop', origin.port);
    const visitor = await FrameVisitor.open(rig.httpsPort);
    t.after(() => visitor.socket.destroy());
    const cases = [
      ...Object.entries(REFUSED_HEADS),
      ...OF_A_CONNECTION.map((name) => [name, [...GET, [name, 'x'] as const]] as const),
    ];
    let id = 1;
    for (const [what, fields] of cases) {
      visitor.ask(id, fields);
      assert.equal(await visitor.endOf(id), null, `${what}: it is answered`);
      assert.match(visitor.bodies.get(id) ?? '', /"error":"bad_request"/, what);
      id += 2;
    }
    // With a body.
    visitor.ask(id, request('POST', '/', ['transfer-encoding', 'chunked']), 0);
    assert.equal(await visitor.endOf(id), null);
    visitor.ask(id + 2, request('GET', '/good'));
    assert.equal(await visitor.endOf(id + 2), null);
    assert.deepEqual(asked, ['/good'], 'the connection goes on');
    // What HTTP/2 itself does not have is a broken stream besides (RFC 9113 §8.1.1).
    const resets = visitor.frames.filter((frame) => frame.type === FRAME.rst);
    assert.ok(resets.length >= OF_A_CONNECTION.length);
    assert.ok(resets.every((frame) => [0, 1].includes(frame.payload.readUInt32BE(0))));
    const { dropped } = rig.node.stats();
    assert.equal((dropped['h2_headers'] ?? 0) + (dropped['malformed'] ?? 0), cases.length + 1);
    assert.equal(visitor.goaway, null);
  },
);
