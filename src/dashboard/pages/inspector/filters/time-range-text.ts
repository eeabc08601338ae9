/** Words of a period between two instants. Pure. */
import { clockText } from '../../../parts/format.ts';
import { type Filter, SPANS } from './filter.ts';

/** "2026-11-21 14:00 to 14:15", in the reader's own time zone; undefined: the filter has no instant. */
export function rangeText({ since, until }: Pick<Filter, 'since' | 'until'>): string | undefined {
  const from = since === undefined || Object.hasOwn(SPANS, since) ? undefined : minuteText(since);
  const to = until === undefined ? undefined : minuteText(until);
  if (from === undefined) return to === undefined ? undefined : `until ${to}`;
  if (to === undefined) return `since ${from}`;
  const [day, time] = to.split(' ');
  return `${from} to ${from.startsWith(`${day} `) ? time : to}`;
}

function minuteText(instant: string): string {
  return clockText(Date.parse(instant)).slice(0, -3);
}
