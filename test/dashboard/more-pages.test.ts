// group: browser
/** Every page as a viewer sees it. Beside all-pages.test.ts, which is slow. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { type Seeded, startSeeded } from './seeded.ts';
import { NO_CHROMIUM, settled } from './fixture.ts';

suite('every page for a viewer', { timeout: 200_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let seeded: Seeded;
  before(async () => {
    seeded = await startSeeded(ends);
  });

  test('every page: a viewer is refused no request that a page makes by itself', async (t) => {
    const page = await seeded.open(t, '/', { as: seeded.viewer });
    await page.getByRole('button', { name: /^Organization/ }).click();
    await page.getByRole('menuitem', { name: /viewer/ }).click();
    await page.getByRole('link', { name: 'shop' }).first().waitFor();
    const wrong: string[] = [];
    page.on('response', (answer) => {
      if (answer.status() === 403) wrong.push(`${page.url()}: ${answer.url()} was refused`);
    });
    const places = seeded.places.filter(({ as, name }) => as === undefined && !name.startsWith('operator-'));
    for (const { name, path } of places) {
      await page.goto(`${seeded.culvert.apiUrl}/app${path}`);
      await settled(page);
      for (const said of await page.getByRole('alert').allInnerTexts()) wrong.push(`${name}: ${said}`);
    }
    assert.deepEqual(wrong, []);
  });
});
