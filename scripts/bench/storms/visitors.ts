/** Visitors at a fixed pace, by native/visitors.c. */
import type { Processes } from '../processes.ts';
import type { Tools } from '../tools.ts';

/** Until connections are open and the first answers are there: not measured. */
export const WARM_SECONDS = 1;
/** Longer than any storm may delay a response: later ones are lost. */
const GRACE_SECONDS = 30;
/** Visitors, agent and service run on other machines in production: no storm may take processors from them here. */
export const ELSEWHERE_NICE = -10;

export interface Crowd {
  readonly port: number;
  readonly host: string;
  readonly connections: number;
  /** Between two requests of one of them. */
  readonly intervalMs: number;
  readonly seconds: number;
  /** Header lines, of which each request takes the next. */
  readonly fieldsFile?: string;
}

export interface Visited {
  readonly due: number;
  readonly ok: number;
  /** Requests without a response of 200. */
  readonly lost: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** When the worst request was due, seconds after the storm began. */
  readonly worstAt: number;
  /** The longest delay of the program itself: a worst request below it says nothing. */
  readonly lateMs: number;
  /** Processor seconds of the program. */
  readonly cpu: number;
  /** Answers by status. */
  readonly statuses: string;
}

/** Sends them and waits until they are done. `elsewhere`: with the precedence of another machine. */
export async function visit(
  { processes, tools }: { readonly processes: Processes; readonly tools: Tools },
  { port, host, connections, intervalMs, seconds, fieldsFile }: Crowd,
  { elsewhere }: { readonly elsewhere: boolean },
): Promise<Visited> {
  const words = [port, host, connections, intervalMs, WARM_SECONDS, seconds, GRACE_SECONDS].map(String);
  const before = elsewhere ? ['nice', '-n', String(ELSEWHERE_NICE)] : [];
  const { stdout, stderr } = await processes.run([
    ...before,
    ...[tools.program('visitors'), ...words, ...(fieldsFile === undefined ? [] : [fieldsFile])],
  ]);
  if (stdout === '') throw new Error(`the visitors: ${stderr.trim()}`);
  const seen = JSON.parse(stdout) as Record<
    'due' | 'ok' | 'p50_us' | 'p99_us' | 'max_us' | 'late_us' | 'worst_at' | 'cpu',
    number
  > & {
    readonly statuses: Record<string, number>;
  };
  return {
    due: seen.due,
    ok: seen.ok,
    lost: seen.due - seen.ok,
    p50Ms: seen.p50_us / 1e3,
    p99Ms: seen.p99_us / 1e3,
    worstMs: seen.max_us / 1e3,
    worstAt: seen.worst_at,
    lateMs: seen.late_us / 1e3,
    cpu: seen.cpu,
    statuses: Object.entries(seen.statuses)
      .map(([status, count]) => `${status} x ${count}`)
      .join(', '),
  };
}
