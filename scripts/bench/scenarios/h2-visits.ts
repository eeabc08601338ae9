/**
 * HTTP/2 as a visitor feels it: the first byte of a small answer while 99 downloads are under way on the same connection, a page with 60 objects in
 * Chromium at 50 ms round trip, and the memory that idle connections take.
 */
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { DelayedLink } from '../delayed-link.ts';
import type { Load } from '../load.ts';
import { residentKb } from '../proc.ts';
import type { Processes } from '../processes.ts';
import { median } from '../results.ts';
import { HOST, type Scenario, type Subject, type SubjectName } from '../subject.ts';

const SUBJECTS: readonly SubjectName[] = ['nginx-tls', 'culvert-tls', 'culvert-tls-other'];
/** With the one that is measured 100: a visitor may have no more at once. */
const DOWNLOADS = 99;
/** More than any of them brings while the others are asked for. */
const DOWNLOAD_BYTES = 1e9;
const ASKED = 60;
/** Until all downloads are under way. */
const RAMP_MS = 500;

const OBJECTS = 60;
const OBJECT_BYTES = 8_000;
const DELAY_MS = 25;
const LOADS = 5;
const CHROMIUM = process.env['CULVERT_CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--ignore-certificate-errors'];

const IDLE = 1_000;
const OPENING_AT_ONCE = 50;
/** Until freed pages have gone back. */
const SETTLE_MS = 1_500;

export function visitScenarios(load: Load, processes: Processes): Scenario[] {
  return [
    {
      name: 'h2-first-byte',
      title: `HTTP/2, first byte of a small GET beside ${DOWNLOADS} downloads on the same connection`,
      subjects: SUBJECTS,
      columns: [
        { key: 'p50', head: 'p50 ms', digits: 2 },
        { key: 'max', head: 'max ms', digits: 2 },
        { key: 'alone', head: 'alone ms', digits: 2 },
      ],
      measure: (subject) => load.around(subject, () => firstBytes(subject)),
    },
    {
      name: 'h2-page',
      title: `a page of ${OBJECTS} objects of ${OBJECT_BYTES / 1e3} KB in Chromium, ${2 * DELAY_MS} ms round trip, new connection`,
      subjects: SUBJECTS,
      columns: [
        { key: 'ms', head: 'HTTP/2 ms', digits: 0 },
        { key: 'one', head: 'HTTP/1.1 ms', digits: 0 },
      ],
      measure: (subject) => load.around(subject, () => pages(subject)),
    },
    {
      name: 'h2-idle',
      title: `memory of ${IDLE} idle connections of TLS, after a request each`,
      subjects: SUBJECTS,
      columns: [
        { key: 'kb', head: 'HTTP/2 KB', digits: 1 },
        { key: 'one', head: 'HTTP/1.1 KB', digits: 1 },
      ],
      measure: (subject) => load.around(subject, () => idle(processes, subject)),
    },
  ];
}

interface Values {
  readonly values: Record<string, number>;
  readonly units: number;
}

// ------------------------------------------------------------------ first byte

async function firstBytes(subject: Subject): Promise<Values> {
  const session = await connectTo(subject);
  try {
    const alone = await askOften(session);
    const downloads = Array.from({ length: DOWNLOADS }, () => session.request(get(`/bytes/${DOWNLOAD_BYTES}`)));
    for (const download of downloads) {
      download.on('error', () => undefined);
      download.resume();
    }
    await pause(RAMP_MS);
    const beside = await askOften(session);
    return {
      values: { p50: median(beside) ?? Number.NaN, max: Math.max(...beside), alone: median(alone) ?? Number.NaN },
      units: ASKED,
    };
  } finally {
    session.destroy();
  }
}

async function connectTo({ address, port }: Subject): Promise<ClientHttp2Session> {
  const session = connect(`https://${HOST}:${port}`, {
    host: address,
    servername: HOST,
    rejectUnauthorized: false,
    peerMaxConcurrentStreams: 2 * DOWNLOADS,
  });
  session.on('error', () => undefined);
  await once(session, 'connect');
  return session;
}

