/**
 * HPACK lets one byte stand for 4 KB: what a visitor sends so is counted as what came over the wire, and ends its connection where no client
 * would need it.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { perHead, Rig, rawOrigin } from '../../src/data/edge/testing/rig.ts';
import type { TestAgent } from '../../src/data/fixtures/agent.ts';
import { FLAG, FRAME, FrameVisitor, indexedLiteral, literals, request, u32 } from '../harness/h2-frames.ts';

const WITHIN = { timeout: 60_000 };
/** The first entry of the dynamic table (RFC 7541 §2.3.3). */
const NEWEST = 0x80 | 62;
const ENTRY = indexedLiteral('cookie', `c=${'y'.repeat(3_900)}`);

async function shop(t: TestContext): Promise<{ rig: Rig; agent: TestAgent; visitor: FrameVisitor; asked: string[] }> {
  const rig = await Rig.start(t, { sweepMs: 100 });
  const asked: string[] = [];
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      asked.push(head);
      if (!head.startsWith('POST')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    }),
  );
  const agent = await rig.serve('shop', origin.port);
  const visitor = await FrameVisitor.open(rig.httpsPort);
  t.after(() => visitor.socket.destroy());
  return { rig, agent, visitor, asked };
}

/** A request whose head names the table's entry `times` times. */
function ask(visitor: FrameVisitor, id: number, times: number, first = false): void {
  const fields = Buffer.concat([literals(request()), first ? ENTRY : Buffer.alloc(0), Buffer.alloc(times, NEWEST)]);
  visitor.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, fields);
}

/** What the tunnel's key has been charged. */
async function charged(rig: Rig, agent: TestAgent): Promise<number> {
  agent.destroy();
  await rig.node.close();
  const usage = rig.link.batches.flatMap(({ events }) => events).filter((event) => event.kind === 'usage');
  return usage.reduce((all, event) => all + event.bytesIn, 0);
}

test('HPACK: a head that names one table entry seven times is charged by its bytes on the wire', WITHIN, async (t) => {
  const { rig, agent, visitor, asked } = await shop(t);
  ask(visitor, 1, 0, true);
  await visitor.endOf(1);
  for (let id = 3; id < 9; id += 2) {
    ask(visitor, id, 7);
    assert.equal(await visitor.endOf(id), null);
  }
  assert.equal(asked.length, 4);
  assert.ok((asked.at(-1) as string).length > 27_000);
  const { bytesWritten } = visitor.socket;
  const bytes = await charged(rig, agent);
  assert.ok(bytes <= bytesWritten && bytes > 4_000, `${bytes} of ${bytesWritten}`);
});

test('HPACK: a connection that goes on expanding is ended and counted', WITHIN, async (t) => {
  const { rig, visitor, asked } = await shop(t);
  ask(visitor, 1, 0, true);
  await visitor.endOf(1);
  for (let id = 3; id < 401 && !visitor.isOver; id += 2) {
    ask(visitor, id, 7);
    await Promise.race([visitor.endOf(id).catch(() => null), visitor.over()]);
  }
  await visitor.over();
  assert.ok(asked.length < 10, `${asked.length} came to the service`);
  assert.equal(visitor.goaway, 11, 'ENHANCE_YOUR_CALM');
  assert.equal(rig.node.stats().dropped['h2_expansion'], 1);
});

test('HPACK: trailers that expand end the connection as heads do', WITHIN, async (t) => {
  const { rig, visitor } = await shop(t);
  for (let id = 1; id < 401 && !visitor.isOver; id += 2) {
    visitor.ask(id, request('POST', '/'), FLAG.none);
    const trailers = Buffer.concat([
      id === 1 ? indexedLiteral('x', 'y'.repeat(3_900)) : Buffer.alloc(0),
      Buffer.alloc(7, NEWEST),
    ]);
    visitor.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, trailers);
    await Promise.race([visitor.endOf(id).catch(() => null), visitor.over()]);
  }
  await visitor.over();
  assert.equal(rig.node.stats().dropped['h2_expansion'], 1);
});

test(
  'HPACK: a browser that repeats 4 KB of cookies in each request is served and charged for what it sends',
  WITHIN,
  async (t) => {
    const { rig, agent, visitor, asked } = await shop(t);
    ask(visitor, 1, 0, true);
    await visitor.endOf(1);
    for (let id = 3; id < 1_001; id += 100) {
      // All of a page at once: their heads come in one read.
      for (let i = id; i < id + 100; i += 2) ask(visitor, i, 1);
      for (let i = id; i < id + 100; i += 2) assert.equal(await visitor.endOf(i), null, `stream ${i}`);
    }
    assert.equal(asked.length, 501);
    const { bytesWritten } = visitor.socket;
    const bytes = await charged(rig, agent);
    assert.ok(bytes <= bytesWritten, `${bytes} of ${bytesWritten}`);
  },
);

test('HPACK: frames that bring nothing pay for no expansion beyond their own bytes', WITHIN, async (t) => {
  const { rig, agent, visitor } = await shop(t);
  ask(visitor, 1, 0, true);
  await visitor.endOf(1);
  for (let id = 3; id < 9; id += 2) {
    for (let i = 0; i < 50; i++) visitor.send(FRAME.window, 0, 0, u32(1));
    ask(visitor, id, 7);
    await visitor.endOf(id);
  }
  const { bytesWritten } = visitor.socket;
  const bytes = await charged(rig, agent);
  assert.ok(bytes <= bytesWritten, `${bytes} of ${bytesWritten}`);
});
