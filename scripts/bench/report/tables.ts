/**
 * Turns results into the tables that the benchmark prints: one per scenario, medians with their range, ratios, processor
 * time by process. Pure functions from results to text.
 */
import type { Results } from '../results.ts';
import { median } from '../results.ts';
import type { Scenario, SubjectName } from '../subject.ts';

/** The references of each subject. */
const REFERENCES: Partial<Record<SubjectName, readonly SubjectName[]>> = {
  direct: ['nginx', 'ssh'],
  nginx: ['nginx', 'ssh'],
  haproxy: ['nginx', 'ssh'],
  ssh: ['nginx', 'ssh'],
  culvert: ['nginx', 'ssh', 'culvert-other'],
  'culvert-other': ['nginx', 'ssh'],
  'nginx-tls': ['nginx-tls'],
  'culvert-tls': ['nginx-tls'],
};

/** The table of one scenario, or undefined when nothing was measured in it. */
export function scenarioTable(scenario: Scenario, results: Results): string | undefined {
  const measured = scenario.subjects.filter((subject) => results.samples(scenario.name, subject).length > 0);
  if (measured.length === 0) return undefined;
  const rows = measured.map((subject) => row(scenario, results, subject));
  const cpuHead = scenario.unit === 'request' ? ['cpu us/request'] : scenario.unit === 'GB' ? ['cpu s/GB'] : [];
  const [main, ...rest] = scenario.columns;
  const head = ['', main.head, 'range', 'x nginx', 'x ssh', 'x other', ...rest.map((column) => column.head)];
  const lines = align(dropEmpty([[...head, 'idle', 'steal', 'others', ...cpuHead], ...rows]));
  const troubles = measured.flatMap((subject) => {
    const words = new Set(results.samples(scenario.name, subject).flatMap((sample) => sample.trouble ?? []));
    return [...words].map((word) => `  ! ${subject}: ${word}`);
  });
  return [`${scenario.name}: ${scenario.title}`, ...lines.map((line) => `  ${line}`), ...troubles].join('\n');
}

function row(scenario: Scenario, results: Results, subject: SubjectName): string[] {
  const [main, ...rest] = scenario.columns;
  const all = results.values(scenario.name, subject, main.key);
  const samples = results.samples(scenario.name, subject);
  const references = REFERENCES[subject] ?? [];
  const nginx = references.find((reference) => reference.startsWith('nginx'));
  const ratio = (reference: SubjectName | undefined): string =>
    reference === undefined ? '-' : number(results.ratio(scenario.name, [subject, reference], main.key), 2);
  return [
    subject,
    number(median(all), main.digits),
    `${number(Math.min(...all), main.digits)}..${number(Math.max(...all), main.digits)}`,
    ratio(nginx),
    ratio(references.find((reference) => reference === 'ssh')),
    ratio(references.find((reference) => reference === 'culvert-other')),
    ...rest.map((column) => number(results.median(scenario.name, subject, column.key), column.digits)),
    percent(median(samples.map((sample) => sample.idle))),
    percent(median(samples.map((sample) => sample.steal))),
    percent(median(samples.map((sample) => sample.others))),
    ...(scenario.unit === undefined ? [] : [cpuColumn(scenario, results, subject)]),
  ];
}

/** "client 6.0 · origin 5.1 · nginx 12.5", with the sum of the way in between when it has several processes. */
function cpuColumn(scenario: Scenario, results: Results, subject: SubjectName): string {
  const names = Object.keys(results.samples(scenario.name, subject)[0]?.cpuSeconds ?? {});
  const [scale, digits] = scenario.unit === 'request' ? [1e6, 1] : [1, 2];
  const show = (label: string, of: readonly string[]): string =>
    `${label} ${number((results.cpuPerUnit(scenario.name, subject, of) ?? Number.NaN) * scale, digits)}`;
  const other = subject === 'culvert' ? results.cpuRatio(scenario.name, [subject, 'culvert-other']) : undefined;
  const times = other === undefined ? [] : [`x other ${number(other, 3)}`];
  const between = names.filter((name) => name !== 'client' && name !== 'origin');
  const sum = between.length > 1 ? [show('sum', between)] : [];
  return [...names.map((name) => show(name, [name])), ...sum, ...times].join(' · ');
}

/** A number with so many digits behind the point and thousands marked, or "-". */
export function number(value: number | undefined, digits: number): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function percent(value: number | undefined): string {
  return value === undefined ? '-' : `${number(value * 100, 0)} %`;
}

/** Leaves out columns that say nothing in any row: ratios to a reference that was not measured. */
function dropEmpty(rows: readonly (readonly string[])[]): string[][] {
  return rows.map((cells) => cells.filter((_, column) => rows.slice(1).some((other) => other[column] !== '-')));
}

/** Pads columns to one width: the first and the last to the left, numbers to the right. */
export function align(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((cells) => (cells[column] ?? '').length));
  const last = Math.max(...rows.map((cells) => cells.length)) - 1;
  return rows.map((cells) =>
    cells
      .map((cell, column) => {
        if (column === 0) return cell.padEnd(width(0));
        return column === last ? cell : cell.padStart(width(column));
      })
      .join('  ')
      .trimEnd(),
  );
}
