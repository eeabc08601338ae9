/** Times and spans of time as people write them in options: 2026-12-24, 2026-12-24T18:00Z; 90s, 15m, 2h, 7d. */

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

/** Milliseconds since 1970; undefined for anything but a date, which may have a time. `Date.parse` alone takes a forgotten unit ("3") for a year. */
export function momentMs(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
