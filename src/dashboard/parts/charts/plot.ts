/** What all charts have in common: colours of their axes, and how keys and the pointer choose a stretch of time. */
import type uPlot from 'uplot';
import { tickText } from './chart-axis.ts';

export type Scheme = 'light' | 'dark';

const COLOURS = {
  light: { axis: '#5b6662', grid: '#e3e7e5' },
  dark: { axis: '#9aa7a2', grid: '#2b3431' },
} as const;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface AxisOptions {
  readonly say: (value: number) => string;
  /** Between lines. */
  readonly steps: number[];
  /** Characters of the widest value, at least, for charts below each other. */
  readonly minWords?: number;
  readonly space?: number;
}

/** Time below, values at the left. */
export function axesOf(scheme: Scheme, { say, steps, minWords = 0, space = 44 }: AxisOptions): uPlot.Axis[] {
  const { axis, grid } = COLOURS[scheme];
  const both = { stroke: axis, font: FONT, ticks: { show: false } };
  return [
    {
      ...both,
      grid: { show: false },
      size: 28,
      space: 64,
      values: (...[, at, , , step]) => at.map((one) => tickText(one, step)),
    },
    {
      ...both,
      grid: { stroke: grid, width: 1 },
      // As wide as its widest words; there are none while it finds out.
      size: (_, words) =>
        16 + 7 * Math.max(minWords, ...((words as string[] | null)?.map(({ length }) => length) ?? [])),
      gap: 8,
      space,
      incrs: steps,
      values: (_, at) => at.map((value) => say(value)),
    },
  ];
}

/** A column stands right of the moment at which it begins. */
export const ROOM_FOR_LAST: uPlot.Scale = {
  range: ({ data: [times] }, min, max) => [min, max + ((times[1] ?? 0) - (times[0] ?? 0))],
};

/** Which of the stretches up to `last` a key leads to, from the one at hand. */
export function keyTo(key: string, from: number, last: number): number | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(from - 1, 0);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(from + 1, last);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return undefined;
}

/** Shows the cursor at a stretch. */
export function pointAt(plot: uPlot | null, index: number): void {
  const at = plot?.data[0][index];
  if (plot === null || at === undefined) return;
  plot.setCursor({ left: plot.valToPos(at, 'x'), top: 0 }, false);
}

/** Length of one stretch in milliseconds, of those that begin at these moments. */
export function stretchOf([first, second]: readonly number[]): number {
  return first === undefined || second === undefined ? 60_000 : second - first;
}
