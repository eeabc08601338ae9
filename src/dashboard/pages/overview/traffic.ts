/** Metrics and time ranges of the traffic chart, and their labels. Pure. */
import { bytesText, countText } from '../../parts/format.ts';

export const METRICS = ['requests', 'bytes_in', 'bytes_out'] as const;
export type Metric = (typeof METRICS)[number];

export const WINDOWS = ['1h', '24h', '7d', '30d'] as const;
export type Window = (typeof WINDOWS)[number];

interface Told {
  /** For the choice. */
  readonly title: string;
  /** What the columns are. */
  readonly label: string;
  readonly say: (value: number) => string;
}

export const TOLD: Readonly<Record<Metric, Told>> = {
  requests: { title: 'Requests', label: 'Requests', say: countText },
  bytes_in: { title: 'In', label: 'Bytes from visitors', say: bytesText },
  bytes_out: { title: 'Out', label: 'Bytes to visitors', say: bytesText },
};

export const SPANS: Readonly<
  Record<Window, { readonly title: string; readonly words: string; readonly everyMs: number }>
> = {
  '1h': { title: '1 h', words: 'hour', everyMs: 5_000 },
  '24h': { title: '24 h', words: '24 hours', everyMs: 5_000 },
  '7d': { title: '7 d', words: '7 days', everyMs: 60_000 },
  '30d': { title: '30 d', words: '30 days', everyMs: 60_000 },
};

/** "1,234 forwarded in the last 7 days": the edge blocks others, which the chart of status classes counts too. */
export function totalText(metric: Metric, window: Window, values: readonly number[]): string {
  const total = values.reduce((sum, value) => sum + value, 0);
  return `${TOLD[metric].say(total)}${metric === 'requests' ? ' forwarded' : ''} in the last ${SPANS[window].words}`;
}
