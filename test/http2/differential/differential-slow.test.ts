// group: slow
/** A hundred thousand exchanges, from a seed that is printed: the long form of differential.test.ts. */
import { after, before, test } from 'node:test';
import { inReverse } from '../../harness/ends.ts';
import { ENGINE } from '../engines.ts';
import { REASONS } from './reasons.ts';
import { openSides, runDifferential, type Sides } from './run.ts';

const WITHIN = { timeout: 280_000 };
const PARTS = 50;
const EXCHANGES_PER_PART = 2_000;
const firstSeed = Date.now() % 1_000_000_000;

let sides: Sides;
const ends = inReverse({ after });
before(async () => {
  sides = await openSides(ends, ENGINE);
});

for (let part = 0; part < PARTS; part++) {
  // A conversation has at least one exchange: parts do not overlap.
  const seed = firstSeed + part * EXCHANGES_PER_PART;
  test(
    `differential: 2,000 exchanges differ by nothing but named reasons (${part + 1} of ${PARTS})`,
    WITHIN,
    async (t) => {
      const { excused } = await runDifferential(sides, REASONS[ENGINE], seed, EXCHANGES_PER_PART);
      t.diagnostic(`from seed ${seed}; ${JSON.stringify(Object.fromEntries(excused))}`);
    },
  );
}
