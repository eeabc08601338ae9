/**
 * Sessions that are ended before their time, with what came of them: the key of `culvert login` goes with the session that it was handed out
 * with, and its agents are cut off after the commit. Every way to end a session leads through here, but for the oldest of too many.
 */
import { and, eq, inArray, isNotNull, isNull, ne, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { capabilityTokens, sessions } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { Actor } from '../actor.ts';
import { forgetMetricKeys } from '../metrics/metric-key-rows.ts';
import { revokeSession, revokeSessionsOf } from './session-rows.ts';
import { recordRevocation } from '../tokens/token-deeds.ts';
import type { TokenEnds } from '../tokens/token-ends.ts';
import { areLive } from '../tokens/token-rows.ts';

/** Why keys end: for the trail, and for the agents that are cut off. */
const LOGGED_OUT = {
  cause: 'log_in_ended',
  message: 'The log-in that this key came with was ended. Run `culvert login` again.',
} as const;
const LOCKED = { cause: 'account_locked', message: 'The account that made this key is locked.' } as const;

export interface Ended {
  readonly sessions: number;
  /** Keys, whoever's machine they were on. */
  readonly keys: number;
}

export class SessionEnds {
  readonly #tokens: Pick<TokenEnds, 'endIn'>;

  constructor(deps: { tokens: Pick<TokenEnds, 'endIn'> }) {
    this.#tokens = deps.tokens;
  }

  /** Ends one session, and its key. `by` stands in the trail of the key. */
  one(tx: Tx, by: Actor, sessionId: string): void {
    const key = tx.db.select({ id: sessions.tokenId }).from(sessions).where(eq(sessions.id, sessionId));
    this.#endKeys(tx, by, { which: keysAmong(tx, key), why: LOGGED_OUT });
    revokeSession(tx, sessionId);
  }

  /** Ends all sessions of a person but one, and their keys. */
  others(tx: Tx, by: Actor, { userId, spared }: { userId: string; spared: string }): void {
    const ids = tx.db
      .select({ id: sessions.tokenId })
      .from(sessions)
      .where(
        and(
          eq(sessions.userId, userId),
          ne(sessions.id, spared),
          isNull(sessions.revokedAt),
          isNotNull(sessions.tokenId),
        ),
      );
    this.#endKeys(tx, by, { which: keysAmong(tx, ids), why: LOGGED_OUT });
    revokeSessionsOf(tx, userId, spared);
  }

  /**
   * Logs a person out everywhere: all sessions, and all keys of command lines that they let in, in whatever organization. Keys that were
   * made for machines go on working.
   */
  everywhere(tx: Tx, by: Actor, userId: string): Ended {
    const which = and(eq(capabilityTokens.createdBy, userId), eq(capabilityTokens.kind, 'cli'));
    const keys = this.#endKeys(tx, by, { which, why: LOGGED_OUT });
    return { sessions: revokeSessionsOf(tx, userId), keys };
  }

  /** The same with every key that the person made, also for machines, and all that came of them. */
  everything(tx: Tx, by: Actor, userId: string): Ended {
    const made = eq(capabilityTokens.createdBy, userId);
    const parents = tx.db.select({ id: capabilityTokens.id }).from(capabilityTokens).where(made);
    const keys = this.#endKeys(tx, by, {
      which: or(made, inArray(capabilityTokens.parentId, parents)),
      why: LOCKED,
    });
    forgetMetricKeys(tx, { createdBy: userId });
    return { sessions: revokeSessionsOf(tx, userId), keys };
  }

  #endKeys(
    tx: Tx,
    by: Actor,
    { which, why }: { which: SQL | undefined; why: typeof LOGGED_OUT | typeof LOCKED },
  ): number {
    const doomed = tx.db
      .select()
      .from(capabilityTokens)
      .where(and(which, areLive(tx.now)))
      .all();
    for (const row of doomed) {
      this.#tokens.endIn(tx, row, why.message);
      recordRevocation(tx, by, { row, cause: { cause: why.cause } });
    }
    return doomed.length;
  }
}

/** The keys with these ids and those that were rotated into them and still have their grace: whoever was logged out has them all. */
function keysAmong({ db }: Tx, ids: SQLWrapper): SQL | undefined {
  const key = alias(capabilityTokens, 'session_key');
  const lineages = db.select({ id: key.lineageId }).from(key).where(inArray(key.id, ids));
  return or(inArray(capabilityTokens.id, ids), inArray(capabilityTokens.lineageId, lineages));
}
