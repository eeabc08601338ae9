/**
 * Projects: namespaces of subdomains in an organization. One default project each, which adds no suffix and can't go away.
 */
import { and, eq, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { projects } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

export type ProjectRow = typeof projects.$inferSelect;

export const DEFAULT_PROJECT = 'default';

/** Makes the default project of a new organization. */
export function createDefaultProject(tx: Tx, orgId: string): void {
  tx.db
    .insert(projects)
    .values({ id: uuidv7(), orgId, slug: DEFAULT_PROJECT, name: 'Default', isDefault: true, createdAt: tx.now })
    .run();
}

/** The live project with this slug, or the default one when none is named; undefined when the organization has no such project. */
export function findProject(db: Db, orgId: string, slug: string | undefined): ProjectRow | undefined {
  const which = slug === undefined ? eq(projects.isDefault, true) : eq(projects.slug, slug);
  return db
    .select()
    .from(projects)
    .where(and(eq(projects.orgId, orgId), which, isNull(projects.deletedAt)))
    .get();
}

/** The live project with this id in the organization. */
export function findProjectById(db: Db, orgId: string, id: string): ProjectRow | undefined {
  return db
    .select()
    .from(projects)
    .where(and(eq(projects.orgId, orgId), eq(projects.id, id), isNull(projects.deletedAt)))
    .get();
}
