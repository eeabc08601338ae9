/** Heads that come again: what is kept of the last one must never show in another. Each is compared with what an encoder or decoder without memory says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseResponseHead } from '../http1/head.ts';
import { Decoder } from './decoder.ts';
import { Encoder } from './encoder.ts';
import { HeadScratch } from './request-head.ts';
import { blockOf, bytesOf, type Field, fieldsOf, indexed, LIMITS, LITERAL } from './testing.ts';

const NOTHING = Buffer.alloc(0);

/** A repeatable series of numbers below `n`. */
function series(seed: number): (n: number) => number {
  let state = seed;
  return (n) => ((state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) >>> 8) % n;
}

/** A head of one of each kind that matters, with spans that are left out. Few enough that the same comes twice in a row often. */
function response(random: (n: number) => number): { bytes: Buffer; head: Head; added: Buffer } {
  const lines = [
    `HTTP/1.1 ${[200, 201, 205, 404, 418][random(5)]} x`,
    `Content-Type: text/${['css', 'xml'][random(2)]}`,
    ...(random(3) === 0 ? [`Set-Cookie: ${'ab'[random(2)]}=1; Domain=x`] : []),
    ...(random(4) === 0 ? [`X-New: ${random(1_000)}`] : []),
    `Content-Length: ${random(2)}`,
    `X-Drop: ${random(2)}`,
  ];
  const text = `${lines.join('\r\n')}\r\n\r\n`;
  const before = '@'.repeat(random(3));
  const bytes = Buffer.from(before + text);
  const head = new Head();
  assert.equal(parseResponseHead(bytes, before.length, bytes.length, head), bytes.length);
  const drop = bytes.indexOf('X-Drop');
  const kind = random(3);
  if (kind === 0) head.drop(drop, bytes.length - 2);
  if (kind === 1) head.drop(bytes.length - 5, bytes.length - 4);
  return { bytes, head, added: random(3) === 0 ? Buffer.from(`X-Added: ${random(3)}\r\n`) : NOTHING };
}

test('repeated responses: each block means what it would without memory', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = series(seed);
    const [encoder, decoder, out] = [new Encoder(), new Decoder(), Buffer.alloc(5_000)];
    let last = response(random);
    for (let round = 0; round < 400; round++) {
      if (random(2) === 0) last = response(random);
      if (random(40) === 0) encoder.limit([0, 60, 4_096][random(3)] as number);
      const fresh = new Encoder();
      const end = encoder.response(last.bytes, last.head, last.added, out, 0, out.length);
      const fields = fieldsOf(Buffer.from(out.subarray(0, end)), decoder);
      const wantedEnd = fresh.response(last.bytes, last.head, last.added, out, 0, out.length);
      assert.deepEqual(fields, fieldsOf(out.subarray(0, wantedEnd)), `seed ${seed}, round ${round}`);
      assert.equal(encoder.counted, fresh.counted);
    }
  }
});

const NAMED = Buffer.concat([2, 7].map(indexed));
const STARTS: readonly Buffer[] = [
  Buffer.concat([NAMED, indexed(4)]),
  Buffer.concat([indexed(3), indexed(7), indexed(4)]),
  Buffer.concat([blockOf([[':method', 'HEAD']]), indexed(7), indexed(4)]),
  // Refused: no path, and two methods.
  NAMED,
  Buffer.concat([NAMED, indexed(2), indexed(4)]),
];
const RESTS: ReadonlyArray<readonly Field[]> = [
  [],
  [['priority', 'u=1, i']],
  [['content-length', '3']],
  [['cookie', 'a=1']],
  [['te', 'gzip']],
];

/** All that a user reads of a head. */
function read(head: HeadScratch): unknown {
  const { lines, wireBytes, reason, isTooLarge, isHead, isWebsocket, contentLength, websocketAccept, priority } = head;
  const text = head.bytes.toString('latin1', head.start, head.end);
  return [
    text,
    lines,
    wireBytes,
    reason,
    isTooLarge,
    isHead,
    isWebsocket,
    contentLength,
    websocketAccept,
    { ...priority },
  ];
}

test('repeated requests: each head is what it would be without memory', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = series(seed);
    const [decoder, plain] = [new Decoder(), new Decoder()];
    const [head, wanted] = [new HeadScratch(LIMITS), new HeadScratch(LIMITS)];
    const block = (): Buffer =>
      Buffer.concat([
        random(60) === 0 ? bytesOf('203fe11f') : NOTHING,
        STARTS[random(STARTS.length)] as Buffer,
        blockOf(RESTS[random(RESTS.length)] as readonly Field[], random(4) === 0 ? LITERAL.indexing : LITERAL.plain),
        random(4) === 0 ? indexed(62) : NOTHING,
      ]);
    let last = block();
    let isWhole = true;
    for (let round = 0; round < 400; round++) {
      if (random(3) === 0) last = block();
      if (random(6) === 0) isWhole = !isWhole;
      const isGood = plain.decode(last, 0, last.length, wanted);
      assert.equal(decoder.request(last, 0, last.length, isWhole, head), isGood);
      if (!isGood) continue;
      wanted.finish(isWhole, last.length);
      assert.deepEqual(read(head), read(wanted), `seed ${seed}, round ${round}`);
    }
  }
});
