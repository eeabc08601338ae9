/**
 * Processor time of a storm, and a process that burns as much: load, storm and server share two cores, so a storm is compared with the same use of
 * processors and no other effect. Thread by thread, at the same priority.
 */
import { threadTimes } from '../proc.ts';
import type { Processes } from '../processes.ts';
import type { Tools } from '../tools.ts';

/** A share of one processor, and the priority at which it is used. */
export interface Share {
  readonly of: number;
  readonly nice: number;
}

/** Less is noise of the clock, which counts 10 ms. */
const LEAST = 0.01;

/** Processor seconds per second by thread, of these processes, while `action` runs. */
export async function ratesDuring<T>(
  pids: readonly number[],
  action: () => Promise<T>,
): Promise<{ readonly rates: ThreadRates; readonly result: T }> {
  const before = new Map(pids.flatMap(threadTimes).map((thread) => [thread.tid, thread.seconds]));
  const from = performance.now();
  const result = await action();
  const seconds = (performance.now() - from) / 1_000;
  const rates = pids
    .flatMap(threadTimes)
    .map(({ tid, nice, seconds: spent }) => ({ tid, nice, rate: (spent - (before.get(tid) ?? 0)) / seconds }));
  return { rates: new Map(rates.map(({ tid, nice, rate }) => [tid, { nice, of: rate }])), result };
}

export type ThreadRates = ReadonlyMap<number, Share>;

/** Shares of the server's threads beyond their use without a storm, and of `clients`, the programs of the storm. */
export function sharesOf(storm: ThreadRates, quiet: ThreadRates, clients: number): Share[] {
  const threads = [...storm].map(([tid, { of, nice }]) => ({ of: of - (quiet.get(tid)?.of ?? 0), nice }));
  const whole = Math.floor(clients);
  const programs = [...Array.from({ length: whole }, () => 1), clients - whole].map((of) => ({ of, nice: 0 }));
  return [...threads, ...programs]
    .filter(({ of }) => of >= LEAST)
    .map(({ of, nice }) => ({ of: Math.min(of, 1), nice }));
}

export function total(shares: readonly Share[]): number {
  return shares.reduce((sum, { of }) => sum + of, 0);
}

/** Burns for so many seconds; resolves to the number of processors used. */
export async function burn(
  { processes, tools }: { readonly processes: Processes; readonly tools: Tools },
  shares: readonly Share[],
  seconds: number,
): Promise<number> {
  const words = shares.map(({ of, nice }) => `${of.toFixed(3)}:${nice}`);
  const { stdout } = await processes.run([tools.program('burn'), String(seconds), ...words]);
  return Number(/burnt ([\d.]+)/.exec(stdout)?.[1] ?? 0) / seconds;
}
