/**
 * How sessions of agents ended: the last ones of each organization, for the question why an agent dropped. Stored from the data plane's
 * events by tunnels/plane/usage.ts, read by service.ts, forgotten by core/retention.ts.
 */
import { and, asc, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../../base/clock.ts';
import type { SessionEndEvent } from '../../../plane/events.ts';
import { endedSessions, organizations } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db, Tx } from '../../db/tx.ts';

export type EndedSessionRow = typeof endedSessions.$inferSelect;

/** Of one organization; then the oldest go. */
export const MAX_ENDED = 100;
/** Kept for so long. */
const KEPT_DAYS = 30;
/** Of all organizations together: some 30 MB. */
const MAX_ENDED_IN_ALL = 100_000;
/** Rows that go in one pass. */
const SWEEP_BATCH = 1_000;

export class EndedSessionRows {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Adds the sessions of a batch. One of no organization is dropped, and a repeated one changes nothing. */
  add(events: readonly SessionEndEvent[]): void {
    for (const { kind: _kind, ...row } of events) adding(this.#db).run(row);
    for (const orgId of new Set(events.map((event) => event.orgId))) trimming(this.#db).run({ orgId });
  }
}

/** Newest first. */
export function endedSessionsOf(db: Db, orgId: string): readonly EndedSessionRow[] {
  return db
    .select()
    .from(endedSessions)
    .where(eq(endedSessions.orgId, orgId))
    .orderBy(desc(endedSessions.endedAt), desc(endedSessions.agentId))
    .limit(MAX_ENDED)
    .all();
}

/** A tunnel and its session end within this time of each other; else its agent had dropped the tunnel before, and went on without it. */
export const SAME_END_MS = 10_000;

/** The same in a query. */
export function isSameEnd(leftAt: SQLiteColumn, endedAt: SQLiteColumn): SQL {
  return sql`abs(${endedAt} - ${leftAt}) <= ${SAME_END_MS}`;
}

/** When sessions ended, and why, by the id of the agent. */
export type SessionEnds = ReadonlyMap<string, Pick<EndedSessionRow, 'endedAt' | 'reason'>>;

/** The last ones of an organization: for its list of tunnels. */
export function endsIn(db: Db, orgId: string): SessionEnds {
  const { agentId, endedAt, reason } = endedSessions;
  const rows = db.select({ agentId, endedAt, reason }).from(endedSessions).where(eq(endedSessions.orgId, orgId)).all();
  return new Map(rows.map((row) => [row.agentId, row]));
}

/** The last one of a tunnel, if it is kept. */
export function endsOf(db: Db, tunnel: { readonly orgId: string; readonly agentId: string | null }): SessionEnds {
  if (tunnel.agentId === null) return new Map();
  const { agentId, endedAt, reason } = endedSessions;
  const own = and(eq(agentId, tunnel.agentId), eq(endedSessions.orgId, tunnel.orgId));
  const row = db.select({ endedAt, reason }).from(endedSessions).where(own).get();
  return new Map(row === undefined ? [] : [[tunnel.agentId, row]]);
}

/** Deletes a batch of those that are past their time, and of the oldest where there are too many. Called by core/retention.ts. */
export function forgetEndedSessions({ db, now }: Tx): void {
  const { agentId, endedAt } = endedSessions;
  const first = db
    .select({ endedAt })
    .from(endedSessions)
    .orderBy(desc(endedAt))
    .limit(1)
    .offset(MAX_ENDED_IN_ALL - 1)
    .get();
  const past = Math.max(now - KEPT_DAYS * DAY_MS, first?.endedAt ?? 0);
  const batch = db
    .select({ agentId })
    .from(endedSessions)
    .where(lt(endedAt, past))
    .orderBy(asc(endedAt))
    .limit(SWEEP_BATCH);
  db.delete(endedSessions).where(inArray(agentId, batch)).run();
}

// A batch may hold a thousand events.

const adding = prepared((db) => {
  const given = (name: keyof EndedSessionRow) => sql`${sql.placeholder(name)}`;
  return db
    .insert(endedSessions)
    .select(
      db
        .select({
          agentId: given('agentId').as('agent_id'),
          orgId: organizations.id,
          tokenId: given('tokenId').as('token_id'),
          remoteIp: given('remoteIp').as('remote_ip'),
          hostname: given('hostname').as('hostname'),
          startedAt: given('startedAt').as('started_at'),
          endedAt: given('endedAt').as('ended_at'),
          reason: given('reason').as('reason'),
          message: given('message').as('message'),
        })
        .from(organizations)
        .where(eq(organizations.id, sql.placeholder('orgId'))),
    )
    .onConflictDoNothing()
    .prepare();
});

const trimming = prepared((db) => {
  const { agentId, orgId, endedAt } = endedSessions;
  const surplus = db
    .select({ agentId })
    .from(endedSessions)
    .where(eq(orgId, sql.placeholder('orgId')))
    .orderBy(desc(endedAt), desc(agentId))
    // SQLite wants one in front of an offset.
    .limit(MAX_ENDED_IN_ALL)
    .offset(MAX_ENDED);
  return db.delete(endedSessions).where(inArray(agentId, surplus)).prepare();
});
