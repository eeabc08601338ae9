/** Words and steps of a chart's axes. Pure; used by chart.tsx. */
import { zoned } from '../time/time-zone.ts';

const DAY_SECONDS = 86_400;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Steps between lines: whole numbers, for there is no half request. */
export const WHOLE_STEPS: number[] = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((one) => one * 10 ** power),
).flat();

/** 14:00 where lines are hours apart, 21 Nov where they are days. `at`: Unix seconds, in the zone that the reader has chosen. */
export function tickText(at: number, stepSeconds: number): string {
  const date = zoned(at * 1000);
  return stepSeconds >= DAY_SECONDS ? dayText(date) : timeText(date);
}

function dayText(date: Date): string {
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

function timeText(date: Date): string {
  return `${String(date.getUTCHours()).padStart(2, '0')}:${String(date.getUTCMinutes()).padStart(2, '0')}`;
}
