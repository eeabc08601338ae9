/**
 * Lines, or stacked columns, over time. What stands under the pointer is said above; by the keyboard it is a slider, as chart.tsx. A stretch that is
 * dragged over, or Enter, opens what happened in it.
 */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { periodText } from '../format.ts';
import { ChartFigure } from './chart-figure.tsx';
import { axesOf, ROOM_FOR_LAST, type Scheme, stretchOf } from './plot.ts';
import { type Selection, type Series, snapped, stacked, valuesText } from './series.ts';

interface SeriesChartProps {
  readonly label: string;
  /** Columns stand on each other. */
  readonly isStacked?: boolean;
  /** Unix milliseconds at which stretches begin; all are of one length. */
  readonly starts: readonly number[];
  readonly series: readonly Series[];
  /** How a value is said, a function of the calling module. */
  readonly say: (value: number) => string;
  /** Between the lines of the value axis, of the calling module. */
  readonly steps: number[];
  /** The text above it while the pointer is elsewhere. */
  readonly idle: string;
  readonly height?: number;
  /** A selection was made. */
  readonly onPick: (selection: Selection) => void;
}

/** Fewer pixels are a click. */
const MIN_DRAG = 4;

export function SeriesChart(props: SeriesChartProps) {
  const { label, isStacked = false, starts, series, say, steps, idle, height = 180, onPick } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  const [chosen, choose] = useState<number>();
  const scheme = useComputedColorScheme('light');
  const names = series.map(({ name }) => name).join();
  useEffect(() => {
    latest.current = props;
  });
  // Another set of series is another plot; `names` says when that is.
  useEffect(() => {
    const element = box.current;
    if (element === null || names === '') return;
    const pick = (selection: Selection): void => {
      const { current } = latest;
      current.onPick(snapped(selection, current.starts, stretchOf(current.starts)));
    };
    const look = { scheme, say, steps, isStacked, height, width: element.clientWidth, choose, pick };
    const made = new uPlot(optionsFor(latest.current.series, look), dataOf(latest.current), element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names, isStacked, say, steps, height, scheme]);
  useEffect(() => {
    plot.current?.setData(dataOf({ starts, series, isStacked }));
  }, [starts, series, isStacked]);

  const at = chosen === undefined ? undefined : starts[chosen];
  const said = (index: number): string => valuesText(series, index, { say, isStacked });
  const words =
    at === undefined || chosen === undefined ? idle : `${periodText(at, at + stretchOf(starts))}: ${said(chosen)}`;
  const pickAt = (index: number): void => {
    const from = starts[index];
    if (from !== undefined) onPick({ from, until: from + stretchOf(starts) });
  };
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
      said={said}
      onEnter={pickAt}
      legend={<Legend series={series} scheme={scheme} />}
    />
  );
}

function Legend({ series, scheme }: { readonly series: readonly Series[]; readonly scheme: Scheme }) {
  return (
    <ul className="culvert-legend">
      {series.map(({ name, colour }) => (
        <li key={name}>
          <svg width={10} height={10} aria-hidden>
            <rect width={10} height={10} rx={2} fill={colour[scheme]} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

function dataOf({ starts, series, isStacked }: Pick<SeriesChartProps, 'starts' | 'series' | 'isStacked'>) {
  const values = isStacked === true ? stacked(series) : series.map((one) => [...one.values]);
  return [starts.map((at) => at / 1000), ...values] satisfies uPlot.AlignedData;
}

interface Look extends Required<Pick<SeriesChartProps, 'say' | 'steps' | 'isStacked' | 'height'>> {
  readonly width: number;
  readonly scheme: Scheme;
  readonly choose: (index: number | undefined) => void;
  readonly pick: (selection: Selection) => void;
}

function optionsFor(series: readonly Series[], look: Look): uPlot.Options {
  const { say, steps, isStacked, height, width, scheme, choose, pick } = look;
  const columns = uPlot.paths.bars?.({ size: [0.8, 40, 1], align: 1 });
  const column = { width: 0, points: { show: false }, ...(columns === undefined ? {} : { paths: columns }) };
  const drawn = series.map(({ name, colour }) =>
    isStacked
      ? { label: name, fill: colour[scheme], ...column }
      : { label: name, stroke: colour[scheme], width: 2, points: { show: true, size: 5, fill: colour[scheme] } },
  );
  return {
    width: Math.max(width, 100),
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: !isStacked }, drag: { x: true, y: false, setScale: false } },
    scales: { x: ROOM_FOR_LAST, y: { range: (_, __, max) => [0, Math.max((max || 0) * 1.1, 1)] } },
    axes: axesOf(scheme, { say, steps, minWords: 6, space: 32 }),
    series: [{}, ...(isStacked ? drawn.toReversed() : drawn)],
    hooks: {
      setCursor: [({ cursor }) => choose(cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < MIN_DRAG) return;
          pick({ from: plot.posToVal(left, 'x') * 1000, until: plot.posToVal(left + wide, 'x') * 1000 });
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
