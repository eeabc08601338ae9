/** Histograms of plane/latency.ts as blobs: for each cell that is not empty, the distance to the one before and the count, as varints. */
import { cellMiddle, LATENCY_CELLS } from '../../../plane/latency.ts';

/** Counts by cell. */
export type Cells = Float64Array;

export function noCells(): Cells {
  return new Float64Array(LATENCY_CELLS);
}

/** Adds a list of cell and count in turn, as data nodes send it. A cell that does not exist is left out. */
export function addPairs(to: Cells, pairs: readonly number[]): void {
  for (let i = 0; i + 1 < pairs.length; i += 2) add(to, pairs[i] as number, pairs[i + 1] as number);
}

/** Adds what a blob holds. Called for each row of a chart and of a roll-up: written for speed. */
export function addPacked(to: Cells, packed: Uint8Array): void {
  let cell = -1;
  /** Of the varint at hand. */
  let value = 0;
  let scale = 1;
  let isCount = false;
  for (let at = 0; at < packed.length; at++) {
    const byte = packed[at] as number;
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    if (isCount) add(to, cell, value);
    else cell += value;
    isCount = !isCount;
    value = 0;
    scale = 1;
  }
}

function add(to: Cells, cell: number, count: number): void {
  if (cell >= 0 && cell < LATENCY_CELLS && (cell | 0) === cell) to[cell] = (to[cell] as number) + count;
}

/** The blob of a histogram. */
export function pack(cells: Cells): Buffer {
  const bytes: number[] = [];
  let before = -1;
  for (let cell = 0; cell < LATENCY_CELLS; cell++) {
    const count = cells[cell] as number;
    if (count === 0) continue;
    pushVarint(bytes, cell - before);
    pushVarint(bytes, count);
    before = cell;
  }
  return Buffer.from(bytes);
}

function pushVarint(bytes: number[], of: number): void {
  let rest = of;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
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
