/** What differs between two texts, line by line: the shortest change, as diff and git find it (Myers, 1986). Pure: tested without a browser. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond so many changes, or lines, the middle is shown as replaced: the search costs their square. */
const MAX_CHANGES = 1_500;
const MAX_LINES = 20_000;

export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const trace = before.length + after.length > MAX_LINES ? undefined : searched(before, after);
  return trace === undefined ? replaced(before, after) : walkedBack(trace, before, after);
}

function replaced(before: readonly string[], after: readonly string[]): DiffLine[] {
  return [
    ...before.map((text): DiffLine => ({ kind: 'removed', text })),
    ...after.map((text): DiffLine => ({ kind: 'added', text })),
  ];
}

/** By the number of changes, the furthest line of `before` on each diagonal, from `-d` to `d`. Undefined: too many changes. */
function searched(before: readonly string[], after: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  const most = Math.min(before.length + after.length, MAX_CHANGES);
  for (let d = 0; d <= most; d++) {
    const last = trace.at(-1);
    const row = new Int32Array(2 * d + 1);
    for (let k = -d; k <= d; k += 2) {
      let x = last === undefined ? 0 : isDown(last, d, k) ? at(last, d, k + 1) : at(last, d, k - 1) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      row[k + d] = x;
      if (x >= before.length && x - k >= after.length) return [...trace, row];
    }
    trace.push(row);
  }
  return undefined;
}

/** The furthest on a diagonal of the row before the one of `d` changes; -1: there is none. */
function at(last: Int32Array, d: number, k: number): number {
  const index = k + d - 1;
  return index < 0 || index >= last.length ? -1 : (last[index] as number);
}

/** Was a line added to come here, rather than one removed? */
function isDown(last: Int32Array, d: number, k: number): boolean {
  return k === -d || (k !== d && at(last, d, k - 1) < at(last, d, k + 1));
}

function walkedBack(trace: readonly Int32Array[], before: readonly string[], after: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const last = trace[d - 1];
    const k = x - y;
    const isAdded = last !== undefined && isDown(last, d, k);
    const fromX = last === undefined ? 0 : isAdded ? at(last, d, k + 1) : at(last, d, k - 1);
    const fromY = last === undefined ? 0 : fromX - (isAdded ? k + 1 : k - 1);
    const startX = last === undefined ? 0 : isAdded ? fromX : fromX + 1;
    while (x > startX) lines.push({ kind: 'same', text: before[--x] as string });
    if (last !== undefined)
      lines.push(
        isAdded ? { kind: 'added', text: after[fromY] as string } : { kind: 'removed', text: before[fromX] as string },
      );
    x = fromX;
    y = fromY;
  }
  return lines.toReversed();
}

/** A piece of a diff as it is drawn: lines, or how many equal ones are left out. */
export type Hunk = { readonly lines: readonly DiffLine[] } | { readonly left: number };

/** Equal lines that stand around a change. */
const AROUND = 3;

/** Without the equal lines that are far from each change. */
export function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const isNear = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(at - AROUND, 0), at + AROUND + 1);
  const hunks: Hunk[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = from;
    while (to < lines.length && isNear[to] === isNear[from]) to++;
    hunks.push(isNear[from] === 1 ? { lines: lines.slice(from, to) } : { left: to - from });
    from = to;
  }
  return hunks;
}
