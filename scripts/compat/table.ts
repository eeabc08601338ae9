/** What came out, as lines while it runs and as a Markdown table. */
import { REWRITE } from './program.ts';

/** Of one program with one build. */
export interface Outcome {
  /** `untouched`, `with FLAG`, or undefined: it does not work. */
  readonly works: string | undefined;
  /** How often the agent printed the advice while the program ran untouched. */
  readonly advice: number;
  readonly why?: string;
}

export interface Row {
  readonly name: string;
  readonly checks: string;
  readonly version?: string;
  readonly before?: Outcome;
  readonly after?: Outcome;
  /** Why it was not run. */
  readonly notHere?: string;
  readonly expected: string;
  readonly passed: boolean;
}

export function describe(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '–';
  if (outcome.works === undefined) return 'no';
  return outcome.works === 'untouched' ? 'untouched' : `${outcome.works} (${advised(outcome.advice)})`;
}

function advised(count: number): string {
  if (count === 0) return 'not advised';
  return count === 1 ? 'advised once' : `advised ${count} times`;
}

export function line(row: Row): string {
  const name = `${row.name} ${row.version ?? ''}`.padEnd(32);
  if (row.notHere !== undefined) return `${name} not here: ${row.notHere}`;
  const outcomes = `before: ${describe(row.before)} · after: ${describe(row.after)}`;
  const reasons = [row.before, row.after].flatMap((one) => (one?.why === undefined ? [] : [`\n    ${one.why}`]));
  return `${name} ${outcomes}${row.passed ? '' : `  EXPECTED ${row.expected}`}${reasons.join('')}`;
}

export function markdown(rows: readonly Row[]): string {
  const cells = rows.map(({ name, version = '', checks, before, after, notHere }) =>
    notHere === undefined
      ? [name, version, checks, describe(before), describe(after)]
      : [name, '', checks, 'not run', `not run: ${notHere}`],
  );
  const lines = [['program', 'version', 'checked', 'before', 'after'], Array(5).fill('---'), ...cells];
  return lines.map((row) => `| ${row.map(escaped).join(' | ')} |\n`).join('');
}

function escaped(cell: string): string {
  return cell.replace(REWRITE.name, `\`${REWRITE.name}\``).replaceAll('|', '\\|').replaceAll('\n', ' ');
}
