/** Whether times are shown in the zone of the browser or in UTC. Kept in the browser; a page is drawn anew when it changes. */
import { useSyncExternalStore } from 'react';

export type TimeZone = 'local' | 'utc';

/** Of the storage, and of the event that says that it changed. */
const KEY = 'culvert-time-zone';

/** Of the document, else what the browser has kept. Without a browser: its own zone. */
export function timeZone(): TimeZone {
  if (typeof document === 'undefined') return 'local';
  const { dataset } = document.documentElement;
  dataset['timeZone'] ??= stored() ?? 'local';
  return dataset['timeZone'] === 'utc' ? 'utc' : 'local';
}

/** A browser that keeps nothing begins with its own zone. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function setTimeZone(next: TimeZone): void {
  document.documentElement.dataset['timeZone'] = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Then it holds until the page is loaded again.
  }
  window.dispatchEvent(new Event(KEY));
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore(subscribe, timeZone);
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(KEY, listener);
  return () => window.removeEventListener(KEY, listener);
}

/** "Europe/Berlin (UTC+01:00)": the browser's own. */
export function localZoneText(now = new Date()): string {
  const minutes = -now.getTimezoneOffset();
  const two = (value: number): string => String(value).padStart(2, '0');
  const span = `${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${Intl.DateTimeFormat().resolvedOptions().timeZone} (UTC${minutes < 0 ? '-' : '+'}${span})`;
}

/** A date whose parts (`getUTCHours`, …) are those of the chosen zone. */
export function zoned(at: number): Date {
  return timeZone() === 'utc' ? new Date(at) : new Date(at - new Date(at).getTimezoneOffset() * 60_000);
}
