/** A list as people read it on a terminal: a heading and one line per row, columns as wide as what is in them. */
import { paint, type Span, span } from './paint.ts';

const GAP = '  ';

/** Lines of the table. Cells come from a server: nothing in them reaches the terminal as a command. */
export function tableLines(
  heading: readonly string[],
  rows: ReadonlyArray<ReadonlyArray<string | Span>>,
  color = false,
): string[] {
  const lines = [
    heading.map((name) => span(name.toUpperCase())),
    ...rows.map((row) => row.map((cell) => (typeof cell === 'string' ? span(cell) : cell))),
  ];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => cellsOf(line[column]?.text ?? ''))));
  return lines.map((line) =>
    paint(
      line.flatMap((cell, column) => [cell, span(' '.repeat((widths[column] ?? 0) - cellsOf(cell.text)) + GAP)]),
      color,
    ),
  );
}

/** Every character counts as one cell; wide ones are rare here and only move a column. */
function cellsOf(text: string): number {
  return Array.from(text).length;
}
