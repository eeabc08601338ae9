/** How long a new tunnel may live: what the plan allows, and a choice of what people ask for. Pure. */
import { spanText } from '../../parts/format.ts';

const HOUR = 3600;
const PRESETS = [HOUR, 8 * HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR] as const;

export interface TtlChoice {
  /** Seconds as text; empty: as long as the plan allows. */
  readonly value: string;
  readonly label: string;
}

/** `max`: seconds, null = the plan knows no end. */
export function ttlChoices(max: number | null): readonly TtlChoice[] {
  const longest = { value: '', label: max === null ? 'No end' : `${spanOf(max)}, as long as your plan allows` };
  const shorter = PRESETS.filter((seconds) => max === null || seconds < max);
  return [longest, ...shorter.map((seconds) => ({ value: String(seconds), label: spanOf(seconds) }))];
}

/** 3600 → "1 hour". */
function spanOf(seconds: number): string {
  const [count, unit] = seconds % (24 * HOUR) === 0 ? [seconds / (24 * HOUR), 'day'] : [seconds / HOUR, 'hour'];
  if (!Number.isInteger(count)) return spanText(seconds * 1000);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
