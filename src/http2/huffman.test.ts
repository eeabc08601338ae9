import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHuffman } from './huffman.ts';

/** What a string of these bits, whole bytes, stands for; null: it is none. */
function decoded(bits: string): string | null {
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const out = Buffer.alloc(2 * bytes.length + 1);
  const end = decodeHuffman(bytes, 0, bytes.length, out, 0);
  return end < 0 ? null : out.toString('latin1', 0, end);
}

const padded = (bits: string): string => bits + '1'.repeat((8 - (bits.length % 8)) % 8);

/** The code of each symbol, found by walking the tree of codes: bits are a code when the five zeros behind them stand for a 0. */
function codes(): Map<string, string> {
  const found = new Map<string, string>();
  let open = ['0', '1'];
  for (let length = 1; length <= 30; length++) {
    const rest: string[] = [];
    for (const bits of open) {
      const text = length < 5 ? null : decoded(padded(`${bits}00000`));
      if (text?.length === 2 && text[1] === '0') found.set(text[0] as string, bits);
      else rest.push(bits);
    }
    open = rest.flatMap((bits) => [`${bits}0`, `${bits}1`]);
  }
  return found;
}

const CODES = codes();

test('huffman: each of the 256 symbols is decoded with any padding that is allowed, and with no other', () => {
  assert.equal(CODES.size, 256);
  // RFC 7541 Appendix B.
  const known = {
    '0': '00000',
    a: '00011',
    ' ': '010100',
    '!': '1111111000',
    '~': '1111111111101',
    '\\': '1111111111111110000',
  };
  for (const [symbol, bits] of Object.entries(known)) assert.equal(CODES.get(symbol), bits, symbol);
  assert.equal(CODES.get('\0'), '1111111111000');
  assert.equal(CODES.get('\n'), `${'1'.repeat(28)}00`);
  assert.equal(CODES.get('\x16'), `${'1'.repeat(28)}10`);
  assert.equal(CODES.get('\xff'), `${'1'.repeat(20)}101110`);
  for (const [symbol, bits] of CODES) {
    // Eight symbols of each: ends at each of the eight bits.
    for (let times = 1; times <= 8; times++) {
      const all = bits.repeat(times);
      const pad = (8 - (all.length % 8)) % 8;
      assert.equal(decoded(all + '1'.repeat(pad)), symbol.repeat(times), JSON.stringify(symbol));
      assert.equal(decoded(all + '1'.repeat(pad + 8)), null, 'a padding of 8 bits or more');
      assert.equal(decoded(all + '1'.repeat(pad + 16)), null);
      for (let zero = 0; zero < pad; zero++) {
        const text = decoded(`${all}${'1'.repeat(zero)}0${'1'.repeat(pad - zero - 1)}`);
        // A zero may make another symbol, of five to seven bits, never nothing.
        assert.ok(text === null || text.length > times, JSON.stringify(symbol));
      }
    }
  }
});

test('huffman: EOS is refused wherever it stands, and so is half a code', () => {
  const eos = '1'.repeat(30);
  assert.equal(decoded(padded(eos)), null);
  for (const symbol of ['a', '~', '\n', '\xff']) {
    const bits = CODES.get(symbol) as string;
    assert.equal(decoded(padded(bits + eos)), null);
    assert.equal(decoded(padded(eos + bits)), null);
    assert.equal(decoded(padded(bits + eos + bits)), null);
  }
  assert.equal(decoded('00000000'), null, 'a symbol, and three zeros');
  assert.equal(decoded('11111111'), null);
  assert.equal(decoded(''), '');
});

test('huffman: texts of any symbols come back', () => {
  let seed = 1;
  const random = (n: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff) % n;
  const symbols = [...CODES.keys()];
  for (let round = 0; round < 5_000; round++) {
    const common = random(2) === 0;
    const text = Array.from(
      { length: random(40) },
      () => (common ? 'aeio1/%-~' : symbols)[random(common ? 9 : 256)],
    ).join('');
    assert.equal(decoded(padded(Array.from(text, (symbol) => CODES.get(symbol)).join(''))), text);
  }
});
