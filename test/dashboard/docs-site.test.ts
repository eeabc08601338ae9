// group: browser
/** The documentation in a browser: without another host, readable on a phone, no serious finding of axe-core, and a search that works by keyboard. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readPages } from '../../scripts/docs/pages.ts';
import { inReverse } from '../harness/ends.ts';
import { DESKTOP, NO_CHROMIUM, noSeriousFinding, PHONE, startFixture, type Fixture } from './fixture.ts';

const SLUGS = [...readPages().map(({ slug }) => slug), 'changelog', 'security-policy'];
const PARTS = 3;

suite('documentation', { timeout: 500_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  const open = async (t: Parameters<Fixture['open']>[0], slug: string): Promise<Page> => {
    const page = await fixture.open(t, '/', { as: null });
    await page.goto(`${fixture.culvert.apiUrl}/docs/${slug}`);
    return page;
  };

  for (let part = 0; part < PARTS; part += 1) {
    test(`docs pages: readable, accessible and from this host alone, part ${part + 1} of ${PARTS}`, async (t) => {
      const page = await open(t, '');
      const asked = new Set<string>();
      page.on('request', (request) => asked.add(new URL(request.url()).origin));
      const wrong: string[] = [];
      for (const slug of SLUGS.filter((_, i) => i % PARTS === part)) {
        await page.setViewportSize(DESKTOP);
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(`${fixture.culvert.apiUrl}/docs/${slug}`);
        const note = (error: Error): unknown => wrong.push(`${slug}: ${error.message}`);
        await noSeriousFinding(page).catch(note);
        await page.emulateMedia({ colorScheme: 'dark' });
        await noSeriousFinding(page, ['color-contrast', 'link-in-text-block']).catch(note);
        await page.setViewportSize(PHONE);
        if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) wrong.push(`${slug}: too wide`);
      }
      assert.deepEqual(wrong, []);
      assert.deepEqual(
        [...asked].filter((origin) => origin !== fixture.culvert.apiUrl && origin !== 'null'),
        [],
      );
    });
  }

  test('docs search: a keyboard user finds a section and opens it', async (t) => {
    const page = await open(t, 'install');
    await page.keyboard.press('/');
    await page.keyboard.type('ip restrictions');
    await page.getByRole('list', { name: 'Results' }).getByRole('link').first().waitFor();
    await noSeriousFinding(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${fixture.culvert.apiUrl}/docs/policies`);
    await page.getByRole('heading', { level: 1, name: 'Traffic policies' }).waitFor();
  });

  test('docs search: no result and Escape', async (t) => {
    const page = await open(t, '');
    const input = page.getByRole('searchbox', { name: 'Search the documentation' });
    await input.fill('zzzzqqq');
    await page.getByText('No results').waitFor();
    await input.press('Escape');
    assert.equal(await input.inputValue(), '');
  });

  test('dashboard: each page links its documentation', async (t) => {
    const page = await fixture.open(t, '/tunnels');
    const link = page.getByRole('link', { name: 'Help' });
    const href = await link.getAttribute('href');
    assert.equal(new URL(href ?? '', page.url()).pathname, '/docs/agents');
  });
});
