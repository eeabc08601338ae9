/** The verdict on a storm, and its row in the table. */
import { align, number } from '../report/tables.ts';
import { median } from '../results.ts';
import type { Round } from './rounds.ts';
import type { Visited } from './visitors.ts';

/** Limits: p99 against quiet, and the worst request, which may take twice as long as in quiet, or this long. */
const P99_TIMES = 1.25;
const WORST_TIMES = 2;
const WORST_MS = 30;

export interface Verdict {
  /** Median over the rounds. */
  readonly p99Times: number;
  readonly worstMs: number;
  readonly isSlow: boolean;
  readonly lost: number;
}

export function judge(rounds: readonly Round[]): Verdict {
  const p99Times = median(rounds.map(({ storm, quiet }) => storm.p99Ms / quiet.p99Ms)) ?? Number.NaN;
  const worstMs = worst(rounds.map(({ storm }) => storm));
  const most = Math.max(WORST_MS, WORST_TIMES * worst(rounds.map(({ quiet }) => quiet)));
  return { p99Times, worstMs, lost: rounds.reduce((sum, { storm }) => sum + storm.lost, 0), isSlow: worstMs > most };
}

/** `late`: how late the visitors' own program was at most; a worst request below that says nothing about the server. */
const HEAD = [
  '',
  'burnt',
  'quiet p50',
  'p99',
  'worst',
  'storm p50',
  'p99',
  'worst',
  'late',
  'lost',
  'p99 x',
  'verdict',
];

/** Lines of the table. */
export function stormTable(rows: readonly (readonly string[])[]): string[] {
  return align([HEAD, ...rows]).map((line) => `  ${line}`);
}

/** Visitors without any storm. */
export function plainRow(what: string, visited: Visited, others: number): string[] {
  const { p50Ms, p99Ms, worstMs, lateMs, lost } = visited;
  const quiet = [number(p50Ms, 2), number(p99Ms, 2), number(worstMs, 1)];
  return [what, '0.00', ...quiet, '-', '-', '-', number(lateMs, 1), percent(others), String(lost), '-', ''];
}

export function stormRow(name: string, rounds: readonly Round[], verdict: Verdict): string[] {
  const { p99Times, worstMs, lost, isSlow } = verdict;
  const middle = (value: (round: Round) => number): string => number(median(rounds.map(value)), 2);
  const missed = [
    ...(p99Times > P99_TIMES ? ['p99'] : []),
    ...(isSlow ? ['worst'] : []),
    ...(lost > 0 ? ['lost'] : []),
  ];
  return [
    name,
    middle(({ burnt }) => burnt),
    middle(({ quiet }) => quiet.p50Ms),
    middle(({ quiet }) => quiet.p99Ms),
    number(worst(rounds.map(({ quiet }) => quiet)), 1),
    middle(({ storm }) => storm.p50Ms),
    middle(({ storm }) => storm.p99Ms),
    number(worstMs, 1),
    number(Math.max(...rounds.map(({ storm }) => storm.lateMs)), 1),
    percent(Math.max(...rounds.map(({ others }) => others))),
    String(lost),
    number(p99Times, 2),
    missed.length === 0 ? 'pass' : `MISS ${missed.join(' ')}`,
  ];
}

function percent(share: number): string {
  return `${number(share * 100, 0)} %`;
}

function worst(all: readonly Visited[]): number {
  return Math.max(...all.map(({ worstMs }) => worstMs));
}
