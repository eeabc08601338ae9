import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PipeReader } from './pipe-reader.ts';
import { type Slab, SLAB_HEADROOM, SlabPool } from './slab.ts';

class Input {
  readonly got: string[] = [];
  readonly passes: Array<readonly [boolean, boolean]> = [];
  takes = true;
  goOn = true;

  fromSocket(bytes: Buffer, start: number, count: number): boolean {
    this.got.push(`copied ${count} of ${bytes.toString('latin1', start, start + 2)}`);
    return this.goOn;
  }

  donate(slab: Slab, count: number): boolean | null {
    if (!this.takes) return null;
    this.got.push(`took ${count} of ${slab.bytes.toString('latin1', SLAB_HEADROOM, SLAB_HEADROOM + 2)}`);
    return this.goOn;
  }

  passed(wasShort: boolean, goesOn: boolean): void {
    this.passes.push([wasShort, goesOn]);
  }
}

/** As Node reads: into the view asked for last, then the next one is asked for. */
function reads(reader: PipeReader, sizes: readonly number[]): boolean[] {
  let view = reader.view();
  return sizes.map((size, i) => {
    view.write(`${i}.`, 0, 'latin1');
    const goOn = reader.filled(size);
    view = reader.view();
    return goOn;
  });
}

test('a download is handed on in whole slabs, everything else is copied', () => {
  const input = new Input();
  const reader = new PipeReader(input, Buffer.alloc(262_144), new SlabPool());
  reads(reader, [1_000, 200_000, 250_000, 250_000, 40_000, 250_000, 70_000, 10]);
  assert.deepEqual(input.got, [
    'copied 1000 of 0.',
    'copied 200000 of 1.',
    'took 250000 of 2.',
    'took 250000 of 3.',
    'copied 40000 of 4.',
    'copied 250000 of 5.',
    'took 70000 of 6.',
    'copied 10 of 7.',
  ]);
});

test('a slab that is not taken is copied from and used again; a full peer pauses the socket', () => {
  const input = new Input();
  const pool = new SlabPool();
  let taken = 0;
  const take = pool.take.bind(pool);
  pool.take = () => {
    taken++;
    return take();
  };
  const reader = new PipeReader(input, Buffer.alloc(262_144), pool);
  input.takes = false;
  input.goOn = false;
  assert.deepEqual(reads(reader, [200_000, 200_000, 200_000]), [false, false, false]);
  assert.deepEqual(input.got, ['copied 200000 of 0.', 'copied 200000 of 1.', 'copied 200000 of 2.']);
  assert.equal(taken, 1);
  reader.close();
  assert.equal(pool.take().held, false);
});

test('pipe reader: a read that fills its buffer differs from one that does not', () => {
  const input = new Input();
  const reader = new PipeReader(input, Buffer.alloc(262_144), new SlabPool());
  const whole = new SlabPool().take().body.length;
  reads(reader, [262_144, whole, whole - 1, 1_000]);
  reader.chunk(Buffer.from('early'));
  assert.deepEqual(
    input.passes.map(([wasShort]) => wasShort),
    [false, false, true, true, false],
  );
  input.goOn = false;
  reads(reader, [10]);
  assert.deepEqual(input.passes.at(-1), [true, false]);
});
