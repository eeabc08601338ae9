/** Projects: list, create, rename, delete. An organization has one default project, which adds no suffix and can't be deleted. */
import { and, count, desc, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { liveTokens, liveTunnels } from '../db/gone.ts';
import { capabilityTokens, projects, tunnels } from '../db/schema.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import { type Actor, allow, type UserActor } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { auditOf } from '../core/rules/audit.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import type { Drains } from '../core/drains.ts';
import { type DeletedProject, projectDeleted } from './events.ts';
import { findProject, type ProjectRow } from './rows.ts';

/** Live projects of one organization: a bound for lists, far above need. */
export const MAX_PROJECTS = 200;
/** Projects that one person makes in a day, deleted ones too: their rows stay. */
const MAX_PER_DAY = 400;

export interface ProjectView {
  readonly row: ProjectRow;
  /** Live tunnels in it. */
  readonly tunnels: number;
  /** Live keys that may open tunnels in it alone. */
  readonly tokens: number;
}

const record = auditOf('project');

export class Projects {
  readonly #store: Store;
  readonly #drains: Drains;

  constructor({ store, drains }: { readonly store: Store; readonly drains: Drains }) {
    this.#store = store;
    this.#drains = drains;
  }

  /** Live projects of the actor's organization: the default one first, then the newest. */
  list(actor: Actor): readonly ProjectView[] {
    allow(actor, 'read', 'project');
    const { db, clock } = this.#store;
    const rows = db
      .select()
      .from(projects)
      .where(and(eq(projects.orgId, actor.orgId), isNull(projects.deletedAt)))
      .orderBy(desc(projects.isDefault), desc(projects.createdAt), desc(projects.id))
      .all();
    return viewsOf(db, rows, { orgId: actor.orgId, now: clock.now() });
  }

  /** Throws `not_found`. */
  get(actor: Actor, slug: string): ProjectView {
    allow(actor, 'read', 'project');
    const { db, clock } = this.#store;
    return viewOf(db, find(db, actor.orgId, slug), clock.now());
  }

  /**
   * Makes one. Tunnels of other projects whose names end with its slug already keep them. Throws `duplicate_name`, `conflict` when there are
   * too many, `rate_limited` when the actor made too many.
   */
  create(actor: Actor, { slug, name }: { slug: string; name: string }): ProjectView {
    allow(actor, 'create', 'project');
    return this.#store.inTx((tx) => {
      if (findProject(tx.db, actor.orgId, slug) !== undefined) {
        throw new AppError('duplicate_name', `Your organization has a project ${slug}. Choose another slug.`);
      }
      checkFull(tx, actor);
      const row: ProjectRow = {
        id: uuidv7(),
        orgId: actor.orgId,
        slug,
        name,
        isDefault: false,
        createdAt: tx.now,
        deletedAt: null,
      };
      tx.db.insert(projects).values(row).run();
      record(tx, actor, { action: 'project.create', row, details: { slug } });
      return viewOf(tx.db, row, tx.now);
    });
  }

  /** Another name; the slug stays, for public names end with it. Throws `not_found`. */
  rename(actor: Actor, slug: string, name: string): ProjectView {
    allow(actor, 'change', 'project');
    return this.#store.inTx((tx) => {
      const row = find(tx.db, actor.orgId, slug);
      if (row.name !== name) {
        tx.db.update(projects).set({ name }).where(eq(projects.id, row.id)).run();
        record(tx, actor, { action: 'project.update', row, changes: changesBetween({ name: row.name }, { name }) });
      }
      return viewOf(tx.db, { ...row, name }, tx.now);
    });
  }

  /**
   * Revokes its keys and deletes its tunnels: they are gone once this has returned, agents are cut off after the commit, and the names rest; many
   * rows follow in slices. The slug is free for a new project, which inherits nothing. Soft: the row stays for accounting. Throws `not_found`, and `invalid_request` for the default project.
   */
  delete(actor: Actor, slug: string): DeletedProject {
    allow(actor, 'delete', 'project');
    return this.#store.inTx((tx) => {
      const row = find(tx.db, actor.orgId, slug);
      if (row.isDefault) {
        throw new AppError('invalid_request', 'The default project cannot be deleted. Delete its tunnels one by one.');
      }
      const gone = tx.emit(projectDeleted, row);
      const details = { cause: { cause: 'project_deleted' } } as const;
      this.#drains.begin(tx, { kind: 'project_deleted', scope: row.id, orgId: row.orgId, actor, details });
      tx.db.update(projects).set({ deletedAt: tx.now }).where(eq(projects.id, row.id)).run();
      record(tx, actor, { action: 'project.delete', row, details: { slug, ...gone } });
      return gone;
    });
  }

  /** A new organization gets its default project. */
  createDefault(tx: Tx, orgId: string): void {
    const row = { id: uuidv7(), orgId, slug: 'default', name: 'Default', isDefault: true, createdAt: tx.now };
    tx.db.insert(projects).values(row).run();
  }

  /** Deletes the rows of organizations that were never used. */
  forget(tx: Tx, orgIds: readonly string[]): void {
    tx.db.delete(projects).where(inArray(projects.orgId, orgIds)).run();
  }
}

function find(db: Db, orgId: string, slug: string): ProjectRow {
  const row = findProject(db, orgId, slug);
  if (row === undefined)
    throw new AppError('not_found', 'Your organization has no project with this slug. Check the slug.');
  return row;
}

function checkFull(tx: Tx, actor: UserActor): void {
  const live = tx.db
    .select({ n: count() })
    .from(projects)
    .where(and(eq(projects.orgId, actor.orgId), isNull(projects.deletedAt)))
    .get();
  const room = { action: 'project.create', most: MAX_PROJECTS, perDay: MAX_PER_DAY, what: 'projects' } as const;
  checkRoom(tx, actor, { ...room, has: live?.n ?? 0 });
}

function viewOf(db: Db, row: ProjectRow, now: number): ProjectView {
  const [view] = viewsOf(db, [row], { orgId: row.orgId, now });
  if (view === undefined) throw new Error('a view per row');
  return view;
}

/** Two queries for the whole list. */
function viewsOf(
  db: Db,
  rows: readonly ProjectRow[],
  { orgId, now }: { orgId: string; now: number },
): readonly ProjectView[] {
  const open = db
    .select({ id: tunnels.projectId, n: count() })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), liveTunnels()))
    .groupBy(tunnels.projectId)
    .all();
  const keys = db
    .select({ id: capabilityTokens.projectId, n: count() })
    .from(capabilityTokens)
    .where(and(eq(capabilityTokens.orgId, orgId), isNotNull(capabilityTokens.projectId), liveTokens(now)))
    .groupBy(capabilityTokens.projectId)
    .all();
  const tunnelsIn = new Map(open.map(({ id, n }) => [id, n]));
  const tokensIn = new Map(keys.map(({ id, n }) => [id, n]));
  return rows.map((row) => ({ row, tunnels: tunnelsIn.get(row.id) ?? 0, tokens: tokensIn.get(row.id) ?? 0 }));
}
