/**
 * How soon the dashboard is there, in a browser that has nothing of it yet: until somebody who is not signed in can type, and until somebody who is
 * sees the page with the API's answers. Over loopback, in Debian's Chromium.
 */
import { type Browser, chromium } from 'playwright-core';
import type { Bench } from '../bench.ts';
import { type CulvertServer, culvertCommand, startServer } from '../culvert.ts';
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

/** Measures and keeps the medians in milliseconds under `dashboard`; the text is the table for the report. */
export async function measureDashboard(bench: Bench): Promise<string> {
  const { options, processes, results } = bench;
  const server = await startServer(processes, culvertCommand(options.culvert), { name: 'server-dashboard' });
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
    const page = await context.newPage();
    const started = performance.now();
    await page.goto(`${api}/app/`, { waitUntil: 'commit' });
    if (way === 'stranger') await page.getByLabel('E-mail address').fill('somebody@example.test');
    else {
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.getByLabel('Loading', { exact: true }).first().waitFor({ state: 'detached' });
    }
    const ms = performance.now() - started;
    const bytes = await page.evaluate<number>(
      'performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)',
    );
    return { ms, kilobytes: bytes / 1000 };
  } finally {
    await context.close();
  }
}
