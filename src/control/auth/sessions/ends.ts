/**
 * Sessions that are ended before their time, with what came of them: the key of `culvert login` goes with the session that it was handed out
 * with, and its agents are cut off after the commit. Every way to end a session leads through here, but for the oldest of too many.
 */
import { and, eq, inArray, isNotNull, isNull, ne, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { liveTokens } from '../../db/gone.ts';
import { capabilityTokens, sessions } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { Actor } from '../../core/rules/actor.ts';
import { forgetMetricKeys } from '../../metrics/key-rows.ts';
import { revokeSession, revokeSessionsOf } from './rows.ts';
import type { TokenEnds } from '../../access-keys/ends/service.ts';

/** Why keys end: for the audit log, and for the agents that are cut off. */
const LOGGED_OUT = {
  cause: { cause: 'log_in_ended' },
  message: 'The login of this access key was ended. Run `culvert login` again.',
} as const;
const LOCKED = {
  cause: { cause: 'account_locked' },
  message: 'The account that created this access key is locked. Ask an operator of the server.',
} as const;

export interface Ended {
  readonly sessions: number;
  /** Keys, on any machine. */
  readonly keys: number;
}

export class SessionEnds {
  readonly #tokens: Pick<TokenEnds, 'endAllIn' | 'endLoginsIn' | 'endUserIn'>;

  constructor(deps: { tokens: Pick<TokenEnds, 'endAllIn' | 'endLoginsIn' | 'endUserIn'> }) {
    this.#tokens = deps.tokens;
  }

  /** Ends one session, and its key. `by` is the actor in the key's audit entry. */
  one(tx: Tx, by: Actor, sessionId: string): void {
    const key = tx.db.select({ id: sessions.tokenId }).from(sessions).where(eq(sessions.id, sessionId));
    this.#endKeys(tx, by, keysAmong(tx, key));
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
    this.#endKeys(tx, by, keysAmong(tx, ids));
    revokeSessionsOf(tx, userId, spared);
  }

  /**
   * Logs a person out everywhere: all sessions, and all keys of command lines that they authorized, in all organizations. Keys that were
   * made for machines go on working.
   */
  everywhere(tx: Tx, by: Actor, userId: string): Ended {
    const keys = this.#tokens.endLoginsIn(tx, by, { userId, ...LOGGED_OUT });
    return { sessions: revokeSessionsOf(tx, userId), keys };
  }

  /** The same with every key that the person made, also for machines, and all that came of them. */
  everything(tx: Tx, by: Actor, userId: string): Ended {
    const keys = this.#tokens.endUserIn(tx, by, { userId, ...LOCKED });
    forgetMetricKeys(tx, { createdBy: userId });
    return { sessions: revokeSessionsOf(tx, userId), keys };
  }

  /** At most one of each session, with those that were rotated into it. */
  #endKeys(tx: Tx, by: Actor, which: SQL | undefined): void {
    const doomed = tx.db
      .select()
      .from(capabilityTokens)
      .where(and(which, liveTokens(tx.now)))
      .all();
    this.#tokens.endAllIn(tx, by, { rows: doomed, ...LOGGED_OUT });
  }
}

/** The keys with these ids and those that were rotated into them and still have their grace: a logged-out client may hold all of them. */
function keysAmong({ db }: Tx, ids: SQLWrapper): SQL | undefined {
  const key = alias(capabilityTokens, 'session_key');
  const lineages = db.select({ id: key.lineageId }).from(key).where(inArray(key.id, ids));
  return or(inArray(capabilityTokens.id, ids), inArray(capabilityTokens.lineageId, lineages));
}
