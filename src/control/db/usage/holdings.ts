/** Whose records there are, and how they are forgotten. In the thread alone (usage-desk.ts). */
import type { Sqlite } from '../sqlite.ts';
import { type KnownTunnel, TUNNELS_PAGE } from './records.ts';

/** Its rows are found no more from here on; deletions.ts removes them. */
export function forgetTunnel(sqlite: Sqlite, orgId: string, tunnelId: string): void {
  sqlite
    .prepare('UPDATE tunnels SET id = NULL WHERE id = ? AND org = (SELECT n FROM organizations WHERE id = ?)')
    .run(tunnelId, orgId);
}

export function forgetOrganization(sqlite: Sqlite, orgId: string): void {
  sqlite.prepare('UPDATE organizations SET id = NULL WHERE id = ?').run(orgId);
}

export function organizations(sqlite: Sqlite): readonly string[] {
  return sqlite.prepare<[], string>('SELECT id FROM organizations WHERE id IS NOT NULL').pluck().all();
}

export function tunnels(sqlite: Sqlite, after: string | null): readonly KnownTunnel[] {
  return sqlite
    .prepare<[string, number], KnownTunnel>(
      `SELECT o.id AS orgId, t.id AS tunnelId FROM tunnels t JOIN organizations o ON o.n = t.org
       WHERE t.id > ? AND o.id IS NOT NULL ORDER BY t.id LIMIT ?`,
    )
    .all(after ?? '', TUNNELS_PAGE);
}
