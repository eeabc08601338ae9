/**
 * The refresh cookie of a session: new at each use. Exactly one of many requests with the same cookie
 * gets a new one. A cookie that comes back after its swap ends the session, except within the overlap of two tabs
 * (refresh-overlap.ts). Reasons: docs/decisions/0014-refresh-cookies.md.
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { sessions } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { RefreshBinding } from './refresh-binding.ts';
import { RefreshOverlap } from './refresh-overlap.ts';
import { findRefresh, type RefreshRow, rotateRefresh } from './refresh-rows.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';
import type { SessionEnds } from './ends.ts';
import { leaveGoneOrg, visitColumns } from './rows.ts';
import { readActor, SESSION_SECONDS, type Visit } from '../../core/rules/caller.ts';

export interface Refreshed {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** What is known of the other end of a request. */
export interface RefreshCaller {
  /** It has hung up: then nothing is swapped, for no client would get the new cookie. */
  readonly isGone: () => boolean;
  /** It is a browser that shows a page of this very origin. Programs never are, and keep to the strict rule. */
  readonly isOwnPage: boolean;
}

export class Refresh {
  readonly binding: RefreshBinding;
  readonly #store: Store;
  readonly #accessTokens: AccessTokens;
  readonly #sessionEnds: SessionEnds;
  readonly #overlap: RefreshOverlap;

  constructor(deps: {
    store: Store;
    sealer: Pick<Sealer, 'derive'>;
    accessTokens: AccessTokens;
    sessionEnds: SessionEnds;
  }) {
    this.binding = new RefreshBinding(deps.sealer);
    this.#store = deps.store;
    this.#accessTokens = deps.accessTokens;
    this.#sessionEnds = deps.sessionEnds;
    this.#overlap = new RefreshOverlap(deps.store.clock);
  }

  /**
   * The cookie that counts of all that a request carries under the name: the only one, or the only live one; undefined when there is none.
   * A neighbour under the same parent domain can plant a cookie beside ours, and which of them comes first is up to that neighbour: over
   * https the binding has left it out before. Throws `unauthorized` when two are live: the request could be of either session.
   */
  choose(cookies: readonly string[]): string | undefined {
    if (cookies.length < 2) return cookies[0];
    const live = cookies.filter((cookie) => this.isLive(cookie));
    if (live.length > 1) throw ambiguous();
    return live[0];
  }

  /**
   * Swaps a cookie for a new one and an access token. Throws `unauthorized`: with a time to try again when another request is swapping the
   * cookie or has just done so, without when the session is over.
   */
  async swap(cookie: string, visit: Visit, caller: RefreshCaller): Promise<Refreshed> {
    const found = findRefresh(this.#store.db, cookie, this.#store.clock.now());
    if (found === undefined) throw sessionOver();
    const hash = hashOf(cookie);
    if (this.#overlap.join(hash)) throw sentTwice();
    if (!found.isCurrent) {
      if (caller.isOwnPage && this.#overlap.wasJustSwapped(found.sessionId, hash)) throw sentTwice();
      this.#revokeReused(found, visit);
      throw sessionOver();
    }
    return this.#overlap.hold(hash, async () => {
      if (caller.isGone()) throw sentTwice();
      const swapped = this.#rotate(cookie, visit);
      if (swapped === undefined) throw sessionOver();
      const successor = hashOf(swapped.refreshToken);
      this.#overlap.remember(swapped.actor.sessionId, { old: hash, successor });
      return { accessToken: await this.#accessTokens.sign(swapped.actor), refreshToken: swapped.refreshToken };
    });
  }

  /** True when the cookie is good, is being swapped, or was just now: who sends it is no stranger. */
  isLive(cookie: string): boolean {
    const now = this.#store.clock.now();
    const found = findRefresh(this.#store.db, cookie, now);
    if (found === undefined) return false;
    const hash = hashOf(cookie);
    return (
      (found.isCurrent || this.#overlap.isHeld(hash) || this.#overlap.wasJustSwapped(found.sessionId, hash)) &&
      readActor(this.#store.db, found, { now, ipAddress: '' }) !== undefined
    );
  }

  /** Who a cookie of a live session belongs to, swapped or not: for a log-out after the access token has run out. */
  actorOf(cookie: string, visit: Visit): UserActor | undefined {
    const now = this.#store.clock.now();
    const found = findRefresh(this.#store.db, cookie, now);
    return found === undefined ? undefined : readActor(this.#store.db, found, { now, ipAddress: visit.ipAddress });
  }

  #rotate(cookie: string, visit: Visit): { actor: UserActor; refreshToken: string } | undefined {
    return this.#store.inTx(
      (tx) => {
        // Read again: the session may have ended during the hold.
        const found = findMoved(tx, cookie);
        const actor = found && readActor(tx.db, found, { now: tx.now, ipAddress: visit.ipAddress });
        if (actor === undefined || found?.isCurrent !== true) return undefined;
        tx.db
          .update(sessions)
          .set({ lastUsedAt: tx.now, expiresAt: tx.now + SESSION_SECONDS * 1000, ...visitColumns(visit) })
          .where(eq(sessions.id, actor.sessionId))
          .run();
        return { actor, refreshToken: rotateRefresh(tx, actor.sessionId, cookie) };
      },
      // The most frequent write that people cause. After a power cut that undid it, the browser's cookie counts as swapped: its user
      // logs in again, and no new client gets access.
      { relaxed: true },
    );
  }

  /** Not relaxed: a session that was found stolen stays dead. */
  #revokeReused(found: RefreshRow, visit: Visit): void {
    this.#store.inTx((tx) => {
      const actor = readActor(tx.db, found, { now: tx.now, ipAddress: visit.ipAddress });
      this.#sessionEnds.one(tx, actor ?? { kind: 'system', orgId: null }, found.sessionId);
      if (actor === undefined) return;
      recordAudit(tx, actor, { action: 'auth.refresh_reuse', resourceType: 'session', resourceId: found.sessionId });
    });
  }
}

/** The session of a cookie, moved on where its organization was deleted and its turn has not come yet (Organizations.drainMembers). */
function findMoved(tx: Tx, cookie: string): RefreshRow | undefined {
  const found = findRefresh(tx.db, cookie, tx.now);
  if (found === undefined || !leaveGoneOrg(tx, found.sessionId)) return found;
  return findRefresh(tx.db, cookie, tx.now);
}

function sessionOver(): AppError {
  return new AppError('unauthorized', 'The session has ended. Log in again.');
}

function ambiguous(): AppError {
  return new AppError(
    'unauthorized',
    'The request has cookies of two sessions, and another site set one of them. Delete the cookies of this site, then log in again.',
  );
}

function sentTwice(): AppError {
  return new AppError(
    'unauthorized',
    'Another request is refreshing or has refreshed this session. Send the request again with the new cookie.',
    { retryAfterSeconds: 1 },
  );
}
