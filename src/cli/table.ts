/** A list as people read it on a terminal: a heading and one line per row, columns as wide as what is in them. */
import { harmless } from './paint.ts';

const GAP = '  ';

/** Lines of the table. Cells come from a server: nothing in them reaches the terminal as a command. */
export function tableLines(heading: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const lines = [heading.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(harmless))];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => cellsOf(line[column] ?? ''))));
  return lines.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - cellsOf(cell)))
      .join(GAP)
      .trimEnd(),
  );
}

/** Every character counts as one cell; wide ones are rare here and only move a column. */
function cellsOf(text: string): number {
  return Array.from(text).length;
}
