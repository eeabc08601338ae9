/**
 * Reading the audit log: an organization's for its members, a person's own for that person, all of it for operators. Writing it is core/rules/audit.ts.
 */
import { and, desc, eq, gte, inArray, like, lt, or, type SQL, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { auditEvents, invitations, organizations, users } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow, allowOperator } from '../core/rules/actor.ts';
import { isText } from '../db/text-match.ts';

export type EventRow = typeof auditEvents.$inferSelect;

/** What stands for every operator. */
const OPERATOR = 'operator';
/** Actions of a user in their own feed. */
const OWN_ACTIONS = ['auth.%', 'org.%', 'member.%', 'invitation.%'] as const;

export interface EventFilter {
  /** At most this many. */
  readonly limit: number;
  /** Milliseconds: events at or after this instant. */
  readonly since: number | undefined;
  /** Milliseconds: events before this instant. */
  readonly until: number | undefined;
  /** One that does not exist finds nothing: a client may be newer than the server. */
  readonly action: string | undefined;
  /** E-mail address (any case) or token name, as it was then. */
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
    return this.#select(
      filter.limit,
      eq(auditEvents.orgId, actor.orgId),
      ...narrowed(filter),
      filter.by === undefined ? undefined : isText(shownLabel, filter.by),
    ).map(asShown);
  }

  /** Events of all organizations, deleted ones too, or (`org`: id or slug) of one, newest first. Throws `not_found` for an unknown one. */
  everywhere(
    actor: Actor,
    { org, ...filter }: EventFilter & { readonly org: string | undefined },
  ): readonly EventRow[] {
    allowOperator(actor);
    return this.#select(
      filter.limit,
      org === undefined ? undefined : eq(auditEvents.orgId, this.#orgId(org)),
      ...narrowed(filter),
      filter.by === undefined
        ? undefined
        : or(isText(shownLabel, filter.by), isText(auditEvents.actorLabel, filter.by)),
    );
  }

  /**
   * What touched the actor's own account, and what they did about people and organizations or others about them, in whatever organization,
   * newest first. From where others did it is not told.
   */
  mine(actor: Actor, page: Pick<EventFilter, 'limit' | 'before'>): readonly EventRow[] {
    allow(actor, 'read', 'account');
    const { db } = this.#store;
    const own = db.select({ key: users.emailKey }).from(users).where(eq(users.id, actor.userId));
    const invited = db.select({ id: invitations.id }).from(invitations).where(eq(invitations.emailKey, own));
    return this.#select(
      page.limit,
      or(
        and(
          eq(auditEvents.actorId, actor.userId),
          or(...OWN_ACTIONS.map((pattern) => like(auditEvents.action, pattern))),
        ),
        eq(auditEvents.resourceId, actor.userId),
        inArray(auditEvents.resourceId, invited),
      ),
      page.before === undefined ? undefined : lt(auditEvents.id, page.before),
    ).map((row) => (row.actorId === actor.userId ? asShown(row) : { ...asShown(row), ipAddress: '' }));
  }

  #orgId(handle: string): string {
    const rows = this.#store.db
      .select({ id: organizations.id })
      .from(organizations)
      .where(or(eq(organizations.id, handle), eq(organizations.slug, handle)))
      .all();
    const row = rows.find(({ id }) => id === handle) ?? rows[0];
    if (row === undefined)
      throw new AppError('not_found', `No organization has or had the name or id ${handle}. Check it.`);
    return row.id;
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

function narrowed(filter: EventFilter): ReadonlyArray<SQL | undefined> {
  return [
    filter.since === undefined ? undefined : gte(auditEvents.at, filter.since),
    filter.until === undefined ? undefined : lt(auditEvents.at, filter.until),
    filter.action === undefined ? undefined : eq(auditEvents.action, filter.action),
    filter.before === undefined ? undefined : lt(auditEvents.id, filter.before),
  ];
}

/** Who runs the server, and from where, is not for its customers. */
export function asShown(row: EventRow): EventRow {
  return row.actorKind === 'operator' ? { ...row, actorId: null, actorLabel: OPERATOR, ipAddress: '' } : row;
}

/** A search must not find out what is not shown. */
const shownLabel = sql`CASE ${auditEvents.actorKind} WHEN 'operator' THEN ${OPERATOR} ELSE ${auditEvents.actorLabel} END`;
