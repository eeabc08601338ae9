/** What is compared of two outcomes, and what is chance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, isEndedBefore } from './compare.ts';
import type { Exchange } from './exchange.ts';
import { REASONS } from './reasons.ts';
import type { Seen } from './service.ts';
import type { Outcome } from './side.ts';

const EXCHANGE: Exchange = {
  stream: 1,
  key: '1.0',
  head: [[':method', 'FOO']],
  isHead: false,
  trailers: null,
  isUnended: false,
  opening: [],
  rest: [],
  bodyBytes: 10,
  isReset: false,
  isEarly: false,
};
const WRONG: Exchange = { ...EXCHANGE, head: [['content-length', '9']] };
const WRONG_BEHIND: Exchange = { ...EXCHANGE, trailers: [['content-length', '9']] };
const RIGHT: Exchange = { ...EXCHANGE, head: [['content-length', '10']] };

const STATUS: Outcome['heads'][number] = [[':status', '200']];

const REFUSED: Seen = { head: 'bad: FOO / HTTP/1.1', bodyBytes: 0, trailers: '', end: 'cut', isRefused: true };

function outcome(end: string, seen?: Seen): Outcome {
  return { seen, heads: [], bodyBytes: 0, end };
}

test('compare: of a request that the service could not read the head alone', () => {
  assert.equal(compare(EXCHANGE, outcome('whole', REFUSED), outcome('reset 1', REFUSED)), null);
  const other = { ...REFUSED, head: 'bad: BAR / HTTP/1.1' };
  assert.equal(compare(EXCHANGE, outcome('whole', REFUSED), outcome('whole', other))?.kind, 'head');
  assert.equal(compare(EXCHANGE, outcome('whole', REFUSED), outcome('whole'))?.kind, 'stricter');
  assert.equal(compare(EXCHANGE, outcome('whole'), outcome('whole', REFUSED))?.kind, 'looser');
  const { isRefused: _, ...read } = REFUSED;
  assert.equal(compare(EXCHANGE, outcome('whole', read), outcome('reset 1', read))?.kind, 'answer');
});

test('compare: of a request that is refused behind its head how its stream ends', () => {
  const cut: Seen = { head: 'POST /', bodyBytes: 0, trailers: '', end: 'cut' };
  const oracle: Outcome = { ...outcome('reset 1', cut), heads: [[[':status', '100']]] };
  assert.equal(compare(EXCHANGE, oracle, outcome('reset 1', cut)), null);
  assert.equal(compare(EXCHANGE, oracle, outcome('reset 2', cut))?.kind, 'answer');
  const whole: Seen = { ...cut, end: 'whole' };
  assert.equal(compare(EXCHANGE, { ...oracle, seen: whole }, outcome('reset 1', whole))?.kind, 'answer');
  assert.equal(compare(EXCHANGE, { ...oracle, end: 'whole' }, outcome('whole', cut))?.kind, 'answer');
});

test('compare: an end of the oracle that comes late is that of the exchange before', () => {
  for (const before of [WRONG, WRONG_BEHIND])
    for (const end of ['goaway 2', 'cut']) assert.equal(isEndedBefore(before, EXCHANGE, outcome(end)), true);
  assert.equal(isEndedBefore(RIGHT, EXCHANGE, outcome('goaway 2')), false);
  assert.equal(isEndedBefore(undefined, EXCHANGE, outcome('goaway 2')), false);
  assert.equal(isEndedBefore(WRONG, WRONG, outcome('goaway 2')), false, 'it has a fault of its own');
  for (const end of ['goaway 1', 'reset 2', 'whole'])
    assert.equal(isEndedBefore(WRONG, EXCHANGE, outcome(end)), false, end);
});

test('compare: refused trailers behind a whole body may lose against the answer, on either side', () => {
  const isExcused = (exchange: Exchange, oracle: Outcome, own: Outcome): boolean => {
    const difference = compare(exchange, oracle, own) ?? assert.fail('there is no difference');
    return REASONS.own.some(({ kinds, applies }) => kinds.includes(difference.kind) && applies(exchange, difference));
  };
  const seen: Seen = { head: 'POST /', bodyBytes: 10, trailers: '', end: 'whole' };
  const [reset, answered] = [outcome('reset 1', seen), { ...outcome('whole', seen), heads: [STATUS] }];
  const fine: Exchange = { ...RIGHT, trailers: [['x-sum', 'abc']] };
  const pseudo: Exchange = { ...RIGHT, trailers: [[':method', 'GET']] };
  for (const exchange of [{ ...fine, isUnended: true }, pseudo]) {
    assert.equal(isExcused(exchange, reset, answered), true);
    assert.equal(isExcused(exchange, answered, reset), true);
    assert.equal(isExcused(exchange, answered, outcome('reset 2', seen)), exchange === pseudo);
  }
  assert.equal(isExcused(fine, reset, answered), false);
  assert.equal(isExcused(fine, answered, reset), false);
});
