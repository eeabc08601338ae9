/** A line over time. Drawn on a canvas, which screen readers can't read: they get its figures as a table. */
import { useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { clockText } from './words.ts';

export interface Point {
  /** Unix milliseconds. */
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
}

const COLOURS = {
  light: { line: '#0b6b57', area: '#0b6b5722', axis: '#5b6662', grid: '#d5dad7' },
  dark: { line: '#57c7aa', area: '#57c7aa22', axis: '#9aa7a2', grid: '#37413e' },
} as const;

export function Chart({ label, points, say, height = 220 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(points);
  const scheme = useComputedColorScheme('light');
  // `say` is a function of the module that calls: it is the same for the life of the chart.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new uPlot(
      optionsFor({ label, say, height, width: element.clientWidth, scheme }),
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
  return (
    <figure className="culvert-chart">
      <div ref={box} aria-hidden="true" style={{ height }} />
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
  readonly scheme: 'light' | 'dark';
}

function optionsFor({ label, say, height, width, scheme }: Look): uPlot.Options {
  const { line, area, axis, grid } = COLOURS[scheme];
  const axes = { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  return {
    width: Math.max(width, 100),
    height,
    legend: { show: false },
    cursor: { y: false },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [axes, { ...axes, size: 72, values: (_, splits) => splits.map((value) => say(value)) }],
    series: [{}, { label, stroke: line, fill: area, width: 2, points: { show: false } }],
  };
}
