/** Exchanges made by chance, on the engine under test and on node:http2: the same requests reach the service, the same answers the visitor. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rounds } from '../../../src/base/testing.ts';
import { inReverse } from '../../harness/ends.ts';
import { ENGINE } from '../engines.ts';
import type { Reason } from './compare.ts';
import { REASONS } from './reasons.ts';
import { openSides, runDifferential, type Sides } from './run.ts';
import type { Outcome } from './side.ts';

const WITHIN = { timeout: 120_000 };

let sides: Sides;
const ends = inReverse({ after });
before(async () => {
  sides = await openSides(ends, ENGINE);
});

const COUNT = rounds(250, 2_000);

test(`differential: ${COUNT} exchanges differ by nothing but named reasons`, WITHIN, async () => {
  const { exchanges, accepted } = await runDifferential(sides, REASONS[ENGINE], 1, COUNT);
  assert.ok(accepted > exchanges / 2 && accepted < exchanges * 0.95, `${accepted} of ${exchanges} were accepted`);
});

/** The same engine with one thing changed in each outcome that has it. */
function planted(change: (outcome: Outcome) => Outcome): Sides {
  const { oracle, own } = sides;
  return { oracle, own: { hold: async (conversation) => (await own.hold(conversation)).map(change) } };
}

const PLANTED: Readonly<Record<string, (outcome: Outcome) => Outcome>> = {
  looser: (of) => ({ ...of, seen: of.seen ?? { head: 'GET /', bodyBytes: 0, trailers: '', end: 'whole' } }),
  stricter: (of) => ({ ...of, seen: undefined }),
  head: (of) => (of.seen === undefined ? of : { ...of, seen: { ...of.seen, head: `${of.seen.head}\nx: y` } }),
  request: (of) => (of.seen === undefined ? of : { ...of, seen: { ...of.seen, bodyBytes: of.seen.bodyBytes + 1 } }),
  answer: (of) => (of.end === 'whole' ? { ...of, bodyBytes: of.bodyBytes + 1 } : of),
  hangs: (of) => ({ ...of, end: 'hangs' }),
};

/** Exchanges, of which some have what the change is made to. */
const PLANTED_IN = rounds(60, 200);

const KINDS = ['looser', 'stricter', 'milder', 'head', 'request', 'answer', 'hangs'] as const;

for (const [kind, change] of Object.entries(PLANTED)) {
  test(`differential: a planted difference (${kind}) is found`, WITHIN, async () => {
    const found = new Set<string>();
    // Others are found besides: where an engine refuses what the other accepts, a planted head is another head.
    const any: Reason = {
      ...{ name: 'any', kinds: KINDS, because: 'all are wanted' },
      applies: (_exchange, difference) => found.add(difference.kind).size > 0,
    };
    await runDifferential(planted(change), [any], 1, PLANTED_IN);
    assert.ok(found.has(kind), [...found].join());
  });
}

test('differential: a difference without a reason ends the run, and is explained', WITHIN, async () => {
  const change = PLANTED['answer'] as (outcome: Outcome) => Outcome;
  await assert.rejects(runDifferential(planted(change), [], 1, PLANTED_IN), /^Error: seed \d+, stream \d+: \w+\nhead /);
});
