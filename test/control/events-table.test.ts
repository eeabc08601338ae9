/** docs/contributing/events.md shows which slices handle each event, in the order in which their handlers run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Plane } from '../../src/control/core/testing/plane.ts';
import type { Slice } from '../../src/control/core/slice.ts';
import { SLICES } from '../../src/control/open.ts';
import { tableUnder } from '../harness/docs.ts';

test('docs/contributing/events.md: events and the slices that handle them', () => {
  const plane = new Plane();
  const handled = new Map<string, string[]>();
  for (const slice of SLICES as readonly Slice<unknown>[]) {
    for (const { event } of slice.on?.(plane.control.slices.use(slice)) ?? []) {
      const { name } = event as { name: string };
      handled.set(name, [...(handled.get(name) ?? []), slice.name]);
    }
  }
  plane.close();
  const page = readFileSync(new URL('../../docs/contributing/events.md', import.meta.url), 'utf8');
  const shown = tableUnder(page, 'Handlers').map(([name, , slices]) => [name, slices]);
  assert.deepEqual(
    shown,
    [...handled].map(([name, slices]) => [name, slices.join(', ')]),
  );
});
