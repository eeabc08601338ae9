/** The tokens of links that set a password: random, good once and for an hour. Who may get one is decided by their callers. */
import { randomBytes } from 'node:crypto';
import { and, eq, gt } from 'drizzle-orm';
import { passwordResets, users } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';
import type { UserRow } from './rows.ts';

export const RESET_SECONDS = 3600;

/** A new token; those before it stay good. Only its hash is stored. */
export function issueResetToken(tx: Tx, userId: string): string {
  const token = randomBytes(32).toString('base64url');
  tx.db
    .insert(passwordResets)
    .values({ hash: hashOf(token), userId, createdAt: tx.now, expiresAt: tx.now + RESET_SECONDS * 1000 })
    .run();
  return token;
}

/** Whose token has this hash; undefined when it is none, was used or has run out. */
export function ownerOfReset(db: Db, hash: string, now: number): UserRow | undefined {
  return db
    .select({ user: users })
    .from(passwordResets)
    .innerJoin(users, eq(users.id, passwordResets.userId))
    .where(and(eq(passwordResets.hash, hash), gt(passwordResets.expiresAt, now)))
    .get()?.user;
}
