/**
 * Rows of refresh cookies. Not to be called from outside the services; the rules are in refresh.ts. A cookie is
 * `<family>.<secret>`: 16 random bytes that all cookies of a session share and 32 that are new at each swap, base64url. The table
 * keeps a hash of each: two rows a session. Reasons: docs/decisions/0014-refresh-cookies.md.
 */
import { randomBytes } from 'node:crypto';
import { and, eq, gt, inArray, isNull } from 'drizzle-orm';
import { refreshTokens, sessions } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';

const FAMILY_BYTES = 16;
const SECRET_BYTES = 32;
/** As `insertCookie` makes it: in base64url 16 bytes take 22 characters, and 32 take 43. */
const FORM = /^[\w-]{22}\.[\w-]{43}$/;

export interface RefreshRow {
  readonly sessionId: string;
  /** False: it was swapped before. */
  readonly isCurrent: boolean;
}

/** The first cookie of a session. */
export function insertRefresh(tx: Tx, sessionId: string): string {
  const family = randomBytes(FAMILY_BYTES).toString('base64url');
  tx.db
    .insert(refreshTokens)
    .values({ hash: hashOf(family), sessionId, issuedAt: tx.now, rotatedAt: tx.now })
    .run();
  return insertCookie(tx, sessionId, family);
}

/** Swaps a current cookie for the next one. */
export function rotateRefresh(tx: Tx, sessionId: string, cookie: string): string {
  tx.db
    .delete(refreshTokens)
    .where(eq(refreshTokens.hash, hashOf(cookie)))
    .run();
  return insertCookie(tx, sessionId, familyOf(cookie));
}

/** The live session that the cookie belongs to. Looked up by hash: timing the look-up reveals the hash, not the value. */
export function findRefresh(db: Db, cookie: string, now: number): RefreshRow | undefined {
  const hashes = [hashOf(cookie), hashOf(familyOf(cookie))];
  const rows = db
    .select({ sessionId: refreshTokens.sessionId, rotatedAt: refreshTokens.rotatedAt })
    .from(refreshTokens)
    .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
    .where(and(inArray(refreshTokens.hash, hashes), isNull(sessions.revokedAt), gt(sessions.expiresAt, now)))
    .all();
  const row = rows.find(({ rotatedAt }) => rotatedAt === null) ?? rows[0];
  return row === undefined ? undefined : { sessionId: row.sessionId, isCurrent: row.rotatedAt === null };
}

function insertCookie(tx: Tx, sessionId: string, family: string): string {
  const cookie = `${family}.${randomBytes(SECRET_BYTES).toString('base64url')}`;
  tx.db
    .insert(refreshTokens)
    .values({ hash: hashOf(cookie), sessionId, issuedAt: tx.now })
    .run();
  return cookie;
}

/** True for what could be a cookie of ours. */
export function isWellFormed(cookie: string): boolean {
  return FORM.test(cookie);
}

/** What all cookies of a session share. */
export function familyOf(cookie: string): string {
  return cookie.split('.')[0] ?? '';
}
