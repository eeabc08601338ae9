/** What the charts of latency show, made of the API's buckets. Pure. */
import type { Schemas } from '../../api/types.ts';
import { countText, durationText, timeOf } from '../../parts/format.ts';
import type { Series } from '../../parts/charts/series.ts';
import { SPANS, type Window } from '../overview/traffic.ts';

export type Latency = Schemas['Latency'];

export const PARTS = ['first_byte', 'total'] as const;
/** Of a response. */
export type Part = (typeof PARTS)[number];

export const PART_TITLES: Readonly<Record<Part, string>> = { first_byte: 'First byte', total: 'Whole response' };

const PERCENTILES = [
  { name: 'p50', field: 'p50_ms', colour: { light: '#148067', dark: '#57c7aa' } },
  { name: 'p95', field: 'p95_ms', colour: { light: '#1c6fb8', dark: '#6cb2ee' } },
  { name: 'p99', field: 'p99_ms', colour: { light: '#b3541e', dark: '#f0a066' } },
] as const;

/** From the axis up; what goes well is at the bottom. */
const CLASSES = [
  { name: '2xx', colour: { light: '#148067', dark: '#37b393' } },
  { name: '3xx', colour: { light: '#1c6fb8', dark: '#6cb2ee' } },
  { name: '1xx', colour: { light: '#7a56b8', dark: '#b79ae6' } },
  { name: 'canceled', colour: { light: '#8a9591', dark: '#8a9591' } },
  { name: '4xx', colour: { light: '#d9a021', dark: '#e6bb55' } },
  { name: '5xx', colour: { light: '#c92a2a', dark: '#ff6b6b' } },
] as const;

/** Between the lines of the axis of durations, in milliseconds. */
export const DURATION_STEPS: number[] = [
  ...[-1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power)),
  10_000,
  15_000,
  30_000,
  60_000,
  300_000,
  600_000,
];

/** Short enough for an axis: "2 ms", "1.5 s". */
export function axisText(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`;
  return ms < 1000 ? `${Number(ms.toFixed(1))} ms` : `${Number((ms / 1000).toFixed(1))} s`;
}

export function startsOf({ buckets }: Latency): readonly number[] {
  return buckets.map(({ start }) => timeOf(start));
}

export function percentileSeries({ buckets }: Latency, part: Part): readonly Series[] {
  return PERCENTILES.map(({ name, field, colour }) => ({
    name,
    colour,
    values: buckets.map((bucket) => bucket[part][field]),
  }));
}

/** Classes that the range has; 2xx in any case. */
export function statusSeries({ summary, buckets }: Latency): readonly Series[] {
  return CLASSES.filter(({ name }) => name === '2xx' || (summary.status[name] ?? 0) > 0).map(({ name, colour }) => ({
    name,
    colour,
    values: buckets.map(({ status }) => status[name] ?? 0),
  }));
}

/** "p50 12 ms, p95 48 ms, p99 0.12 s in the last hour". */
export function percentilesText({ summary }: Latency, part: Part, range: Window): string {
  const said = PERCENTILES.flatMap(({ name, field }) => {
    const ms = summary[part][field];
    return ms === null ? [] : [`${name} ${durationText(ms)}`];
  });
  if (said.length === 0) return `No request reached an agent in the last ${SPANS[range].words}`;
  return `${said.join(', ')} in the last ${SPANS[range].words}`;
}

/** "1,204 requests in the last hour, 0.2 % server errors". */
export function statusText({ summary }: Latency, range: Window): string {
  const { count, status } = summary;
  const failed = status['5xx'] ?? 0;
  const noun = count === 1 ? 'request' : 'requests';
  return `${countText(count)} ${noun} in the last ${SPANS[range].words}, ${shareText(failed, count)} server errors`;
}

/** A share that is not 0 is never said to be. */
export function shareText(part: number, all: number): string {
  if (part === 0 || all === 0) return 'no';
  const percent = (100 * part) / all;
  return percent < 0.1 ? 'under 0.1 %' : `${Number(percent.toFixed(percent < 10 ? 1 : 0))} %`;
}
