/** Names of the objects of audit entries, at the time of the entry: the log outlives the rows. One query per kind. */
import { inArray } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  alertRules,
  capabilityTokens,
  domains,
  invitations,
  metricKeys,
  networkDevices,
  organizations,
  privateNetworks,
  projects,
  reservedSubdomains,
  tunnels,
  users,
  webhookReceivers,
} from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';

/** Characters of a name. */
const MAX_NAME = 256;

/** Of an audit entry. */
export interface Subject {
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceName?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

interface Place {
  readonly table: SQLiteTable;
  readonly id: SQLiteColumn;
  readonly name: SQLiteColumn;
}

const PLACES: Readonly<Record<string, Place>> = {
  user: { table: users, id: users.id, name: users.email },
  member: { table: users, id: users.id, name: users.email },
  organization: { table: organizations, id: organizations.id, name: organizations.name },
  billing: { table: organizations, id: organizations.id, name: organizations.name },
  invitation: { table: invitations, id: invitations.id, name: invitations.email },
  tunnel: { table: tunnels, id: tunnels.id, name: tunnels.label },
  token: { table: capabilityTokens, id: capabilityTokens.nonce, name: capabilityTokens.name },
  project: { table: projects, id: projects.id, name: projects.name },
  reserved_subdomain: { table: reservedSubdomains, id: reservedSubdomains.id, name: reservedSubdomains.subdomain },
  domain: { table: domains, id: domains.id, name: domains.domain },
  webhook_receiver: { table: webhookReceivers, id: webhookReceivers.id, name: webhookReceivers.name },
  network: { table: privateNetworks, id: privateNetworks.id, name: privateNetworks.name },
  network_device: { table: networkDevices, id: networkDevices.id, name: networkDevices.name },
  metric_key: { table: metricKeys, id: metricKeys.id, name: metricKeys.name },
  alert: { table: alertRules, id: alertRules.id, name: alertRules.kind },
};
/** Kinds whose id is their name. */
const NAMED_BY_ID: ReadonlySet<string> = new Set(['certificate', 'setting', 'backup', 'key']);
/** Of rows that are gone when the entry is written. */
const NAMING = ['name', 'email', 'domain', 'subdomain', 'slug', 'kind'] as const;

/** Of entries in their order; null: it has no name (a session), or is not known. */
export function namesOf(db: Db, entries: readonly Subject[]): ReadonlyArray<string | null> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [type, some] of Map.groupBy(entries, ({ resourceType }) => resourceType)) {
    const place = PLACES[type];
    if (place !== undefined) found.set(type, rowsOf(db, place, [...new Set(some.map(({ resourceId }) => resourceId))]));
  }
  return entries.map(({ resourceType, resourceId, resourceName, details }) => {
    const name = NAMED_BY_ID.has(resourceType) ? resourceId : found.get(resourceType)?.get(resourceId);
    const text = resourceName ?? name ?? nameIn(details);
    return text === null || text === '' ? null : text.slice(0, MAX_NAME).toWellFormed();
  });
}

function rowsOf(db: Db, { table, id, name }: Place, ids: readonly string[]): ReadonlyMap<string, string> {
  const rows = db.select({ id, name }).from(table).where(inArray(id, ids)).all();
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]));
}

function nameIn(details: Subject['details']): string | null {
  for (const key of NAMING) {
    const value = details?.[key];
    if (typeof value === 'string') return value;
  }
  return null;
}
