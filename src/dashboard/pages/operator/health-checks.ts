/** Titles, order and colors of the health checks. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';

export type HealthCheck = Schemas['OperatedHealthCheck'];
type Status = HealthCheck['status'];

export const STATUS: Readonly<Record<Status, { readonly label: string; readonly tone: Tone }>> = {
  fail: { label: 'Failed', tone: 'bad' },
  warn: { label: 'Warning', tone: 'warn' },
  ok: { label: 'OK', tone: 'good' },
};

const ORDER: readonly Status[] = ['fail', 'warn', 'ok'];

/** What needs attention first; else in the order of the server. */
export function byUrgency(checks: readonly HealthCheck[]): readonly HealthCheck[] {
  return checks.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
}

/** `disk_space` → "Disk space": also of checks that this page does not know. */
export function checkTitle(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
