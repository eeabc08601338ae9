/** A message as all channels send it, each in its own format. Pure. */
import type { IncidentRow } from '../incident-rows.ts';
import { ENDS, PLURALS } from '../messages.ts';
import type { AlertKind } from '../rows.ts';

export type NoticeEvent = 'fired' | 'reminder' | 'recovered' | 'test';

export interface NoticeItem {
  /** Of the incident. */
  readonly id: string;
  readonly object: { readonly type: string; readonly id: string };
  readonly title: string;
  readonly detail: string;
  /** Milliseconds. */
  readonly since: number;
  /** Milliseconds; null: it goes on. */
  readonly endedAt: number | null;
  /** Path of a page of the dashboard. */
  readonly href: string;
}

export interface Notice {
  readonly event: NoticeEvent;
  readonly ruleId: string;
  readonly kind: AlertKind;
  readonly organization: { readonly id: string; readonly name: string };
  /** Milliseconds. */
  readonly at: number;
  /** At least one, at most MAX_ITEMS. */
  readonly items: readonly NoticeItem[];
  /** How many there are besides. */
  readonly more: number;
}

/** A message names so many. */
export const MAX_ITEMS = 20;

/** Whose message it is. */
export type NoticeHead = Omit<Notice, 'event' | 'items' | 'more'>;

export function noticeOf(head: NoticeHead, event: NoticeEvent, rows: readonly IncidentRow[]): Notice {
  const items = rows.slice(0, MAX_ITEMS).map((row) => ({
    id: row.id,
    object: { type: row.objectType, id: row.objectId },
    title: event === 'recovered' ? ENDS[head.kind](row.name) : row.title,
    detail: event === 'recovered' ? `Alert: ${row.title}.` : row.detail,
    since: row.since,
    endedAt: event === 'recovered' ? row.wellAt : null,
    href: row.href,
  }));
  return { ...head, event, items, more: Math.max(0, rows.length - items.length) };
}

export function testNotice(head: NoticeHead, id: string): Notice {
  const item: NoticeItem = {
    id,
    object: { type: 'alert', id: head.ruleId },
    title: 'Test alert',
    detail: 'A member of your organization sent this test. Alerts of this rule arrive here.',
    since: head.at,
    endedAt: null,
    href: '/app/alerts',
  };
  return { ...head, event: 'test', items: [item], more: 0 };
}

/** One line. */
export function headline({ event, kind, items, more }: Notice): string {
  const count = items.length + more;
  const [first] = items;
  if (first === undefined) return '';
  if (event === 'recovered') return count === 1 ? first.title : `Resolved: ${count} ${PLURALS[kind]}`;
  const text = count === 1 ? first.title : `${count} ${PLURALS[kind]}`;
  return event === 'reminder' ? `Still: ${text}` : text;
}

/** Since when, until when, and for how long. */
export function spanText({ since, endedAt }: NoticeItem, at: number): string {
  const from = `Since ${utc(since)}`;
  return endedAt === null
    ? `${from} (${durationText(at - since)})`
    : `${from} until ${utc(endedAt)} (${durationText(endedAt - since)})`;
}

export function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function durationText(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}
