/**
 * The order in which test files run: what lasts longest comes first, or a file of forty seconds would end alone. Half of the lanes prefer files
 * that compute and the others those that wait, so that cores are neither idle nor fought over; each helps the other in the end.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestFile } from './files.ts';

export interface Cost {
  /** Milliseconds. */
  readonly wall: number;
  /** Of the test's own process. */
  readonly cpu: number;
}

export type Costs = Readonly<Record<string, Cost>>;

/** Files that no run has seen yet begin early. */
const UNKNOWN: Cost = { wall: 10_000, cpu: 10_000 };
/** Below this share of the wall time a file waits more than it computes. */
const WAITS = 0.6;

export class Queue {
  readonly #computing: TestFile[];
  readonly #waiting: TestFile[];

  constructor(files: readonly TestFile[], costs: Costs) {
    const cost = ({ path }: TestFile): Cost => costs[path] ?? UNKNOWN;
    const sorted = [...files].sort((a, b) => cost(b).wall - cost(a).wall);
    const waits = (file: TestFile): boolean => cost(file).cpu < WAITS * cost(file).wall;
    this.#computing = sorted.filter((file) => !waits(file));
    this.#waiting = sorted.filter(waits);
  }

  take(prefers: 'computing' | 'waiting'): TestFile | undefined {
    const [first, second] =
      prefers === 'computing' ? [this.#computing, this.#waiting] : [this.#waiting, this.#computing];
    return first.shift() ?? second.shift();
  }
}

/** What the files took last time on this machine, or, where there was no run yet, on the one that wrote the list of the repository. */
export function readCosts(cache: string): Costs {
  const own = read(join(cache, 'costs.json')) ?? {};
  return { ...read(join(import.meta.dirname, 'costs.json')), ...own };
}

/** `folder`: of the cache, or of the list in the repository. What was not run keeps its figure. */
export function writeCosts(folder: string, costs: Costs): void {
  const file = join(folder, 'costs.json');
  const all = Object.entries({ ...read(file), ...costs }).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = all.map(([path, { wall, cpu }]) => {
    return `  ${JSON.stringify(path)}: { "wall": ${Math.round(wall)}, "cpu": ${Math.round(cpu)} }`;
  });
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
}

function read(file: string): Costs | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Costs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
