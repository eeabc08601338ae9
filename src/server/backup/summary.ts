/** What the server of a database will serve: counts, and names of tunnels and domains. For the operator who restores it. */
import type { Sqlite } from '../../control/db/sqlite.ts';

export interface Served {
  readonly organizations: number;
  readonly users: number;
  /** Access keys that agents and commands can still use. */
  readonly accessKeys: number;
  readonly tunnels: Names;
  readonly domains: Names;
  readonly networks: Names;
}

export interface Names {
  readonly count: number;
  /** The first of them, by the alphabet. */
  readonly first: readonly string[];
}

const LISTED = 20;

/** Reads a database of this schema or an older one. */
export function servedBy(sqlite: Sqlite, now: number): Served {
  return {
    organizations: countOf(sqlite, 'organizations WHERE deleted_at IS NULL'),
    users: countOf(sqlite, 'users'),
    accessKeys: countOf(sqlite, `capability_tokens WHERE revoked_at IS NULL AND expires_at > ${Math.trunc(now)}`),
    tunnels: namesOf(sqlite, 'label', 'tunnels WHERE deleted_at IS NULL'),
    domains: namesOf(sqlite, 'domain', 'domains WHERE verified_at IS NOT NULL'),
    networks: namesOf(sqlite, 'name', 'private_networks'),
  };
}

function countOf(sqlite: Sqlite, from: string): number {
  return sqlite.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${from}`).get()?.n ?? 0;
}

function namesOf(sqlite: Sqlite, column: string, from: string): Names {
  const rows = sqlite.prepare<[], { name: string }>(`SELECT ${column} AS name FROM ${from} ORDER BY 1 LIMIT ${LISTED}`);
  return { count: countOf(sqlite, from), first: rows.all().map(({ name }) => name) };
}