function get(path: string): Record<string, string> {
  return { ':method': 'GET', ':path': path, ':scheme': 'https', ':authority': HOST };
}

/** Milliseconds until the head of each answer. */
async function askOften(session: ClientHttp2Session): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < ASKED; i++) {
    const from = performance.now();
    const stream = session.request(get('/small'));
    await once(stream, 'response');
    times.push(performance.now() - from);
    stream.resume();
    await once(stream, 'close');
  }
  return times;
}

// ------------------------------------------------------------------ a page

async function pages({ address, port }: Subject): Promise<Values> {
  const link = await DelayedLink.start({ address, port, delayMs: DELAY_MS });
  try {
    const two = await loads(link.port, []);
    const one = await loads(link.port, ['--disable-http2']);
    return { values: { ms: median(two) ?? Number.NaN, one: median(one) ?? Number.NaN }, units: LOADS };
  } finally {
    await link.close();
  }
}

async function loads(port: number, flags: readonly string[]): Promise<number[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags] });
  const times: number[] = [];
  try {
    // A browser's first page waits for the browser.
    await loadOnce(browser, port, flags.length === 0);
    for (let i = 0; i < LOADS; i++) times.push(await loadOnce(browser, port, flags.length === 0));
  } finally {
    await browser.close();
  }
  return times;
}

/** Milliseconds from the navigation to the last object, in a browser context that knows no connection yet. */
async function loadOnce(browser: Browser, port: number, isTwo: boolean): Promise<number> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  try {
    const page = await context.newPage();
    await page.goto(`https://${HOST}:${port}/small`);
    const found = await page.evaluate(
      async ({ objects, bytes }) => {
        const sizes = await Promise.all(
          Array.from({ length: objects }, async (_, i) => {
            const response = await fetch(`/bytes/${bytes}?object=${i}`, { cache: 'no-store' });
            return (await response.arrayBuffer()).byteLength;
          }),
        );
        const ms = performance.now();
        const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        return { ms, isWhole: sizes.every((size) => size === bytes), protocol: entries[0]?.nextHopProtocol };
      },
      { objects: OBJECTS, bytes: OBJECT_BYTES },
    );
    if (!found.isWhole || found.protocol !== (isTwo ? 'h2' : 'http/1.1')) throw new Error(JSON.stringify(found));
    return found.ms;
  } finally {
    await context.close();
  }
}

// ------------------------------------------------------------------ idle connections

async function idle(processes: Processes, subject: Subject): Promise<Values> {
  const pids = subject.processes.filter((name) => processes.isRunning(name)).map((name) => processes.pid(name));
  const now = async (): Promise<number> => {
    await pause(SETTLE_MS);
    return pids.reduce((sum, pid) => sum + residentKb(pid), 0);
  };
  // All stay open to the end: what closed ones leave in the heap would be taken for nothing.
  const open: { destroy(): void }[] = [];
  const each = async (connectOne: () => Promise<{ destroy(): void }>): Promise<number> => {
    const before = await now();
    for (let i = 0; i < IDLE; i += OPENING_AT_ONCE)
      open.push(...(await Promise.all(Array.from({ length: OPENING_AT_ONCE }, connectOne))));
    return ((await now()) - before) / IDLE;
  };
  // The first ones make the heap as large as a load does.
  await each(() => askOnce(subject));
  const kb = await each(() => askOnce(subject));
  const one = await each(() => askByOne(subject));
  for (const connection of open) connection.destroy();
  return { values: { kb, one }, units: IDLE };
}

async function askOnce(subject: Subject): Promise<ClientHttp2Session> {
  const session = await connectTo(subject);
  const stream = session.request(get('/small'));
  stream.resume();
  await once(stream, 'close');
  if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`reset with ${stream.rstCode}`);
  return session;
}

async function askByOne({ address, port }: Subject): Promise<TLSSocket> {
  const socket = connectTls({ host: address, port, servername: HOST, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(`GET /small HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  await once(socket, 'data');
  return socket;
}
