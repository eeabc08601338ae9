/**
 * Columns over time, drawn on a canvas. What the one under the pointer says stands above it; by the keyboard it is a slider, whose arrows go from
 * column to column, and for screen readers its latest figures are a table too.
 */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { WHOLE_STEPS } from './chart-axis.ts';
import { periodText } from '../format.ts';
import { ChartFigure } from './chart-figure.tsx';
import { axesOf, ROOM_FOR_LAST, type Scheme, stretchOf } from './plot.ts';

interface Point {
  /** Unix milliseconds at which its stretch begins; all stretches are of one length. */
  readonly at: number;
  readonly value: number;
}

interface ChartProps {
  readonly label: string;
  readonly points: readonly Point[];
  /** How a value is said: `bytesText`, `countText`. */
  readonly say: (value: number) => string;
  /** Pixels. */
  readonly height?: number;
  /** The text above it while the pointer is elsewhere. */
  readonly idle?: string;
}

const COLUMN = { light: '#148067', dark: '#57c7aa' } as const;

export function Chart({ label, points, say, height = 220, idle = '' }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(points);
  const [chosen, choose] = useState<number>();
  const scheme = useComputedColorScheme('light');
  // `say` is a function of the module that calls: it is the same for the life of the chart.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new uPlot(
      optionsFor({ label, say, height, width: element.clientWidth, scheme, choose }),
      dataOf(latest.current),
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [label, say, height, scheme]);
  useEffect(() => {
    latest.current = points;
    plot.current?.setData(dataOf(points));
  }, [points]);

  const point = chosen === undefined ? undefined : points[chosen];
  const starts = points.map(({ at }) => at);
  const words =
    point === undefined ? idle : `${periodText(point.at, point.at + stretchOf(starts))}: ${say(point.value)}`;
  return (
    <ChartFigure
      label={label}
      words={words}
      height={height}
      box={box}
      plot={plot}
      starts={starts}
      chosen={chosen}
      choose={choose}
      said={(index) => say(points[index]?.value ?? 0)}
    />
  );
}

function dataOf(points: readonly Point[]): uPlot.AlignedData {
  return [points.map(({ at }) => at / 1000), points.map(({ value }) => value)];
}

interface Look extends Pick<ChartProps, 'label' | 'say'> {
  readonly height: number;
  readonly width: number;
  readonly scheme: Scheme;
  readonly choose: (index: number | undefined) => void;
}

function optionsFor({ label, say, height, width, scheme, choose }: Look): uPlot.Options {
  const columns = uPlot.paths.bars?.({ size: [0.8, 40, 1], align: 1, radius: 0.15 });
  return {
    width: Math.max(width, 100),
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: ROOM_FOR_LAST,
      y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] },
    },
    axes: axesOf(scheme, { say, steps: WHOLE_STEPS }),
    series: [
      {},
      {
        label,
        fill: COLUMN[scheme],
        width: 0,
        points: { show: false },
        ...(columns === undefined ? {} : { paths: columns }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => choose(cursor.idx ?? undefined)] },
  };
}
