/** Time ranges of a redelivery. Pure. */

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

/** As the API takes it; undefined: it is not complete, or ends before it begins. */
export function fromOf(choice: RangeChoice, { from, to, now }: Typed): { from: string; to: string } | undefined {
  const [first, last] =
    choice === 'custom' ? [Date.parse(from), Date.parse(to)] : [now - Number(choice) * HOUR_MS, now];
  if (Number.isNaN(first) || Number.isNaN(last) || first > last) return undefined;
  return { from: new Date(first).toISOString(), to: new Date(last).toISOString() };
}

/** 2026-11-21T14:03, in the reader's own time zone. */
export function localText(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
