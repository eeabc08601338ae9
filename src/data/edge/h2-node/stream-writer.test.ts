// alone: it reads how much memory its process holds, after a collection
/** What waits for a visitor that takes nothing: as many bytes of memory as wait, whatever pieces they came in. */
import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FRAME, FrameVisitor, setting } from '../../../../test/harness/h2-frames.ts';
import { SlabPool } from '../../../base/bytes/slab.ts';
import { perHead, Rig, rawOrigin } from '../testing/rig.ts';
import { StreamWriter } from './stream-writer.ts';

const MB = 1 << 20;

/** A stream that completes a write when the test says so. */
class Valve {
  destroyed = false;
  writableEnded = false;
  text = '';
  writes = 0;
  #done: (() => void) | undefined;

  write(bytes: Buffer, done?: () => void): void {
    this.writes++;
    this.text += bytes.toString('latin1');
    this.#done = done;
  }

  cork(): void {}

  uncork(): void {}

  end(): void {
    this.writableEnded = true;
  }

  /** All of the last write has left. */
  open(): void {
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }
}

function writer(): { valve: Valve; writer: StreamWriter; credited(): number } {
  const valve = new Valve();
  let credit = 0;
  const onCredit = (bytes: number): void => {
    credit += bytes;
  };
  return {
    valve,
    writer: new StreamWriter(valve as unknown as ServerHttp2Stream, { held: 0 }, onCredit),
    credited: () => credit,
  };
}

test('pieces of any size come out in order, with their credit', () => {
  const { foreign, shared } = new SlabPool();
  const { valve, writer: out, credited } = writer();
  let said = '';
  let owed = 0;
  for (const [i, size] of [1, 20_000, 5, 16_384, 1, 1, 40_000, 16_000, 700, 2, 130_000, 9].entries()) {
    const bytes = Buffer.alloc(size + 2, String.fromCharCode(97 + i));
    out.push(bytes, 1, size + 1, size + 3, i % 2 === 0 ? shared : foreign);
    said += bytes.toString('latin1', 1, size + 1);
    owed += size + 3;
  }
  out.end();
  assert.equal(out.backlog, said.length);
  while (!valve.writableEnded || out.backlog > 0) valve.open();
  assert.equal(valve.text, said);
  assert.equal(credited(), owed);
  assert.equal(out.heldBytes, 0);
});

test('a window full of single bytes takes as much memory as it has bytes', () => {
  const { valve, writer: out } = writer();
  const { shared } = new SlabPool();
  const one = Buffer.from('x');
  for (let i = 0; i < 262_144; i++) out.push(one, 0, 1, 1, shared);
  assert.equal(out.backlog, 262_144);
  assert.ok(out.heldBytes < 262_144 + 16_385, `${out.heldBytes} are held`);
  while (out.backlog > 0) valve.open();
  assert.ok(valve.writes < 20, `${valve.writes} writes`);
});

test('slabs that are held count whole', () => {
  const pool = new SlabPool();
  const { valve, writer: out } = writer();
  const slabs = Array.from({ length: 10 }, () => pool.take());
  for (const slab of slabs) out.push(slab.bytes, 0, 20_000, 20_000, slab);
  assert.equal(slabs.filter((slab) => slab.held).length, 8);
  assert.ok(out.heldBytes >= 8 * 262_144 + 2 * 20_000);
  while (out.backlog > 0) valve.open();
  assert.deepEqual([out.heldBytes, slabs.some((slab) => slab.held)], [0, false]);
});

/** Of the JavaScript heap and outside of it, after everything that is not needed has gone. */
function memory(): { heap: number; buffers: number } {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, buffers: arrayBuffers };
}

/** Asks a service that streams chunks of one byte on 100 streams, takes nothing, and waits until nothing more moves. */
async function stall(t: TestContext): Promise<void> {
  const rig = await Rig.start(t);
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  let written = 0;
  const origin = await rawOrigin(
    t,
    perHead((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const go = (): void => {
        while (!socket.destroyed && socket.write(chunks)) written++;
        written++;
      };
      socket.on('drain', go);
      go();
    }),
  );
  await rig.serve('shop', origin.port);
  const visitor = await FrameVisitor.open(rig.httpsPort, { settings: setting(4, 0) });
  t.after(() => visitor.socket.destroy());
  for (let i = 0; i < 100; i++) visitor.ask(1 + 2 * i);
  await visitor.until((frame) => frame.type === FRAME.headers && frame.stream === 199);
  for (let seen = -1; seen !== written; await setTimeout(1_000)) seen = written;
}

test('100 streams whose visitor takes nothing hold 64 MB at most, also of single bytes', {
  timeout: 40_000,
}, async (t) => {
  const before = memory();
  await stall(t);
  const { heap, buffers } = memory();
  // Edge, agent and service are all in this process.
  assert.ok(heap - before.heap < 16 * MB, `${(heap - before.heap) / MB} MB of objects`);
  assert.ok(buffers - before.buffers < 64 * MB, `${(buffers - before.buffers) / MB} MB of buffers`);
});
