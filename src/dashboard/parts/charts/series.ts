/** Several values per stretch of time: stacks, words, and the stretches that a selection covers. Pure; used by series-chart.tsx. */

export interface Series {
  readonly name: string;
  readonly colour: { readonly light: string; readonly dark: string };
  /** One per stretch; null: there is none. */
  readonly values: ReadonlyArray<number | null>;
}

/** Each on the sum of those before it, the last one first: drawn in this order, each leaves to see what stands above the next. */
export function stacked(series: readonly Series[]): Array<Array<number | null>> {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, i) => (below?.[i] ?? 0) + (value ?? 0)));
  }
  return sums.toReversed();
}

/** "p50 12 ms, p95 48 ms" of a stretch; what has no value is left out. */
export function valuesText(
  series: readonly Series[],
  at: number,
  { say, isStacked = false }: { readonly say: (value: number) => string; readonly isStacked?: boolean },
): string {
  const said = series.flatMap(({ name, values }) => {
    const value = values[at] ?? null;
    return value === null || (isStacked && value === 0) ? [] : [`${name} ${say(value)}`];
  });
  if (said.length > 0) return said.join(', ');
  return isStacked ? 'no requests' : 'no data';
}

export interface Selection {
  /** Unix milliseconds; up to, and without, `until`. */
  readonly from: number;
  readonly until: number;
}

/** Whole stretches between two moments. `starts`: where stretches begin, of `length` each. */
export function snapped({ from, until }: Selection, starts: readonly number[], length: number): Selection {
  const first = starts.findLast((start) => start <= from) ?? starts[0] ?? from;
  const last = starts.findLast((start) => start < until) ?? first;
  return { from: first, until: Math.max(first, last) + length };
}
