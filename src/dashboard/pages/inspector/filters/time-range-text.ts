/** Words of a period between two instants. Pure. */
import { minuteText, periodText } from '../../../parts/format.ts';
import { type Filter, SPANS } from './filter.ts';

/** "2026-11-21 14:00 to 14:15 +01:00", in the time zone that the reader has chosen; undefined: the filter has no instant. */
export function rangeText({ since, until }: Pick<Filter, 'since' | 'until'>): string | undefined {
  const from = since === undefined || Object.hasOwn(SPANS, since) ? undefined : Date.parse(since);
  const to = until === undefined ? undefined : Date.parse(until);
  if (from === undefined) return to === undefined ? undefined : `until ${minuteText(to)}`;
  return to === undefined ? `since ${minuteText(from)}` : periodText(from, to);
}
