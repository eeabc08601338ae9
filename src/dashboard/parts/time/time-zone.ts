/** Whether times are shown in the zone of the browser or in UTC. Kept in the browser; a page is drawn anew when it changes. */
import { useSyncExternalStore } from 'react';

export type TimeZone = 'local' | 'utc';

const KEY = 'culvert-time-zone';
const listeners = new Set<() => void>();
/** One for the whole page: times are written by functions that know no component. */
const chosen: { zone: TimeZone } = { zone: stored() === 'utc' ? 'utc' : 'local' };

/** A browser that keeps nothing begins with its own zone. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function timeZone(): TimeZone {
  return chosen.zone;
}

export function setTimeZone(next: TimeZone): void {
  chosen.zone = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Then it holds until the page is loaded again.
  }
  for (const listener of listeners) listener();
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore(subscribe, timeZone);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** "Europe/Berlin (UTC+01:00)": the browser's own. */
export function localZoneText(now = new Date()): string {
  return `${Intl.DateTimeFormat().resolvedOptions().timeZone} (UTC${offsetText(now)})`;
}

/** The chosen zone at a time, Unix milliseconds, by default now: "UTC", or the offset of the browser's own: "+01:00". */
export function zoneText(at = Date.now()): string {
  return chosen.zone === 'utc' ? 'UTC' : offsetText(new Date(at));
}

function offsetText(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Start of a day of the chosen zone, Unix milliseconds. `day`: 2026-11-21; NaN if it is none. */
export function startOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00${chosen.zone === 'utc' ? 'Z' : ''}`);
}

/** A date whose parts (`getUTCHours`, …) are those of the chosen zone. */
export function zoned(at: number): Date {
  return chosen.zone === 'utc' ? new Date(at) : new Date(at - new Date(at).getTimezoneOffset() * 60_000);
}
