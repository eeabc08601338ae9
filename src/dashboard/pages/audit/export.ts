/** The audit log as a file. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { actionWords } from './actions.ts';

export type AuditEvent = Schemas['AuditEvent'] & { readonly orgId?: string | null };

/** As much as one file holds: a bound for the memory of the page. */
export const MAX_EXPORTED = 10_000;
/** Asked for at once: what the API gives at most. */
const PAGE = 1000;

/** Reads page after page, newest first, until there is no more or the bound is reached. `page`: those before this id. */
export async function collectEvents(
  page: (before: string | undefined, limit: number) => Promise<readonly AuditEvent[]>,
): Promise<readonly AuditEvent[]> {
  const all: AuditEvent[] = [];
  while (all.length < MAX_EXPORTED) {
    const limit = Math.min(PAGE, MAX_EXPORTED - all.length);
    const some = await page(all.at(-1)?.id, limit);
    all.push(...some);
    if (some.length < limit) break;
  }
  return all;
}

const COLUMNS: ReadonlyArray<readonly [title: string, of: (event: AuditEvent) => string]> = [
  ['time', (event) => event.timestamp],
  ['action', (event) => event.action],
  ['label', (event) => actionWords(event.action)],
  ['actor', (event) => event.userEmail],
  ['actor_type', (event) => event.actorType],
  ['ip_address', (event) => event.ipAddress],
  ['resource_type', (event) => event.resourceType],
  ['resource_id', (event) => event.resourceId],
  ['resource_name', (event) => event.resourceName ?? ''],
  ['changes', (event) => (event.changes.length === 0 ? '' : JSON.stringify(event.changes))],
  ['details', (event) => (event.details === null ? '' : JSON.stringify(event.details))],
  ['id', (event) => event.id],
];
const ORGANIZATION = ['organization', (event: AuditEvent) => event.orgId ?? ''] as const;

/** RFC 4180, for spreadsheets: what such a program would take for a formula is marked as text. */
export function csvOf(events: readonly AuditEvent[]): string {
  const columns = events.some(({ orgId }) => orgId !== undefined) ? [...COLUMNS, ORGANIZATION] : COLUMNS;
  const lines = [columns.map(([title]) => title), ...events.map((event) => columns.map(([, of]) => of(event)))];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Names and addresses are chosen by strangers, and a spreadsheet runs what begins so. */
const FORMULA = /^[=+\-@\t\r\n]/;

export function csvCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export function jsonOf(events: readonly AuditEvent[]): string {
  return `${JSON.stringify(events, undefined, 2)}\n`;
}
