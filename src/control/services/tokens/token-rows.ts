/**
 * What the services do alike to the rows of capability tokens: find one, tell whether it lives, show it. Not to be called from outside the
 * services.
 */
import { and, eq, gt, isNull, or, type SQL } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import type { Thing } from '../actor.ts';

export type TokenRow = typeof capabilityTokens.$inferSelect;

/** A token as those may see it who read in its organization: no secrets. */
export interface TokenView {
  readonly row: TokenRow;
  readonly projectSlug: string | null;
  /** Of the master key that minted it. */
  readonly parentNonce: string | null;
  /** Whole cents of this UTC month, of all its lineage. */
  readonly spentUsdCents: number;
}

/** When the token ends by itself, milliseconds: its expiry, or the end of its grace once it was rotated. */
export function endOf({ expiresAt, graceEndsAt }: Pick<TokenRow, 'expiresAt' | 'graceEndsAt'>): number {
  return Math.min(expiresAt, graceEndsAt ?? expiresAt);
}

export function isLive(row: TokenRow, now: number): boolean {
  return row.revokedAt === null && endOf(row) > now;
}

/** The same as a condition. */
export function areLive(now: number): SQL | undefined {
  return and(
    isNull(capabilityTokens.revokedAt),
    gt(capabilityTokens.expiresAt, now),
    or(isNull(capabilityTokens.graceEndsAt), gt(capabilityTokens.graceEndsAt, now)),
  );
}

export function tokenById(db: Db, id: string): TokenRow | undefined {
  return db.select().from(capabilityTokens).where(eq(capabilityTokens.id, id)).get();
}

/** The organization's token with this nonce, live or not; undefined when it has none. */
export function tokenByNonce(db: Db, orgId: string, nonce: string): TokenRow | undefined {
  return db
    .select()
    .from(capabilityTokens)
    .where(and(eq(capabilityTokens.orgId, orgId), eq(capabilityTokens.nonce, nonce)))
    .get();
}

/** The same for what only a live token is good for. Throws `not_found`. */
export function liveToken(db: Db, which: { orgId: string; nonce: string; now: number }): TokenRow {
  const row = tokenByNonce(db, which.orgId, which.nonce);
  if (row !== undefined && isLive(row, which.now)) return row;
  throw new AppError('not_found', 'No such live token in your organization.');
}

/** The live tokens that a master key minted. */
export function liveChildren(db: Db, master: TokenRow, now: number): readonly TokenRow[] {
  return db
    .select()
    .from(capabilityTokens)
    .where(and(eq(capabilityTokens.parentId, master.id), areLive(now)))
    .all();
}

/** All tokens that rotation made of one another, this one among them. Rows of the first release don't say their lineage: it is their id. */
export function sameLineage(lineageId: string): SQL | undefined {
  return or(eq(capabilityTokens.lineageId, lineageId), eq(capabilityTokens.id, lineageId));
}

/** What the right to change a token is called. */
export function thingOf({ kind }: Pick<TokenRow, 'kind'>): Thing {
  return kind === 'master' ? 'master_key' : 'token';
}
