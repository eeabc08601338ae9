/**
 * How tokens end before their time: revoked, or after the grace of a rotation. What a master key minted ends with it. Agents of a token that
 * ended are cut off after the commit.
 */
import { and, eq, isNull, lte } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, type UserActor } from '../actor.ts';
import type { RouteNews } from '../news.ts';
import { enterNonce } from './revoked-nonces.ts';
import { recordRevocation } from './token-deeds.ts';
import { areLive, endOf, liveChildren, thingOf, type TokenRow, tokenByNonce } from './token-rows.ts';

/** Tokens per pass of `endGraces`: a key that is due waits a second more behind so many. */
const BATCH = 100;

export class TokenEnds {
  readonly #store: Store;
  readonly #news: RouteNews;

  constructor(deps: { store: Store; news: RouteNews }) {
    this.#store = deps.store;
    this.#news = deps.news;
  }

  /** Ends a token of the actor's organization, and all that it minted. Returns how many ended. Throws `not_found`, `forbidden`. */
  revoke(actor: Actor, nonce: string): number {
    allow(actor, 'delete', 'token');
    return this.#store.inTx((tx) => {
      const token = tokenByNonce(tx.db, actor.orgId, nonce);
      if (token === undefined) throw new AppError('not_found', 'No such token in your organization.');
      allow(actor, 'delete', thingOf(token));
      return this.revokeIn(tx, actor, token);
    });
  }

  /** The same once it is known that the actor may. */
  revokeIn(tx: Tx, actor: Actor, token: TokenRow): number {
    const doomed = [
      ...(token.revokedAt === null ? [token] : []),
      ...(token.kind === 'master' ? liveChildren(tx.db, token, tx.now) : []),
    ];
    for (const row of doomed) {
      this.endIn(tx, row, `The token ${row.name} was revoked.`);
      recordRevocation(tx, actor, { row, cause: row.id === token.id ? undefined : { parent: token.nonce } });
    }
    return doomed.length;
  }

  /**
   * Ends one token; its agents are told `message`. Whoever calls has checked that it may, writes the trail, and ends a master key before what
   * that minted.
   */
  endIn(tx: Tx, row: TokenRow, message: string): void {
    tx.db.update(capabilityTokens).set({ revokedAt: tx.now }).where(eq(capabilityTokens.id, row.id)).run();
    enterNonce(tx, row, tx.now);
    tx.onCommit(() => this.#news.revokeToken(row.id, message));
  }

  /** Lets a token work until then, and no longer. A master key before what it minted, as by `endIn`. */
  endLaterIn(tx: Tx, row: TokenRow, graceEndsAt: number): void {
    tx.db.update(capabilityTokens).set({ graceEndsAt }).where(eq(capabilityTokens.id, row.id)).run();
    enterNonce(tx, row, graceEndsAt);
    tx.onCommit(() => this.#news.endTokenAt(row.id, endOf({ ...row, graceEndsAt })));
  }

  /**
   * Ends live tokens of the actor's organization, told as by `endIn`: those that one person made, with all that came of them, or (null) every
   * one; `mastersOnly`: of those only master keys, with what they minted. Whoever calls has checked that it may. Returns how many ended.
   */
  endAllIn(
    tx: Tx,
    actor: UserActor,
    what: { createdBy: string | null; message: string; mastersOnly?: boolean },
  ): number {
    const live = tx.db
      .select()
      .from(capabilityTokens)
      .where(and(eq(capabilityTokens.orgId, actor.orgId), areLive(tx.now)))
      .all();
    const isMeant = (row: TokenRow): boolean =>
      (what.createdBy === null || row.createdBy === what.createdBy) &&
      (what.mastersOnly !== true || row.kind === 'master');
    const meant = new Set(live.filter(isMeant).map(({ id }) => id));
    const doomed = live
      .filter((row) => meant.has(row.id) || (row.parentId !== null && meant.has(row.parentId)))
      .sort((a, b) => Number(a.parentId !== null) - Number(b.parentId !== null));
    const nonces = new Map(live.map(({ id, nonce }) => [id, nonce]));
    for (const row of doomed) {
      this.endIn(tx, row, what.message);
      const parent = row.parentId === null ? undefined : nonces.get(row.parentId);
      recordRevocation(tx, actor, { row, cause: parent === undefined ? undefined : { parent } });
    }
    return doomed.length;
  }

  /** Ends tokens whose grace is over, a bounded batch per call. Returns how many ended. */
  endGraces(): number {
    const now = this.#store.clock.now();
    const due = and(lte(capabilityTokens.graceEndsAt, now), isNull(capabilityTokens.revokedAt));
    // A read first: the write lock is not taken once a second for nothing.
    if (this.#store.db.select({ id: capabilityTokens.id }).from(capabilityTokens).where(due).get() === undefined)
      return 0;
    return this.#store.inTx((tx) => {
      const rows = tx.db.select().from(capabilityTokens).where(due).limit(BATCH).all();
      for (const row of rows) {
        this.endIn(tx, row, `The token ${row.name} was replaced by a new one, and its time is over.`);
        recordRevocation(tx, { kind: 'system', orgId: row.orgId }, { row, cause: { cause: 'grace_over' } });
      }
      return rows.length;
    });
  }
}
