/**
 * Reading the audit trail: an organization's for its members, a person's own for that person. Writing it is audit.ts.
 */
import { and, type Column, desc, eq, gte, like, lt, or, type SQL, sql } from 'drizzle-orm';
import { auditEvents } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow } from './actor.ts';

export type EventRow = typeof auditEvents.$inferSelect;

/** What stands for every operator. */
const OPERATOR = 'operator';

export interface EventFilter {
  /** At most this many. */
  readonly limit: number;
  /** Milliseconds: events at or after this instant. */
  readonly since: number | undefined;
  /** One that does not exist finds nothing: a client may be newer than the server. */
  readonly action: string | undefined;
  /** E-mail address (any letter case) or token name, as it was then. */
  readonly by: string | undefined;
  /** Id of an event: those before it, for the next page. */
  readonly before: string | undefined;
}

export class Events {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Events of the actor's organization, newest first. */
  list(actor: Actor, filter: EventFilter): readonly EventRow[] {
    allow(actor, 'read', 'event');
    return this.#shown(
      filter.limit,
      eq(auditEvents.orgId, actor.orgId),
      filter.since === undefined ? undefined : gte(auditEvents.at, filter.since),
      filter.action === undefined ? undefined : eq(auditEvents.action, filter.action),
      filter.by === undefined ? undefined : byLabel(shownLabel, filter.by),
      filter.before === undefined ? undefined : lt(auditEvents.id, filter.before),
    );
  }

  /** What touched the actor's own account, in whatever organization and by whomever, newest first. */
  mine(actor: Actor, page: Pick<EventFilter, 'limit' | 'before'>): readonly EventRow[] {
    allow(actor, 'read', 'account');
    return this.#shown(
      page.limit,
      or(
        and(eq(auditEvents.actorId, actor.userId), like(auditEvents.action, 'auth.%')),
        eq(auditEvents.resourceId, actor.userId),
      ),
      page.before === undefined ? undefined : lt(auditEvents.id, page.before),
    );
  }

  /** Who runs the server, and from where, is not for its customers. */
  #shown(limit: number, ...conditions: ReadonlyArray<SQL | undefined>): readonly EventRow[] {
    return this.#select(limit, ...conditions).map((row) =>
      row.actorKind === 'operator' ? { ...row, actorId: null, actorLabel: OPERATOR, ipAddress: '' } : row,
    );
  }

  #select(limit: number, ...conditions: ReadonlyArray<SQL | undefined>): readonly EventRow[] {
    // Ids are UUIDv7: their order is that of time.
    return this.#store.db
      .select()
      .from(auditEvents)
      .where(and(...conditions))
      .orderBy(desc(auditEvents.at), desc(auditEvents.id))
      .limit(limit)
      .all();
  }
}

/** A search must not find out what is not shown. */
const shownLabel = sql`CASE ${auditEvents.actorKind} WHEN 'operator' THEN ${OPERATOR} ELSE ${auditEvents.actorLabel} END`;

/** E-mail addresses are compared without regard to letter case; of LIKE only that is wanted, hence no wildcards. */
function byLabel(column: SQL | Column, label: string): SQL {
  const plain = label.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
  return sql`${column} LIKE ${plain} ESCAPE '\\'`;
}
