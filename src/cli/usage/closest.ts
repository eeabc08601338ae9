/** The name that was meant by one with a slip of the fingers; none where the user may have meant something else. */

/** One character wrong, missing, extra or swapped with its neighbour; two in a long name. */
export function closestTo(name: string, known: Iterable<string>): string | undefined {
  const bare = name.replace(/^-+/, '');
  const most = bare.length > 7 ? 2 : 1;
  let found: string | undefined;
  let least = most + 1;
  for (const one of known) {
    const distance = distanceOf(bare, one.replace(/^-+/, ''));
    if (distance < least && distance < bare.length) [found, least] = [one, distance];
  }
  return found;
}

/** Damerau's distance, without a second change of a swapped pair. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        at(row, j) + 1,
        at(next, j - 1) + 1,
        at(row, j - 1) + cost,
        isSwapped ? at(before, j - 2) + 1 : Infinity,
      );
    }
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
