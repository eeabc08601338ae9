/**
 * Every page of a server with something of everything: it stands without a fault of its own (harness/chromium.ts), axe-core finds nothing serious in
 * light and dark, nothing is wider than a phone, and no other host is asked.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inReverse } from '../harness/ends.ts';
import { type Place, type Seeded, startSeeded } from './seeded.ts';
import { DESKTOP, NO_CHROMIUM, noSeriousFinding, PHONE, settled } from './world.ts';

suite('every page', { timeout: 300_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let seeded: Seeded;
  before(async () => {
    seeded = await startSeeded(ends);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe-core finds nothing serious: ${colorScheme}`, async (t) => {
      await forEachPlace(t, { colorScheme, viewport: DESKTOP }, noSeriousFinding);
    });
  }

  test('on a phone nothing is wider than the window, nor out of reach', async (t) => {
    await forEachPlace(t, { viewport: PHONE, hasTouch: true }, async (page, { name }) => {
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
      await noSeriousFinding(page);
    });
  });

  type Context = NonNullable<NonNullable<Parameters<Seeded['open']>[2]>['context']>;

  async function forEachPlace(
    t: { after: (close: () => unknown) => void },
    context: Context,
    look: (page: Page, place: Place) => Promise<void>,
  ): Promise<void> {
    const wrong: string[] = [];
    for (const stranger of [true, false]) {
      const page = await seeded.open(t, '/', { context, as: stranger ? null : seeded.owner });
      const asked = new Set<string>();
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      for (const place of seeded.places.filter((one) => (one.stranger === true) === stranger)) {
        await page.goto(`${seeded.culvert.apiUrl}/app${place.path}`);
        await settled(page);
        await look(page, place).catch((error: Error) => wrong.push(`${place.name}: ${error.message}`));
      }
      assert.deepEqual(
        [...asked].filter((origin) => origin !== seeded.culvert.apiUrl && origin !== 'null'),
        [],
      );
    }
    assert.deepEqual(wrong, []);
  }
});
