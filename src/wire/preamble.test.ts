/** What opens a data stream: who the visitor is must be right at the agent whatever else the session carries meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePreamble, encodePreamble, encodeRoutePreamble, PREAMBLE_MAX, type VisitorAddress } from './preamble.ts';

const IPV4: VisitorAddress = { family: 4, bytes: Uint8Array.of(203, 0, 113, 7), port: 65_535 };
const IPV6: VisitorAddress = { family: 6, bytes: Uint8Array.from({ length: 16 }, (_, at) => at * 17), port: 1 };

for (const [name, visitor] of [
  ['no visitor', undefined],
  ['IPv4', IPV4],
  ['IPv6', IPV6],
] as const) {
  test(`a preamble with ${name} is read as it was written, and asks for more wherever it is cut`, () => {
    const bytes = Buffer.concat([Buffer.from('xx'), encodePreamble(0xabcd, visitor)]);
    const size = bytes.length - 2;
    assert.ok(size <= PREAMBLE_MAX);
    assert.deepEqual(decodePreamble(bytes, 2, bytes.length), { slot: 0xabcd, visitor, size });
    for (let end = 2; end < bytes.length; end++) assert.equal(decodePreamble(bytes, 2, end), 'more');
  });
}

test('a preamble with a route is read as it was written, and asks for more wherever it is cut', () => {
  const bytes = encodeRoutePreamble(0xabcd, 31);
  assert.deepEqual(decodePreamble(bytes, 0, 6), { slot: 0xabcd, visitor: undefined, route: 31, size: 6 });
  for (let end = 0; end < 6; end++) assert.equal(decodePreamble(bytes, 0, end), 'more');
});

test("the visitor's address outlives the buffer that it was read from", () => {
  const bytes = encodePreamble(1, IPV4);
  const preamble = decodePreamble(bytes, 0, bytes.length);
  bytes.fill(0x0a);
  assert.ok(typeof preamble === 'object');
  assert.deepEqual(preamble.visitor, IPV4);
});
