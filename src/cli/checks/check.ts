/** One result of a check of `culvert setup` and `culvert doctor`, and how it is printed. */
import { type Line, paint, span } from '../terminal/paint.ts';

export interface Check {
  /** Snake case; what a script compares. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do; empty when there is nothing to do. */
  readonly next: string;
}

export const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail, next: '' });
export const warn = (name: string, detail: string, next: string): Check => ({ name, status: 'warn', detail, next });
export const fail = (name: string, detail: string, next: string): Check => ({ name, status: 'fail', detail, next });

export const hasFailed = (checks: readonly Check[]): boolean => checks.some(({ status }) => status === 'fail');

/** A message of another part of the program, as a sentence. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const COLORS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
const STATUS_WIDTH = 6;
const NAME_WIDTH = 18;

/** A line per check; what to do is on a line of its own below. */
export function checkLines(checks: readonly Check[], color: boolean): string[] {
  return checks.flatMap(({ name, status, detail, next }) => {
    const first: Line = [
      span(status.padEnd(STATUS_WIDTH), COLORS[status]),
      span(name.padEnd(NAME_WIDTH)),
      span(detail),
    ];
    const indent = span(' '.repeat(STATUS_WIDTH + NAME_WIDTH));
    return (next === '' ? [first] : [first, [indent, span(next, 'bold')]]).map((line) => paint(line, color));
  });
}
