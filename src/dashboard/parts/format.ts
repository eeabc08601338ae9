/** Numbers, sizes and times as people read them. Pure: tested without a browser. */
import { zoned, zoneText } from './time/time-zone.ts';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** 1,536 → "1.5 KB". Units of 1,000, as bills count them. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** 12345 → "12,345". */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** US cents → "$12.34"; with what is less than a cent. */
export function moneyText(cents: number): string {
  const digits = Number.isInteger(cents) ? 2 : 4;
  return `$${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** 0.4 → "0.4 ms", 1234 → "1.23 s". */
export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  return spanText(ms);
}

/** From so many hours on minutes are left out. */
const MANY_HOURS = 10;

/**
 * The two largest units of a span, or what of them matters: "2 h 5 min", "14 h", "3 d". Rounded to the nearest of the smallest unit said: what was chosen as 30 days is so a second
 * later too.
 */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < MANY_HOURS * 60) return withRest(`${Math.floor(minutes / 60)} h`, minutes % 60, 'min');
  const hours = Math.round(seconds / 3600);
  if (hours < 24) return `${hours} h`;
  if (hours < 7 * 24) return withRest(`${Math.floor(hours / 24)} d`, hours % 24, 'h');
  return `${Math.round(seconds / 86_400)} d`;
}

/** "2 h 5 min" of "2 h" and 5. */
function withRest(large: string, rest: number, unit: string): string {
  return rest === 0 ? large : `${large} ${rest} ${unit}`;
}

/** "just now", "5 min ago", "in 2 h". `at`, `now`: Unix milliseconds. */
export function agoText(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 5000) return 'just now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(-ms)}`;
}

/** Unix milliseconds of a time as the API says it: RFC 3339, or Unix seconds. */
export function timeOf(at: string | number): number {
  return typeof at === 'number' ? at * 1000 : Date.parse(at);
}

/** "2026-11-21 14:03:22 +01:00", in the zone that the reader has chosen; in UTC "2026-11-21 14:03:22 UTC". `at`: Unix milliseconds. */
export function clockText(at: number): string {
  return `${dayText(at)} ${timeText(at, 8)} ${zoneText(at)}`;
}

/** "2026-11-21 14:03 +01:00". */
export function minuteText(at: number): string {
  return `${dayText(at)} ${timeText(at, 5)} ${zoneText(at)}`;
}

/** "2026-11-21 14:00 to 14:15 +01:00"; the day and the zone of the end alone where they are others. */
export function periodText(from: number, to: number): string {
  const [begin, end] = [minuteText(from), minuteText(to)];
  const zone = zoneText(to);
  const first = zone === zoneText(from) ? begin.slice(0, -zone.length - 1) : begin;
  return `${first} to ${dayText(from) === dayText(to) ? end.slice(dayText(to).length + 1) : end}`;
}

/** For narrow columns under a heading: "14:03:22" of today, "2026-11-21 14:03" of another day. */
export function shortTimeText(at: number, now = Date.now()): string {
  const day = dayText(at);
  return day === dayText(now) ? timeText(at, 8) : `${day} ${timeText(at, 5)}`;
}

/** "2026-11-21". */
export function dayText(at: number): string {
  return zoned(at).toISOString().slice(0, 10);
}

function timeText(at: number, length: 5 | 8): string {
  return zoned(at)
    .toISOString()
    .slice(11, 11 + length);
}
