// group: browser
/**
 * Every page of a server with something of everything: it stands without a fault of its own (harness/chromium.ts), axe-core finds nothing serious in
 * light and dark, nothing is wider than a phone, and no other host is asked.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { untilTrue } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';
import { type Seeded, startSeeded, whoIs } from './seeded.ts';
import { DESKTOP, NO_CHROMIUM, noSeriousFinding, PHONE, settled } from './fixture.ts';

/** What another scheme can change. The whole of axe takes a second per page. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
/** What a small window can change. */
const OF_LAYOUT = [
  'aria-hidden-focus',
  'aria-required-children',
  'aria-required-parent',
  'button-name',
  'label',
  'link-name',
];

/** Evaluated in the page: until what was changed is on the screen. */
const PAINTED = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

suite('every page', { timeout: 500_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let seeded: Seeded;
  before(async () => {
    seeded = await startSeeded(ends);
  });

  const parts = [
    ['stranger', 1, 1],
    ['newcomer', 1, 1],
    ...[1, 2, 3, 4].map((part) => ['owner', part, 4] as const),
  ] as const;
  for (const [who, part, of] of parts) {
    const which = of === 1 ? '' : `, part ${part} of ${of}`;
    test(`every page: no serious axe-core finding, and all fits a phone, for the ${who}${which}`, async (t) => {
      const page = await seeded.open(t, '/', { as: whoIs(seeded, who), context: { hasTouch: true } });
      const asked = new Set<string>();
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      const wrong: string[] = [];
      const places = seeded.places.filter(({ as = 'owner' }) => as === who);
      const each = Math.ceil(places.length / of);
      for (const place of places.slice((part - 1) * each, part * each)) {
        await page.setViewportSize(DESKTOP);
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(`${seeded.culvert.apiUrl}/app${place.path}`);
        await settled(page);
        for (const look of [inLight, inDark, onPhone])
          await look(page).catch((error: Error) => wrong.push(`${place.name}: ${error.message}`));
      }
      assert.deepEqual(wrong, []);
      assert.deepEqual(
        [...asked].filter((origin) => origin !== seeded.culvert.apiUrl && origin !== 'null'),
        [],
      );
    });
  }
});

const inLight = (page: Page): Promise<void> => noSeriousFinding(page);

async function inDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.evaluate(PAINTED);
  await noSeriousFinding(page, OF_COLOURS);
}

async function onPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  await page.evaluate(PAINTED);
  // Charts and lists measure the window, and draw themselves anew.
  await untilTrue(page, 'document.documentElement.scrollWidth <= innerWidth');
  await noSeriousFinding(page, OF_LAYOUT);
}
