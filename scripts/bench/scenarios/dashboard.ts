/**
 * How soon the dashboard is there, in a browser with an empty cache: until a logged-out user can type, and until a logged-in user sees the page
 * with data of the API. Over loopback, in Debian's Chromium.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Bench } from '../bench.ts';
import { type CulvertServer, culvertBuild, startServer } from '../culvert.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';

const NAME = 'dashboard';
const CHROMIUM = process.env['CULVERT_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
/** A browser's first page waits for the browser. */
const WARM_UPS = 1;

const WAYS = { stranger: 'the way in, to type', member: 'signed in, with answers' } as const;
type Way = keyof typeof WAYS;

/** What is looked for in the page, at each frame. */
const THERE: Readonly<Record<Way, string>> = {
  stranger: `document.querySelector('form input:enabled') !== null`,
  member: `document.querySelector('h1')?.textContent === 'Overview' && document.querySelector('main [aria-label="Loading"]') === null`,
};

/**
 * Run in the page before anything of it: `window.there` is the time of the first frame that shows it, in milliseconds since the navigation began. Told by
 * the page's own clock: a driver's looks at the page come up to half a second late, and their code would be measured with it.
 */
function watchFor(condition: string): string {
  return `window.there = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('the page did not come within 30 s')), 30_000);
    const look = () => { if (${condition}) requestAnimationFrame(() => resolve(performance.now())); else requestAnimationFrame(look); };
    requestAnimationFrame(look);
  });`;
}

const ADDRESS = 'user@example.test';

/** What was there takes what is typed, and keeps it. */
async function typeIn(page: Page): Promise<void> {
  const field = page.getByLabel('E-mail address');
  await field.pressSequentially(ADDRESS);
  const value = await field.inputValue();
  if (value !== ADDRESS) throw new Error(`the field that was ready holds "${value}"`);
}

/** Measures and keeps the medians in milliseconds under `dashboard`; the text is the table for the report. */
export async function measureDashboard(bench: Bench): Promise<string> {
  const { options, processes, results } = bench;
  const server = await startServer(processes, culvertBuild(options), { name: 'server-dashboard' });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const times: Record<Way, number[]> = { stranger: [], member: [] };
  let kilobytes = 0;
  try {
    for (let round = -WARM_UPS; round < options.rounds; round++) {
      for (const way of ['stranger', 'member'] as const) {
        const visit = await visitOnce(browser, server, way);
        if (round < 0) continue;
        times[way].push(visit.ms);
        if (way === 'stranger') kilobytes = visit.kilobytes;
        say(`dashboard ${round + 1}/${options.rounds} ${WAYS[way]}: ${number(visit.ms, 0)} ms`);
      }
    }
  } finally {
    await browser.close();
    await processes.stopAll();
  }
  const rows = (['stranger', 'member'] as const).map((way) => {
    const ms = median(times[way]) ?? Number.NaN;
    results.addSingle(NAME, way, ms);
    return [WAYS[way], number(ms, 0), number(Math.max(...times[way]), 0)];
  });
  const table = align([['dashboard, from nothing (ms)', 'median', 'slowest'], ...rows]);
  return `${table.join('\n')}\n\n${number(kilobytes, 0)} KB came over the line for the way in`;
}

/** Before anything of the page is there: how long it took and how much came, from the browser's own records. */
async function visitOnce(
  browser: Browser,
  server: CulvertServer,
  way: Way,
): Promise<{ ms: number; kilobytes: number }> {
  const api = `http://127.0.0.1:${server.apiPort}`;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    if (way === 'member') {
      const data = { email: 'admin@localhost', password: server.password };
      const answer = await context.request.post(`${api}/auth/login`, { data });
      if (!answer.ok()) throw new Error(`log-in answered ${answer.status()}`);
    }
    await context.addInitScript(watchFor(THERE[way]));
    const page = await context.newPage();
    await page.goto(`${api}/app/`, { waitUntil: 'commit' });
    const ms = await page.evaluate<number>('window.there');
    if (way === 'stranger') await typeIn(page);
    const bytes = await page.evaluate<number>(
      'performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)',
    );
    return { ms, kilobytes: bytes / 1000 };
  } finally {
    await context.close();
  }
}
