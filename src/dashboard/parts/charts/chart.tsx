/**
 * Columns over time, drawn on a canvas. What the one under the pointer says stands above it; by the keyboard it is a slider, whose arrows go from
 * column to column, and for screen readers its latest figures are a table too.
 */
import { Text, useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { bucketText, WHOLE_STEPS } from './chart-axis.ts';
import { axesOf, keyTo, pointAt, ROOM_FOR_LAST, type Scheme, stretchOf } from './plot.ts';
import { clockText } from '../format.ts';

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
  const words =
    point === undefined ? idle : `${bucketText(point.at, stretchOf(points.map(({ at }) => at)))}: ${say(point.value)}`;
  const last = points.length - 1;
  const go = (event: KeyboardEvent): void => {
    const to = keyTo(event.key, chosen ?? last + 1, last);
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    pointAt(plot.current, to);
  };
  return (
    <figure className="culvert-chart">
      <Text size="sm" className="culvert-number culvert-chart-words" data-idle={point === undefined}>
        {words}
      </Text>
      <div
        ref={box}
        style={{ height }}
        className="culvert-chart-box"
        role="slider"
        tabIndex={0}
        aria-label={`${label}, by time`}
        aria-valuemin={0}
        aria-valuemax={Math.max(last, 0)}
        aria-valuenow={chosen ?? Math.max(last, 0)}
        aria-valuetext={words === '' ? label : words}
        onKeyDown={go}
        onBlur={() => {
          choose(undefined);
          plot.current?.setCursor({ left: -10, top: -10 });
        }}
      />
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <tbody>
            {points.slice(-12).map(({ at, value }) => (
              <tr key={at}>
                <th scope="row">{clockText(at)}</th>
                <td>{say(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
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
