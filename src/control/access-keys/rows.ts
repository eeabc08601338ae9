/**
 * What the services do alike to the rows of capability tokens: find one, tell whether it lives, show it. Not to be called from outside the
 * services.
 */
import { and, eq, inArray, or, type SQL } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { capabilityTokens } from '../db/schema.ts';
import { isTokenGone } from '../db/gone.ts';
import type { Db } from '../db/tx.ts';
import type { Thing } from '../core/rules/actor.ts';
import type { Serving } from './serving.ts';

export type TokenRow = typeof capabilityTokens.$inferSelect;

/** A token as those may see it who read in its organization: no secrets. */
export interface TokenView {
  readonly row: TokenRow;
  /** Also by what it belongs to, when its row does not say so yet. */
  readonly isRevoked: boolean;
  readonly projectSlug: string | null;
  /** Of the master key that minted it. */
  readonly parentNonce: string | null;
  /** Whole cents of this UTC month, of all its lineage. */
  readonly spentUsdCents: number;
  readonly serving: Serving;
}

/** When the token ends by itself, milliseconds: its expiry, or the end of its grace once it was rotated. */
export function endOf({ expiresAt, graceEndsAt }: Pick<TokenRow, 'expiresAt' | 'graceEndsAt'>): number {
  return Math.min(expiresAt, graceEndsAt ?? expiresAt);
}

export function isLive(db: Db, row: TokenRow, now: number): boolean {
  return !isRevoked(db, row) && endOf(row) > now;
}

/** Was it ended before its time, by itself or with what it belongs to? */
export function isRevoked(db: Db, row: TokenRow): boolean {
  return row.revokedAt !== null || isTokenGone(db, row);
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
  if (row !== undefined && isLive(db, row, which.now)) return row;
  throw new AppError('not_found', 'Your organization has no valid access key with this id. Check the id.');
}

/** All tokens that rotation made of one another, this one among them. Rows of the first release don't say their lineage: it is their id. */
export function sameLineage(lineageId: string): SQL | undefined {
  return or(eq(capabilityTokens.lineageId, lineageId), eq(capabilityTokens.id, lineageId));
}

/** Nonces of the master keys that minted these, by id. */
export function noncesOf(db: Db, rows: readonly TokenRow[]): ReadonlyMap<string, string> {
  const ids = [...new Set(rows.flatMap(({ parentId }) => parentId ?? []))];
  const { id, nonce } = capabilityTokens;
  const found = ids.length === 0 ? [] : db.select({ id, nonce }).from(capabilityTokens).where(inArray(id, ids)).all();
  return new Map(found.map((row) => [row.id, row.nonce]));
}

/** What the right to change a token is called. */
export function thingOf({ kind }: Pick<TokenRow, 'kind'>): Thing {
  return kind === 'master' ? 'master_key' : 'token';
}
