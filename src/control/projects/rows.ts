/** Rows of projects, for all services: find one, and say which of them a label belongs to. */
import { and, eq, inArray, isNull, or } from 'drizzle-orm';
import { projects } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import { isLabel } from '../core/rules/labels.ts';

export type ProjectRow = typeof projects.$inferSelect;

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

/** Slugs of the organization's live projects, by id. */
export function slugsOf(db: Db, orgId: string): ReadonlyMap<string, string> {
  const rows = db
    .select({ id: projects.id, slug: projects.slug })
    .from(projects)
    .where(and(eq(projects.orgId, orgId), isNull(projects.deletedAt)))
    .all();
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}

/**
 * The live project of the organization that a label belongs to: of those whose suffix it ends with, the one with the longest slug; the default
 * project when there is none. So no name in one project spells a name in another: `a-b` in `c` is of `b-c` where there is a `b-c`.
 */
export function projectOfLabel(db: Db, orgId: string, label: string): ProjectRow | undefined {
  const rows = db
    .select()
    .from(projects)
    .where(
      and(
        eq(projects.orgId, orgId),
        isNull(projects.deletedAt),
        or(eq(projects.isDefault, true), inArray(projects.slug, slugsEnding(label))),
      ),
    )
    .all();
  // The default project adds no suffix: a label that ends with its slug is no sign of it.
  const named = rows.filter(({ isDefault }) => !isDefault).sort((a, b) => b.slug.length - a.slug.length);
  return named[0] ?? rows.find(({ isDefault }) => isDefault);
}

/** Every slug that could be the suffix of the label: what stands behind one of its dashes. */
function slugsEnding(label: string): string[] {
  const slugs: string[] = [];
  for (let dash = label.indexOf('-'); dash !== -1; dash = label.indexOf('-', dash + 1)) {
    const slug = label.slice(dash + 1);
    if (isLabel(slug)) slugs.push(slug);
  }
  return slugs;
}
