/**
 * Rows that count as gone before they are: what they belong to was deleted, and they follow in slices (control/core/drains.ts). Every query that
 * lists or uses such rows has one of these conditions.
 */
import { and, gt, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { capabilityTokens, pendingWork, tunnels } from './schema.ts';
import type { Db } from './tx.ts';

const GONE = sql.raw('(SELECT scope FROM pending_work)');

/** None of these ids is marked as gone. The columns must not be null. */
export function notGone(...columns: readonly SQLiteColumn[]): SQL | undefined {
  return and(...columns.map((column) => sql`${column} NOT IN ${GONE}`));
}

/** Tunnels that were not deleted, nor their project or organization. */
export function liveTunnels(): SQL | undefined {
  return and(isNull(tunnels.deletedAt), notGone(tunnels.orgId, tunnels.projectId));
}

/** Tokens that work now: neither ended themselves, nor with what they belong to. */
export function liveTokens(now: number): SQL | undefined {
  return and(unendedTokens(now), notGoneTokens());
}

/** The same of the row alone: for what ends the keys of something that is gone. */
export function unendedTokens(now: number): SQL | undefined {
  return and(
    isNull(capabilityTokens.revokedAt),
    gt(capabilityTokens.expiresAt, now),
    or(isNull(capabilityTokens.graceEndsAt), gt(capabilityTokens.graceEndsAt, now)),
  );
}

/** Tokens of which nothing was deleted or ended that they belong to. */
function notGoneTokens(): SQL | undefined {
  const { orgId, projectId, parentId, createdBy, kind } = capabilityTokens;
  return and(
    notGone(orgId),
    sql`coalesce(${projectId}, '') NOT IN ${GONE}`,
    sql`coalesce(${parentId}, '') NOT IN ${GONE}`,
    sql`coalesce(${createdBy}, '') NOT IN ${GONE}`,
    sql`${orgId} || '/' || coalesce(${createdBy}, '') NOT IN ${GONE}`,
    sql`CASE ${kind} WHEN 'cli' THEN 'cli/' || coalesce(${createdBy}, '') ELSE '' END NOT IN ${GONE}`,
  );
}

/** The scope of the keys that a user made in one organization. */
export function memberScope(orgId: string, userId: string): string {
  return `${orgId}/${userId}`;
}

/** The scope of the keys of a user's command lines. */
export function loginsScope(userId: string): string {
  return `cli/${userId}`;
}

interface TokenParents {
  readonly orgId: string;
  readonly projectId: string | null;
  readonly parentId: string | null;
  readonly createdBy: string | null;
  readonly kind: string;
}

/** Is a token with these parents gone? The opposite of `notGoneTokens`, of a row in hand. */
export function isTokenGone(db: Db, { orgId, projectId, parentId, createdBy, kind }: TokenParents): boolean {
  const user = createdBy === null ? [] : [createdBy, memberScope(orgId, createdBy)];
  const logins = createdBy === null || kind !== 'cli' ? [] : [loginsScope(createdBy)];
  return isGone(db, [orgId, projectId, parentId, ...user, ...logins]);
}

/** Is one of these ids marked as gone? */
export function isGone(db: Db, scopes: ReadonlyArray<string | null>): boolean {
  const list = sql.join(
    scopes.filter((scope) => scope !== null).map((scope) => sql`${scope}`),
    sql`, `,
  );
  return db.get(sql`SELECT 1 FROM ${pendingWork} WHERE scope IN (${list}) LIMIT 1`) !== undefined;
}
