/** What passes between peers of a private network: echoes, a checked TCP connection, iperf3. Used by the test and by the bench. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Processes } from '../bench/processes.ts';
import { must } from './places.ts';

const SCRIPT = join(import.meta.dirname, 'transfer.ts');

export interface Way {
  /** Namespace of the one who asks. */
  readonly from: string;
  /** Address within the private network. */
  readonly to: string;
}

export interface Echoes {
  readonly sent: number;
  readonly received: number;
  /** Milliseconds; NaN when none came back. */
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** One echo within a second? */
export async function echoes(processes: Processes, { from, to }: Way): Promise<boolean> {
  return (await processes.run(['ping', '-n', '-q', '-c', '1', '-W', '1', to], { netns: from })).code === 0;
}

/** Asks until an echo comes back; resolves with the milliseconds that it took. Throws after `limitMs`. */
export async function untilEchoes(processes: Processes, way: Way, limitMs: number): Promise<number> {
  const since = Date.now();
  while (!(await echoes(processes, way))) {
    if (Date.now() - since > limitMs) throw new Error(`no echo of ${way.to} in ${limitMs} ms`);
    await pause(50);
  }
  return Date.now() - since;
}

/** So many echoes, one each `everyMs`. */
export async function measureEchoes(
  processes: Processes,
  { from, to }: Way,
  { count, everyMs }: { readonly count: number; readonly everyMs: number },
): Promise<Echoes> {
  const command = ['ping', '-n', '-c', String(count), '-i', String(everyMs / 1_000), '-W', '1', to];
  const { stdout } = await processes.run(command, { netns: from });
  const times = [...stdout.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms)).sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { sent: count, received: times.length, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** An echo of TCP at an address of the private network, for `checkedTransfer`. Its port. */
export async function startEcho(processes: Processes, netns: string, address: string): Promise<number> {
  const name = `echo-${netns}`;
  processes.start(name, [process.execPath, SCRIPT, 'serve', address], { netns });
  const [, port] = await processes.waitForOutput(name, /port (\d+)/);
  return Number(port);
}

/** Sends random bytes to the echo and compares what comes back. Throws what is wrong. */
export async function checkedTransfer(
  processes: Processes,
  { from, to }: Way,
  { port, bytes }: { readonly port: number; readonly bytes: number },
): Promise<void> {
  const command = [process.execPath, SCRIPT, 'send', to, String(port), String(bytes)];
  const { stdout } = await must(processes, command, from);
  if (stdout.trim() !== 'same') throw new Error(`what came back is ${stdout.trim()}`);
}
