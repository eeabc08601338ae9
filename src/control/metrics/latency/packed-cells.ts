/** Histograms of plane/latency.ts as blobs: for each cell that is not empty, the distance to the one before and the count, as varints. */
import { cellMiddle, LATENCY_CELLS } from '../../../plane/latency.ts';

/** Counts by cell. */
export type Cells = Float64Array;

export function noCells(): Cells {
  return new Float64Array(LATENCY_CELLS);
}

/** Adds a list of cell and count in turn, as data nodes send it. A cell that does not exist is left out. */
export function addPairs(to: Cells, pairs: readonly number[]): void {
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const cell = pairs[i] as number;
    if (cell in to) to[cell] = (to[cell] as number) + (pairs[i + 1] as number);
  }
}

/** Adds what a blob holds. */
export function addPacked(to: Cells, packed: Uint8Array): void {
  let cell = -1;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < packed.length; scale *= 128) {
      const byte = packed[at++] as number;
      value += (byte & 127) * scale;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < packed.length) {
    cell += varint();
    const count = varint();
    if (cell in to) to[cell] = (to[cell] as number) + count;
  }
}

/** The blob of a histogram. */
export function pack(cells: Cells): Buffer {
  const bytes: number[] = [];
  const varint = (of: number): void => {
    let rest = of;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  let before = -1;
  cells.forEach((count, cell) => {
    if (count === 0) return;
    varint(cell - before);
    varint(count);
    before = cell;
  });
  return Buffer.from(bytes);
}

/** Durations of which so many parts are at most as long, in milliseconds, for each of `parts`; null: there are none. */
export function percentiles(cells: Cells, parts: readonly number[]): ReadonlyArray<number | null> {
  const count = cells.reduce((sum, one) => sum + one, 0);
  return parts.map((part) => {
    if (count === 0) return null;
    let left = Math.max(1, Math.ceil(part * count));
    const cell = cells.findIndex((one) => (left -= one) <= 0);
    return cellMiddle(cell === -1 ? LATENCY_CELLS - 1 : cell);
  });
}
