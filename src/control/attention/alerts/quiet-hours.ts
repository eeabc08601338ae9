/** Hours of the day in which no alert is sent. Pure. */
import { RecentMap } from '../../../base/limits/recent-map.ts';

/** `from` and `to` as `22:00`; past midnight where `to` is earlier. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
  /** IANA name, as `Europe/Berlin`. */
  readonly time_zone: string;
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;

/** There are some 600 zones, and offsets (`+01:00`), which are taken too. */
const MAX_CLOCKS = 1_000;
/** One formatter per zone, whose name may be spelled in any case: to make one takes as long as a hundred uses. */
const CLOCKS = new RecentMap<string, Intl.DateTimeFormat>({ max: MAX_CLOCKS });

function isTimeZone(name: string): boolean {
  return name.length <= 64 && clockOf(name) !== undefined;
}

/** What is wrong with the hours, by field; null: nothing. */
export function quietHoursProblem({ from, to, time_zone }: QuietHours): { field: string; message: string } | null {
  for (const [field, text] of [
    ['from', from],
    ['to', to],
  ] as const)
    if (!TIME_OF_DAY.test(text)) return { field, message: 'must be a time of day such as 22:00' };
  if (from === to) return { field: 'to', message: 'must differ from `from`' };
  return isTimeZone(time_zone)
    ? null
    : { field: 'time_zone', message: 'must be the name of a time zone, such as Europe/Berlin or UTC' };
}

/** Is the instant (milliseconds) within them? The end is not. */
export function isQuiet(hours: QuietHours | null, at: number): boolean {
  if (hours === null) return false;
  const time = clockOf(hours.time_zone)?.format(at);
  // A zone that this build does not know any more: an alert too many is the lesser harm.
  if (time === undefined) return false;
  const { from, to } = hours;
  return from < to ? time >= from && time < to : time >= from || time < to;
}

function clockOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const key = timeZone.toLowerCase();
  const known = CLOCKS.get(key);
  if (known !== undefined) return known;
  try {
    const made = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    CLOCKS.set(key, made);
    return made;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
