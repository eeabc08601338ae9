/**
 * A real browser for tests of pages: Chromium, without a window. Whatever a page's policy refuses, or its script throws, fails the
 * test that opened the page.
 */
import assert from 'node:assert/strict';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import type { LaneOrder } from '../../scripts/test/lane-events.ts';
import type { Ends } from './ends.ts';
import { findProgram } from './tools.ts';

/**
 * The one that the environment names, or the first of these in the PATH. The shell has no window to draw, nor the pages that a window is made of: the same
 * tests take half as long of the processor.
 */
const NAMED = process.env['CULVERT_CHROMIUM'];
const PROGRAMS = NAMED === undefined ? ['chromium-headless-shell', 'chromium'] : [NAMED];
const CHROMIUM = PROGRAMS.map(findProgram).find((path) => path !== undefined);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const WAIT_MS = 15_000;

/** For `skip` of a suite: why there is no browser here, or false. */
export const NO_CHROMIUM: string | false = CHROMIUM === undefined && `not installed: ${NAMED ?? 'chromium'}`;

/** One for this test alone; `flags`: besides the usual ones. */
export async function startChromium(ends: Ends, flags: readonly string[] = []): Promise<Browser> {
  const browser = await launch(flags);
  ends.after(() => browser.close());
  return browser;
}

let shared: Promise<Browser> | undefined;

/**
 * The one of all test files that run in this process one after the other (scripts/test/lane.ts): to start one takes a second of the processor. Each
 * test has a context of its own in it. It ends when there is no next file; without the runner it ends with `ends`.
 */
export async function sharedChromium(ends: Ends): Promise<Browser> {
  if (process.send === undefined) return startChromium(ends);
  if (shared === undefined || !(await shared).isConnected()) {
    shared = launch([]);
    const browser = await shared;
    process.on('message', ({ file }: LaneOrder) => {
      if (file === undefined) void browser.close();
    });
  }
  return shared;
}

function launch(flags: readonly string[]): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no Chromium');
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags] });
}

/** An empty tab: of a new browser, of the size of a phone, or of a used one. It ends with the test. */
export async function openTab(ends: Ends, of: Browser | BrowserContext): Promise<Page> {
  const context = 'newContext' in of ? await of.newContext({ viewport: { width: 390, height: 844 } }) : of;
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // A browser reports every answer of 4xx on its console; those are what some tests are about.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  ends.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  return page;
}

/**
 * Resolves once the expression is true in the page. Playwright's `waitForFunction` is an `eval` of the page from its second look on, which the page's
 * Content-Security-Policy forbids.
 */
export async function untilTrue(page: Page, expression: string, timeoutMs = 30_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while ((await page.evaluate(expression)) !== true) {
    assert.ok(performance.now() < endMs, `not true in ${timeoutMs} ms: ${expression}`);
    await page.waitForTimeout(50);
  }
}

/** The field of this label among those that are shown. */
export function field(page: Page, label: string): Locator {
  return page.getByLabel(label, { exact: true }).filter({ visible: true });
}

/** Presses the button of this name. */
export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await field(page, 'Email address').fill(email);
  await field(page, 'Password').fill(password);
  await press(page, 'Log in');
}

/** Evaluated in a page of a logged-in user: an access token of theirs. */
export const ACCESS_TOKEN = `fetch('/auth/refresh', { method: 'POST' }).then((answer) => answer.json()).then((body) => body.access_token)`;
