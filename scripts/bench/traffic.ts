/**
 * Streams at the pace that the way allows, counted second by second: an origin that sends and swallows without end, and visitors that do the
 * same. In the bench's own process: it is for limits of up to 100 Mbps, where it costs little.
 */
import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A small request that takes no longer finds the way empty. */
const QUIET_MS = 150;
const PIECE = Buffer.alloc(65_536, 0x78);

/** Bytes that arrived, by name of the tunnel. */
export class Arrivals {
  readonly #bytes = new Map<string, number>();

  add(name: string, bytes: number): void {
    this.#bytes.set(name, this.of(name) + bytes);
  }

  of(name: string): number {
    return this.#bytes.get(name) ?? 0;
  }
}

/** An origin that sends without end to a GET of `/endless`, swallows what is put, and answers anything else with a few bytes. */
export async function startEndlessOrigin(arrivals: Arrivals): Promise<{ port: number; close(): void }> {
  const server: Server = createServer((incoming, outgoing) => {
    const [name = ''] = (incoming.headers.host ?? '').split('.');
    incoming.on('data', (chunk: Buffer) => arrivals.add(name, chunk.length));
    if (incoming.method === 'PUT') {
      incoming.on('end', () => outgoing.end());
    } else if (incoming.url === '/endless') {
      pour(outgoing);
    } else {
      outgoing.end('small');
    }
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What visitors do at one name. */
export interface Flow {
  /** First label of the host name. */
  readonly name: string;
  readonly downloads: number;
  readonly uploads: number;
}

/** Megabits per second, one figure per second, and milliseconds of small requests made meanwhile. */
export interface Course {
  readonly seconds: readonly number[];
  readonly smallMs: readonly number[];
}

/** Runs the flows at once for so many seconds; the sum of what arrives, at visitors and origin, is one course. */
export async function runFlows(
  flows: readonly Flow[],
  way: { readonly port: number; readonly seconds: number; readonly arrivals: Arrivals },
): Promise<Course> {
  const stop = new AbortController();
  const { arrivals, port } = way;
  const arrived = (): number => flows.reduce((sum, { name }) => sum + arrivals.of(name), 0);
  for (const { name, downloads, uploads } of flows) {
    for (let i = 0; i < downloads; i++) download(name, port, arrivals, stop.signal);
    for (let i = 0; i < uploads; i++) upload(name, port, stop.signal);
  }
  const smallMs: number[] = [];
  void askSmall(flows[0]?.name ?? '', port, smallMs, stop.signal);
  const seconds: number[] = [];
  let before = arrived();
  let at = performance.now();
  for (let i = 1; i <= way.seconds; i++) {
    await pause(1_000);
    const [now, bytes] = [performance.now(), arrived()];
    seconds.push(((bytes - before) * 8) / 1_000 / (now - at));
    [before, at] = [bytes, now];
  }
  stop.abort();
  return { seconds, smallMs };
}

function visit(name: string, port: number, options: { method: string; path: string; signal: AbortSignal }) {
  const headers = {
    host: `${name}.localhost`,
    ...(options.method === 'PUT' ? { 'transfer-encoding': 'chunked' } : {}),
  };
  const outgoing = request({ host: '127.0.0.1', port, headers, agent: new Agent(), ...options });
  outgoing.on('error', () => undefined); // the end of the measurement cuts it
  return outgoing;
}

function download(name: string, port: number, arrivals: Arrivals, signal: AbortSignal): void {
  const outgoing = visit(name, port, { method: 'GET', path: '/endless', signal });
  outgoing.on('response', (response) => {
    response.on('error', () => undefined);
    response.on('data', (chunk: Buffer) => arrivals.add(name, chunk.length));
  });
  outgoing.end();
}

function upload(name: string, port: number, signal: AbortSignal): void {
  pour(visit(name, port, { method: 'PUT', path: '/', signal }));
}

/** Small requests, one after the other with a rest of half a second. */
async function askSmall(name: string, port: number, smallMs: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(500);
    smallMs.push(await small(name, port, signal));
  }
}

/** Waits until nothing of an earlier load is in the way: what was under way when its visitors left still counts for the limit. */
export async function settled(names: readonly string[], port: number): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  for (const name of names) while (!signal.aborted && (await small(name, port, signal)) > QUIET_MS) await pause(100);
  await pause(QUIET_MS);
}

/** Milliseconds that a small request takes; when it is cut, until then. */
async function small(name: string, port: number, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  const outgoing = visit(name, port, { method: 'GET', path: '/small', signal });
  outgoing.on('response', (response) => response.resume());
  outgoing.end();
  await new Promise<void>((resolve) => outgoing.on('close', resolve));
  return performance.now() - began;
}

function pour(to: NodeJS.WritableStream): void {
  const go = (): void => {
    while (to.write(PIECE));
  };
  to.on('error', () => undefined);
  to.on('drain', go);
  go();
}
