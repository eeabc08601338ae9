/**
 * Visitors that ask at a steady rate whatever the server does, some on kept connections and some on one for each request, and repeat nothing: each
 * request that gets no 200 counts as failed. Used by the benchmark and the test of restarts.
 */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface SteadyOptions {
  readonly port: number;
  /** One, or several that are asked in turn. */
  readonly host: string | readonly string[];
  readonly perSecond: number;
  /** No more than so many at once: on a machine that is too busy they ask less often. */
  readonly atOnce: number;
}

export interface SteadyResult {
  readonly asked: number;
  /** Why, and how often. */
  readonly failed: Readonly<Record<string, number>>;
  /** Milliseconds of those that were answered. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

const TICK_MS = 10;
/** Longer than any restart: a request that takes longer counts as failed. */
const TIMEOUT_MS = 60_000;

/** Asks until `enough` says so, then waits for the last answers. */
export async function steadyVisitors(
  options: SteadyOptions,
  enough: (asked: number) => boolean,
): Promise<SteadyResult> {
  const hosts = typeof options.host === 'string' ? [options.host] : options.host;
  const kept = new Agent({ keepAlive: true });
  const fresh = new Agent({ keepAlive: false });
  const failed: Record<string, number> = {};
  const times: number[] = [];
  const under: Array<Promise<void>> = [];
  const fail = (why: string): void => void (failed[why] = (failed[why] ?? 0) + 1);
  const begun = performance.now();
  let asked = 0;
  let answered = 0;
  while (!enough(asked)) {
    const due = ((performance.now() - begun) / 1_000) * options.perSecond;
    for (; asked < due && asked - answered < options.atOnce && !enough(asked); asked++) {
      const agent = asked % 2 === 0 ? kept : fresh;
      // Both agents take their turns at each name.
      const host = hosts[Math.floor(asked / 2) % hosts.length] ?? '';
      const answer = ask({ port: options.port, host }, agent).then(
        (ms) => void times.push(ms),
        (error: Error) => fail(error.message),
      );
      under.push(answer.finally(() => answered++));
    }
    await pause(TICK_MS);
  }
  await Promise.all(under);
  kept.destroy();
  fresh.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { asked, failed, p50: at(0.5), p99: at(0.99), worst: at(1) };
}

/** Resolves with milliseconds; rejects with why there was no whole answer with 200. */
function ask({ port, host }: { readonly port: number; readonly host: string }, agent: Agent): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, agent, headers: { host }, timeout: TIMEOUT_MS }, (response) => {
      response.on('error', reject);
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`${response.statusCode} ${String(response.headers['culvert-error'] ?? '')}`));
      });
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer in time')));
    asking.on('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`${error.code ?? error.message}${asking.reusedSocket ? ' on a kept connection' : ''}`)),
    );
    asking.end();
  });
}
