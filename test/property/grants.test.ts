// group: fuzz
/** The short form of grants.fuzz.ts: a fixed seed. */
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { runGrants } from './grants.ts';
import { anySteps } from './grants-steps.ts';
import { makeTemplate, removeTemplate, type Template } from './grants-fixture.ts';

let template: Template;
before(async () => {
  template = await makeTemplate();
});
after(() => removeTemplate(template));

// Twenty seconds of work, on a machine that may be busy with other tests.
test('120 sequences of up to 40 steps leave no live session without a valid grant', { timeout: 300_000 }, async () => {
  const property = fc.asyncProperty(anySteps(40), (steps) => runGrants(template, steps));
  await fc.assert(property, { numRuns: 120, seed: 1 });
});
