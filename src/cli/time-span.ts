/** Spans of time as people write them in options: 90s, 15m, 2h, 7d. */

const FORM = /^(\d{1,6})([smhd])$/;
const SECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/** Milliseconds; undefined when it is written in another way. */
export function spanMs(text: string): number | undefined {
  const [, count, unit = ''] = FORM.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (SECONDS.get(unit) ?? 0) * 1000;
}
