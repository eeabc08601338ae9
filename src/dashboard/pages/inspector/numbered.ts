/** Rows that may be equal to one another, and never change places: their number tells them apart. */
export function numbered<T>(rows: readonly T[]): ReadonlyArray<{ readonly at: number; readonly row: T }> {
  return rows.map((row, at) => ({ at, row }));
}
