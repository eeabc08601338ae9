/** Durations as people write them: `500ms`, `10s`, `5m`, `2h`, `7d`. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `text`; undefined when it is no duration. A number without a unit is not one: seconds or milliseconds? */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  const unit = match === null ? undefined : UNIT_MS[match[2] as string];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
