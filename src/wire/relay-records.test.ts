/** Boundaries of datagrams must be kept whatever way they take and however a stream is cut; what a peer sends wrong must end there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_DATAGRAM_BYTES, RECORD_HEAD_BYTES } from './relay-packets.ts';
import { type OnRecord, RecordReader, readRecords, writeRecord } from './relay-records.ts';

interface Sent {
  readonly flow: number;
  readonly datagram: Buffer;
}

const datagramOf = (length: number, seed: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => at * 7 + seed));

function encode(all: readonly Sent[]): Buffer {
  const out = Buffer.alloc(all.reduce((sum, { datagram }) => sum + RECORD_HEAD_BYTES + datagram.length, 0));
  let at = 0;
  for (const { flow, datagram } of all) at = writeRecord(out, at, flow, datagram, 0, datagram.length);
  assert.equal(at, out.length);
  return out;
}

/** A reader, and copies of what it gave: the ranges are valid in the callback alone. */
function reading(): { readonly got: Sent[]; readonly onRecord: OnRecord } {
  const got: Sent[] = [];
  return {
    got,
    onRecord: (flow, bytes, start, end) => got.push({ flow, datagram: Buffer.from(bytes.subarray(start, end)) }),
  };
}

const SAMPLES: readonly Sent[] = [
  { flow: 1, datagram: datagramOf(3, 1) },
  { flow: 0xffff_ffff, datagram: Buffer.alloc(0) },
  { flow: 0x8000_0000, datagram: datagramOf(1, 2) },
  { flow: 0, datagram: Buffer.of(0) },
  { flow: 0x0102_0304, datagram: datagramOf(9, 3) },
];

test('records of a packet come out as they went in, with their flows and lengths, the empty one too', () => {
  const packet = Buffer.concat([Buffer.from('before'), encode(SAMPLES), Buffer.from('behind')]);
  const { got, onRecord } = reading();
  assert.equal(readRecords(packet, 6, packet.length - 6, onRecord), true);
  assert.deepEqual(got, SAMPLES);
});

test('a packet that is cut is malformed unless it is cut between two records; those before the cut are given', () => {
  const packet = encode(SAMPLES);
  const ends = new Set(SAMPLES.map((_, i) => encode(SAMPLES.slice(0, i + 1)).length));
  for (let end = 0; end < packet.length; end++) {
    const { got, onRecord } = reading();
    assert.equal(readRecords(packet, 0, end, onRecord), ends.has(end), `cut at ${end}`);
    assert.deepEqual(got, SAMPLES.slice(0, [...ends].filter((whole) => whole <= end).length));
  }
});

test('a stream of records gives the same wherever it is cut: every pair of cuts, and byte by byte', () => {
  const stream = encode(SAMPLES);
  const check = (cuts: readonly number[]): void => {
    const { got, onRecord } = reading();
    const reader = new RecordReader(onRecord);
    let from = 0;
    for (const to of [...cuts, stream.length]) {
      // A buffer of its own that is gone afterwards: what is kept must have been copied.
      const chunk = Buffer.concat([Buffer.from('x'), stream.subarray(from, to)]);
      assert.equal(reader.read(chunk, 1, chunk.length), true);
      chunk.fill(0xee);
      from = to;
    }
    assert.deepEqual(got, SAMPLES, `cut at ${cuts.join(', ')}`);
  };
  for (let first = 0; first <= stream.length; first++) {
    for (let second = first; second <= stream.length; second++) check([first, second]);
  }
  check([...stream.keys()]);
});

test('the longest datagram passes in pieces, and the next record behind it', () => {
  const all = [
    { flow: 5, datagram: datagramOf(MAX_DATAGRAM_BYTES, 5) },
    { flow: 6, datagram: datagramOf(4, 6) },
  ];
  const stream = encode(all);
  for (const size of [1_000, 16_384, 65_536]) {
    const { got, onRecord } = reading();
    const reader = new RecordReader(onRecord);
    for (let at = 0; at < stream.length; at += size) reader.read(stream, at, Math.min(stream.length, at + size));
    assert.deepEqual(got, all);
  }
});

test('a length beyond what passes ends the stream, whole or in pieces, and nothing is taken after it', () => {
  const head = Buffer.from([0, 0, 0, 1, 0xff, 0xff]);
  assert.ok(MAX_DATAGRAM_BYTES < 0xffff);
  for (let cut = 0; cut <= head.length; cut++) {
    const { got, onRecord } = reading();
    const reader = new RecordReader(onRecord);
    const stream = Buffer.concat([encode(SAMPLES), head]);
    const at = stream.length - head.length + cut;
    assert.equal(reader.read(stream, 0, at) && reader.read(stream, at, stream.length), false);
    assert.equal(reader.read(encode(SAMPLES), 0, 9), false);
    assert.deepEqual(got, SAMPLES);
  }
  assert.equal(
    readRecords(Buffer.concat([head, Buffer.alloc(0xffff)]), 0, head.length + 0xffff, () => assert.fail()),
    false,
  );
});

test('a reader whose record was not taken is lost, and says so', () => {
  const reader = new RecordReader(() => {
    throw new Error('not taken');
  });
  const stream = encode(SAMPLES);
  assert.throws(() => reader.read(stream, 0, stream.length));
  assert.equal(reader.read(stream, 0, stream.length), false);
});
