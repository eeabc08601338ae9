/** The parts of all charts around their canvas: text above, a slider for the keyboard, a table for screen readers. */
import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { KeyboardEvent, ReactNode, RefObject } from 'react';
import type uPlot from 'uplot';
import { clockText } from '../format.ts';
import { keyTo, pointAt } from './plot.ts';

interface ChartFigureProps {
  readonly label: string;
  /** Of the chosen stretch, or of the whole. */
  readonly words: string;
  readonly height: number;
  /** Where the canvas is put. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly plot: RefObject<uPlot | null>;
  /** Unix milliseconds at which stretches begin. */
  readonly starts: readonly number[];
  /** Number of the stretch under the pointer. */
  readonly chosen: number | undefined;
  readonly choose: (index: number | undefined) => void;
  /** Text of a stretch in the table. */
  readonly said: (index: number) => string;
  /** Enter on a stretch. */
  readonly onEnter?: (index: number) => void;
  readonly legend?: ReactNode;
}

/** Of the latest stretches. */
const ROWS = 12;

export function ChartFigure(props: ChartFigureProps) {
  const { label, words, height, box, plot, starts, chosen, choose, said, onEnter, legend } = props;
  const last = starts.length - 1;
  const isIdle = chosen === undefined || starts[chosen] === undefined;
  const go = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && onEnter !== undefined && !isIdle) return onEnter(chosen);
    const to = keyTo(event.key, chosen ?? last + 1, last);
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    pointAt(plot.current, to);
  };
  const above = (
    <Text size="sm" className="culvert-number culvert-chart-words" data-idle={isIdle}>
      {words}
    </Text>
  );
  const first = Math.max(starts.length - ROWS, 0);
  return (
    <figure className="culvert-chart">
      {legend === undefined ? (
        above
      ) : (
        <Group justify="space-between" gap="xs" align="flex-start">
          {above}
          {legend}
        </Group>
      )}
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
            {starts.slice(first).map((start, i) => (
              <tr key={start}>
                <th scope="row">{clockText(start)}</th>
                <td>{said(first + i)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}
