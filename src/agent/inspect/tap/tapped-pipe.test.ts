/** Each byte is shown once, whichever way it takes. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import type { PipeSink, PipeStream } from '../../../base/bytes/pipe.ts';
import { SlabPool } from '../../../base/bytes/slab.ts';
import { TurnEnd } from '../../../base/process/turn.ts';
import { Allowance } from './allowance.ts';
import { RequestRing } from '../request-ring.ts';
import { StreamTap } from './stream-tap.ts';
import { TapFloor } from './tap-floor.ts';
import { PageTally } from '../metrics/tally.ts';
import { TappedPipe } from './tapped-pipe.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\n\r\n');

test('a slab that the stream does not take comes again by another way, and is shown once', () => {
  const slabs = new SlabPool();
  const slab = slabs.take();
  const ring = new RequestRing();
  const parts = { clock: systemClock, ring, allowance: new Allowance(), tally: new PageTally() };
  const floor = new TapFloor({ ...parts, onFault: (error) => assert.fail(String(error)) });
  const tap = new StreamTap(floor, { tunnel: 'shop', tally: null, replayOf: null });
  let takes: boolean | null = null;
  let written = 0;
  const stream: PipeStream = {
    sink: null as unknown as PipeSink,
    session: { readSlab: slab },
    gone: false,
    write: (_bytes, start, end) => {
      written += end - start;
      return true;
    },
    donate: (_slab, length) => {
      if (takes !== null) written += length;
      return takes;
    },
    clear: () => undefined,
    consumed: () => undefined,
    end: () => undefined,
    reset: () => undefined,
  };
  const meter = { fromSocket: 0, toSocket: 0 };
  const pipe = new TappedPipe(stream, new Socket(), { turn: new TurnEnd(), slabs, meter, tls: false, tap });
  pipe.onData(stream, REQUEST, 0, REQUEST.length);
  pipe.fromSocket(ANSWER, 0, ANSWER.length);
  slab.body.fill('x', 0, 1_000);
  assert.equal(pipe.donate(slab, 1_000), null);
  pipe.fromSocket(slab.body, 0, 1_000);
  takes = true;
  assert.equal(pipe.donate(slab, 1_000), true);
  pipe.fromSocket(slab.body, 0, 500);
  const [record] = ring.list(1);
  assert.equal(record?.responseBody.size, 2_500);
  assert.equal(written, ANSWER.length + 2_500);
  assert.deepEqual(meter, { fromSocket: written, toSocket: REQUEST.length });
  pipe.destroy();
});
