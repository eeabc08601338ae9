import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from './cases.ts';
import { DryEdge } from './dry-edge.ts';
import { gather } from './neighbours.ts';

const GATHERINGS = Number(process.env['CULVERT_GATHERINGS'] ?? 3_000);

test(`${GATHERINGS} gatherings of visitors before a service that misbehaves: each gets its own answers`, (t) => {
  const edge = new DryEdge();
  t.after(() => edge.close());
  let [own, faults] = [0, 0];
  for (let seed = 0; seed < GATHERINGS; seed++) {
    try {
      const seen = gather(edge, randomOf(seed));
      own += seen.own;
      faults += seen.faults;
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  // All refused, or all well, would show nothing.
  assert.ok(own > GATHERINGS && faults > GATHERINGS / 4, `${own} own answers, ${faults} of the edge`);
});
