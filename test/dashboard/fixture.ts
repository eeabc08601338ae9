/**
 * The dashboard in a real browser, served by a real server of its own (harness/spawned.ts: from the source, or the built file in CULVERT_BIN).
 * One fixture per test file; each test opens tabs of its own. What the page's policy refuses or its code throws fails the test (harness/chromium.ts).
 */
import assert from 'node:assert/strict';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { NO_CHROMIUM, openTab, sharedChromium } from '../harness/chromium.ts';
import type { Ends } from '../harness/ends.ts';
import { type SpawnedCulvert, type SpawnOptions, spawnCulvert } from '../harness/spawned.ts';

export { NO_CHROMIUM };

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export interface Person {
  readonly email: string;
  readonly password: string;
}

export interface TabOptions {
  /** The signed-in user: the first owner by default, none when null. */
  readonly as?: Person | null;
  readonly context?: BrowserContextOptions;
}

export interface Fixture {
  readonly culvert: SpawnedCulvert;
  readonly browser: Browser;
  readonly owner: Person;
  /** Opens `/app<path>` in a tab of its own, at desktop size, and ends it with the test. */
  open(ends: Ends, path: string, options?: TabOptions): Promise<Page>;
  /** A new account with an organization of its own, approved; its password works at once. */
  person(email: string): Promise<Person>;
}

/** `ends`: of the suite, made where the suite is (`inReverse({ after })`), for a hook's own end with the hook. */
export async function startFixture(ends: Ends, options: SpawnOptions = {}): Promise<Fixture> {
  const [culvert, browser] = await Promise.all([spawnCulvert(ends, options), sharedChromium(ends)]);
  const owner = { email: 'admin@localhost', password: culvert.password };
  return {
    culvert,
    browser,
    owner,
    open: (t, path, { as = owner, context: settings } = {}) => open({ culvert, browser, t, path, as, settings }),
    person: async (email) => {
      const { status, body } = await culvert.account.call('POST', '/superadmin/users', { email });
      assert.equal(status, 201, JSON.stringify(body));
      return { email, password: String(body['password']) };
    },
  };
}

interface Opening {
  readonly culvert: SpawnedCulvert;
  readonly browser: Browser;
  readonly t: Ends;
  readonly path: string;
  readonly as: Person | null;
  readonly settings: BrowserContextOptions | undefined;
}

async function open({ culvert, browser, t, path, as, settings }: Opening): Promise<Page> {
  // Transitions show axe half-transparent text, and tests half-open menus.
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...settings });
  if (as !== null) {
    const { email, password } = as;
    const answer = await context.request.post(`${culvert.apiUrl}/auth/login`, { data: { email, password } });
    assert.equal(answer.status(), 200, await answer.text());
  }
  const page = await openTab(t, context);
  await page.goto(`${culvert.apiUrl}/app${path}`);
  return page;
}

/** The page's heading, once it is there. */
export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

/** The page has its heading, and nothing of it waits for the API any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.getByLabel('Loading', { exact: true }).first().waitFor({ state: 'detached' });
}

/**
 * Evaluated in a page: until nothing of it has moved, or changed its colour, for two frames. What inherits a colour that changes begins to change when that
 * is over, each level in its turn. What turns for ever is let be.
 */
const STILL = `(async () => {
  const isFinite = ({ effect }) => effect.getComputedTiming().endTime !== Infinity;
  for (let round = 0, still = 0; round < 200 && still < 2; round += 1) {
    const moving = document.getAnimations().filter(isFinite);
    still = moving.length === 0 ? still + 1 : 0;
    await Promise.allSettled(moving.map(({ finished }) => finished));
    await new Promise(requestAnimationFrame);
  }
})()`;

/** Fails when axe-core finds a serious or critical fault in the page, once all in it stands still; `rules`: these alone. */
export async function noSeriousFinding(page: Page, rules?: readonly string[]): Promise<void> {
  // Brought once per document and asked for violations alone: a quarter of the time that its package for Playwright takes.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules !== undefined && { runOnly: { type: 'rule', values: [...rules] } }),
  };
  await page.evaluate(STILL);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const told = serious.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  );
  assert.deepEqual(told, [], `${page.url()}: ${told.length} findings`);
}

/** A picture in the folder of CULVERT_SCREENSHOTS, when there is one. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['CULVERT_SCREENSHOTS'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
