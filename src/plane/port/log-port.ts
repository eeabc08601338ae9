/**
 * Log lines of a thread, written by the one that has the log. Bounded: what finds no room while the other side is busy is lost and counted, and the
 * count goes with the next line.
 */
import { codeOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PortCalls } from './calls.ts';

type Level = 'error' | 'warn' | 'info' | 'debug';

interface Line {
  readonly level: Level;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /** Milliseconds since the epoch: it may be written later. */
  readonly at: number;
}

const MAX_UNREAD = 1_000;
/** A line that is written this much later than it was said names its time. */
const LATE_MS = 1_000;

/** Of the thread that says. */
export function logOverPort(calls: PortCalls): Logger {
  let lost = 0;
  const make = (own: object): Logger => {
    const at = (level: Level) => (fields: object, message: string) => {
      if (calls.unread > MAX_UNREAD) {
        lost++;
        return;
      }
      const all = { ...own, ...fields, ...(lost === 0 ? {} : { lost_lines: lost }) };
      lost = 0;
      calls.tell('log', { level, fields: plain(all), message, at: Date.now() } satisfies Line);
    };
    return {
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      child: (fields) => make({ ...own, ...fields }),
    };
  };
  return make({});
}

/** Of the thread that writes. */
export function serveLog(calls: PortCalls, log: Logger): void {
  calls.hear('log', ({ level, fields, message, at }: Line) => {
    const late = Date.now() - at > LATE_MS;
    log[level](late ? { ...fields, said_at: new Date(at).toISOString() } : fields, message);
  });
}

/** Errors lose their fields on the way through a port; functions can't go at all. */
function plain(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (typeof value === 'function') return [];
      if (!(value instanceof Error)) return [[name, value]];
      return [[name, { type: value.name, message: value.message, code: codeOf(value), stack: value.stack }]];
    }),
  );
}
