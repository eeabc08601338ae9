/** Time ranges of a redelivery. Pure. */
import { timeZone, zoned } from '../../parts/time/time-zone.ts';

export const RANGES = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: 'custom', label: 'Custom' },
] as const;
export type RangeChoice = (typeof RANGES)[number]['value'];

export const STATE_CHOICES = [
  { value: 'failed', label: 'Failed' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'all', label: 'All' },
] as const;
export type StateChoice = (typeof STATE_CHOICES)[number]['value'];

const HOUR_MS = 3_600_000;

interface Typed {
  /** As an input of a local time has them. */
  readonly from: string;
  readonly to: string;
  /** Unix milliseconds. */
  readonly now: number;
}

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** As the API takes it; undefined: it is not complete, or ends before it begins. */
export function fromOf(choice: RangeChoice, { from, to, now }: Typed): Range | undefined {
  const [first, last] = choice === 'custom' ? [typedAt(from), typedAt(to)] : [now - Number(choice) * HOUR_MS, now];
  if (Number.isNaN(first) || Number.isNaN(last) || first > last) return undefined;
  return { from: new Date(first).toISOString(), to: new Date(last).toISOString() };
}

/** In the zone in which the dashboard shows times. */
function typedAt(text: string): number {
  return Date.parse(timeZone() === 'utc' ? `${text}Z` : text);
}

/** 2026-11-21T14:03, in that zone. */
export function localText(at: number): string {
  return zoned(at).toISOString().slice(0, 16);
}

/** One key for one range and state: the server queues nothing for a key that it knows. `dialog`: of one opened dialog. */
export function keyOf(dialog: string, { from, to }: Range, state: StateChoice): string {
  return `${dialog} ${from} ${to} ${state}`;
}
