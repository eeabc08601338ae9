/**
 * A start with 10,000 tunnels. No visitor can be there before it, so the time until the first one is served counts. The agent reconnects by itself.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVER, type Fixture } from './fixture.ts';

const POLL_MS = 5;
const DEADLINE_MS = 60_000;

export interface Started {
  readonly readyMs: number;
  readonly visitedMs: number;
}

/** Stops the server, starts it again, and measures from there. */
export async function startAgain(fixture: Fixture): Promise<Started> {
  const { bench, server, host } = fixture;
  await bench.processes.stop(SERVER);
  const from = performance.now();
  fixture.restart();
  const [readyMs, visitedMs] = await Promise.all([
    untilServed(from, () => statusOf(server.apiPort, { host: '127.0.0.1', path: '/ready' })),
    untilServed(from, () => statusOf(server.httpPort, { host, path: '/small' })),
  ]);
  return { readyMs, visitedMs };
}

async function untilServed(from: number, ask: () => Promise<number>): Promise<number> {
  for (;;) {
    if ((await ask()) === 200) return performance.now() - from;
    if (performance.now() - from > DEADLINE_MS) throw new Error('the server that was started again serves no visitor');
    await pause(POLL_MS);
  }
}

/** Status of one request over a new connection; 0: no response. */
function statusOf(port: number, { host, path }: { readonly host: string; readonly path: string }): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port });
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
    socket.on('data', (part: string) => (text += part));
    socket.on('error', () => resolve(0));
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
  });
}
