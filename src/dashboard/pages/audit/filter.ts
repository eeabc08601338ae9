/** The filter of the audit log: in the page's address, and as the API takes it. Pure. */
import { startOfDay } from '../../parts/time/time-zone.ts';

export interface Filter {
  readonly action: string | null;
  readonly actor: string;
  /** A day of the zone that the reader has chosen, 2026-11-21; empty: from the beginning. */
  readonly since: string;
  /** The last day; empty: until now. */
  readonly until: string;
  /** Events at a time. */
  readonly limit: number;
  /** ID or slug; for operators only. */
  readonly org: string;
}

export const SIZES = [50, 100, 500, 1000] as const;
const TEXTS = ['actor', 'since', 'until', 'org'] as const;

/** A link may hold anything: unknown values are ignored. */
export function filterIn(params: URLSearchParams): Filter {
  const of = (name: (typeof TEXTS)[number]): string => params.get(name) ?? '';
  return {
    action: params.get('action'),
    actor: of('actor'),
    since: dayOf(of('since')),
    until: dayOf(of('until')),
    limit: SIZES.find((size) => String(size) === params.get('limit')) ?? SIZES[0],
    org: of('org'),
  };
}

/** The opposite of `filterIn`; defaults are left out. */
export function paramsOf(filter: Filter): URLSearchParams {
  const params = new URLSearchParams();
  if (filter.action !== null) params.set('action', filter.action);
  for (const name of TEXTS) if (filter[name] !== '') params.set(name, filter[name]);
  if (filter.limit !== SIZES[0]) params.set('limit', String(filter.limit));
  return params;
}

/** As the API takes it, without the size of a page. */
export function queryOf({ action, actor, since, until }: Filter) {
  const who = actor.trim();
  return {
    ...(action === null ? {} : { action }),
    ...(who === '' ? {} : { actor: who }),
    ...(since === '' ? {} : { start_time: new Date(startOfDay(since)).toISOString() }),
    ...(until === '' ? {} : { end_time: new Date(startOfDay(nextDay(until))).toISOString() }),
  };
}

function dayOf(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '';
}

/** By the calendar: a day of the reader's zone may have 23 or 25 hours. */
function nextDay(day: string): string {
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}
