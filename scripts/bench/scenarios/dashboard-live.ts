/**
 * The dashboard's live list in Chromium while 200 requests a second come in: how even its frames are, what the page's thread has to do, and whether
 * its memory grows once the list is full. requestAnimationFrame times the frames; memory is read after a collection.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import type { Bench } from '../bench.ts';
import { culvertBuild, startAgent, startServer } from '../culvert.ts';
import { startOrigin } from '../peers.ts';
import { say } from '../report/progress.ts';
import { align, number } from '../report/tables.ts';

const NAME = 'dashboard-live';
const RATE = 200;
/** Until the list holds as many as it keeps (2,000). */
const FILL_SECONDS = 12;
/** At most a minute: the rounds and seconds of the options, multiplied. */
const MAX_SECONDS = 60;
const CHROMIUM = process.env['CULVERT_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** Evaluated in the page: times of frames from now on. */
const COUNT_FRAMES = `window.frames_ms = []; { let last = performance.now(); const next = (now) => { window.frames_ms.push(now - last); last = now; requestAnimationFrame(next); }; requestAnimationFrame(next); }`;

export async function measureDashboardLive(bench: Bench): Promise<string> {
  const { processes, tools, options, results } = bench;
  const seconds = Math.min(options.rounds * options.seconds * 4, MAX_SECONDS);
  const origin = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const server = await startServer(processes, culvertBuild(options), { name: 'server-dashboard' });
  const subject = await startAgent(processes, server, {
    originPort: origin.port,
    name: 'agent-dashboard',
    subdomain: 'bench',
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.request.post(`http://127.0.0.1:${server.apiPort}/auth/login`, {
      data: { email: 'admin@localhost', password: server.password },
    });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.apiPort}/app/inspector`);
    await page.getByText('Live', { exact: true }).waitFor();
    const load = sendSteadily(subject.port);
    try {
      say(`${NAME}: filling the list`);
      await sleep(FILL_SECONDS * 1_000);
      return await watch(page, { seconds, results, sent: load.sent });
    } finally {
      await load.stop();
    }
  } finally {
    await browser.close();
    await processes.stopAll();
  }
}

interface Watching {
  readonly seconds: number;
  readonly results: Bench['results'];
  readonly sent: () => number;
}

async function watch(page: Page, { seconds, results, sent }: Watching): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const before = await look(session);
  const first = sent();
  await page.evaluate(COUNT_FRAMES);
  await sleep(seconds * 1_000);
  const frames = (await page.evaluate<number[]>('window.frames_ms')).toSorted((a, b) => a - b);
  const rate = (sent() - first) / seconds;
  const after = await look(session);
  const rows = await page.getByRole('option').count();
  const at = (share: number): number => frames[Math.floor(frames.length * share)] ?? Number.NaN;
  const fps = frames.length / seconds;
  const late = (100 * frames.filter((ms) => ms > 34).length) / frames.length;
  const growth = (after.heap - before.heap) / 1e6;
  const busy = (100 * (after.busy - before.busy)) / seconds;
  results.addSingle(NAME, 'fps', fps);
  results.addSingle(NAME, 'heapGrowthMb', growth);
  const said = [
    ['requests a second', number(rate, 0)],
    ['frames a second', number(fps, 1)],
    [
      'frame time, median / p99 / longest, ms',
      [at(0.5), at(0.99), frames.at(-1) ?? 0].map((ms) => number(ms, 1)).join(' / '),
    ],
    ['frames later than 34 ms, %', number(late, 2)],
    ["the page's thread is busy, %", number(busy, 1)],
    ['heap before, MB', number(before.heap / 1e6, 1)],
    ['heap after, MB', number(after.heap / 1e6, 1)],
    ['elements', `${before.nodes} / ${after.nodes}`],
    ['rows drawn', String(rows)],
  ];
  return [`${NAME}: the inspector's list for ${seconds} s`, ...align(said).map((line) => `  ${line}`)].join('\n');
}

/** After a collection. */
async function look(session: CDPSession): Promise<{ heap: number; nodes: number; busy: number }> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { heap: value('JSHeapUsedSize'), nodes: value('Nodes'), busy: value('TaskDuration') };
}

/** Small requests, evenly, at the rate; what can't be sent in time is made up for. */
function sendSteadily(port: number): { readonly sent: () => number; readonly stop: () => Promise<void> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const started = performance.now();
  let sent = 0;
  const one = async (): Promise<void> => {
    const path = `/small?n=${sent}`;
    const outgoing = request({ host: '127.0.0.1', port, agent, path, headers: { host: 'bench.localhost' } });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
  };
  const timer = setInterval(() => {
    for (const due = ((performance.now() - started) / 1_000) * RATE; sent < due; sent++)
      // A failed request lowers the reported rate.
      one().catch(() => sent--);
  }, 5);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await sleep(200);
    agent.destroy();
  };
  return { sent: () => sent, stop };
}
