/**
 * How tokens end before their time: revoked, with what they belong to, or after the grace of a rotation. What a master key minted ends with it.
 * Many end by a mark: from then on none of them is live, data nodes get each after the commit, and the rows follow (core/drains.ts).
 */
import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { liveTokens, loginsScope, memberScope, unendedTokens } from '../../db/gone.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import type { ProjectRow } from '../../projects/rows.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { Drains } from '../../core/drains.ts';
import type { EndCause, PendingWork } from '../../core/pending-rows.ts';
import { enterNonces } from './revoked-nonces.ts';
import { recordRevocations, type Revoked } from '../audit.ts';
import { endOf, isRevoked, noncesOf, thingOf, type TokenRow, tokenByNonce } from '../rows.ts';

/** Tokens per pass of `endGraces`: a key that is due waits for the next pass behind so many. */
const BATCH = 100;

/** Messages to agents, by the name of their token. */
type Message = (name: string) => string;

/** Whose keys end, and why: for their agents, and for the audit log. */
interface UserKeys {
  readonly userId: string;
  readonly message: string;
  readonly cause: EndCause;
}

interface Doomed extends Omit<UserKeys, 'userId'> {
  readonly rows: readonly TokenRow[];
}

export class TokenEnds {
  readonly #store: Store;
  readonly #routeEvents: RouteEvents;
  readonly #drains: Drains;

  constructor(deps: { store: Store; routeEvents: RouteEvents; drains: Drains }) {
    this.#store = deps.store;
    this.#routeEvents = deps.routeEvents;
    this.#drains = deps.drains;
  }

  /** Ends a token of the actor's organization, and all that it minted. Returns how many ended. Throws `not_found`, `forbidden`. */
  revoke(actor: Actor, nonce: string): number {
    allow(actor, 'delete', 'token');
    return this.#store.inTx((tx) => {
      const token = tokenByNonce(tx.db, actor.orgId, nonce);
      if (token === undefined)
        throw new AppError('not_found', 'Your organization has no access key with this id. Check the id.');
      allow(actor, 'delete', thingOf(token));
      return this.revokeIn(tx, actor, token);
    });
  }

  /** The same once it is known that the actor may. */
  revokeIn(tx: Tx, actor: Actor, token: TokenRow): number {
    const message: Message = (name) => `The access key ${name} was revoked. Create another one.`;
    if (isRevoked(tx.db, token)) return 0;
    this.endIn(tx, token, message(token.name));
    recordRevocations(tx, actor, [{ row: token }]);
    return 1 + this.endChildrenIn(tx, actor, { master: token, message });
  }

  /** Ends what a master key minted, which has ended itself in this transaction. Returns how many tokens that were. */
  endChildrenIn(
    tx: Tx,
    actor: Actor,
    { master, message, cause }: { master: TokenRow; message: Message; cause?: EndCause },
  ): number {
    if (master.kind !== 'master') return 0;
    const ended = this.announceEnd(tx, eq(capabilityTokens.parentId, master.id), message);
    if (ended > 0) this.#markMaster(tx, actor, { row: master, cause });
    return ended;
  }

  /**
   * Ends one token; its agents get `message`. The caller has checked the permission, writes the audit log, and ends a master key before what
   * that minted.
   */
  endIn(tx: Tx, row: TokenRow, message: string): void {
    endRows(tx, [row]);
    tx.onCommit(() => this.#routeEvents.revokeToken(row.id, message));
  }

  /** Ends these few, which are live. The caller has checked the permission. */
  endAllIn(tx: Tx, actor: Actor, { rows, message, cause }: Doomed): void {
    endRows(tx, rows);
    recordRevocations(
      tx,
      actor,
      rows.map((row) => ({ row, cause })),
    );
    tx.onCommit(() => {
      for (const { id } of rows) this.#routeEvents.revokeToken(id, message);
    });
  }

  /** Lets a token work until then, and no longer, and all that it minted. */
  endLaterIn(tx: Tx, actor: Actor, { row, until }: { row: TokenRow; until: number }): void {
    this.#endRowsLater(tx, [row], until);
    if (row.kind !== 'master') return;
    const work = { kind: 'master_key_rotated', scope: `rotated/${row.id}`, orgId: row.orgId, actor } as const;
    this.#drains.begin(tx, { ...work, details: { until, masterId: row.id } });
  }

  /** Counts live tokens that are about to be marked as gone, and tells their agents after the commit. */
  announceEnd(tx: Tx, which: SQL | undefined, message: Message): number {
    const doomed = tx.db
      .select({ id: capabilityTokens.id, name: capabilityTokens.name })
      .from(capabilityTokens)
      .where(and(which, liveTokens(tx.now)))
      .all();
    tx.onCommit(() => {
      for (const { id, name } of doomed) this.#routeEvents.revokeToken(id, message(name));
    });
    return doomed.length;
  }

  /** The same of a project that is about to be marked. */
  announceProjectEnd(tx: Tx, { id, slug }: ProjectRow): number {
    return this.announceEnd(tx, eq(capabilityTokens.projectId, id), () => `The project ${slug} was deleted.`);
  }

  /**
   * Ends live tokens that one user made in the actor's organization, with all that came of them; `mastersOnly`: of those only master keys, with
   * what they minted. The caller has checked the permission. Returns how many ended.
   */
  endMemberIn(
    tx: Tx,
    actor: Actor & { readonly orgId: string },
    { userId, message, mastersOnly = false }: { userId: string; message: string; mastersOnly?: boolean },
  ): number {
    const { orgId, createdBy, id, parentId } = capabilityTokens;
    const masters = this.#liveMasters(tx, and(eq(orgId, actor.orgId), eq(createdBy, userId)));
    const ids = masters.map((master) => master.id);
    const theirs = mastersOnly ? inArray(id, ids) : eq(createdBy, userId);
    const ended = this.announceEnd(tx, and(eq(orgId, actor.orgId), or(theirs, inArray(parentId, ids))), () => message);
    if (mastersOnly) {
      endRows(tx, masters);
      recordRevocations(
        tx,
        actor,
        masters.map((row) => ({ row })),
      );
    } else {
      const scope = memberScope(actor.orgId, userId);
      this.#drains.begin(tx, { kind: 'member_keys_ended', scope, orgId: actor.orgId, actor, details: { userId } });
    }
    for (const master of masters) this.#markMaster(tx, actor, { row: master });
    return ended;
  }

  /** Ends every live token that one user made, in all organizations, with all that came of them. Returns how many ended. */
  endUserIn(tx: Tx, actor: Actor, { userId, message, cause }: UserKeys): number {
    const made = eq(capabilityTokens.createdBy, userId);
    const masters = this.#liveMasters(tx, made);
    const ids = masters.map((master) => master.id);
    const ended = this.announceEnd(tx, or(made, inArray(capabilityTokens.parentId, ids)), () => message);
    this.#drains.begin(tx, { kind: 'user_keys_ended', scope: userId, orgId: '', actor, details: { cause, userId } });
    for (const master of masters) this.#markMaster(tx, actor, { row: master, cause });
    return ended;
  }

  /** Ends the keys of all command lines that a user authorized, in all organizations. Returns how many ended. */
  endLoginsIn(tx: Tx, actor: Actor, { userId, message, cause }: UserKeys): number {
    const theirs = and(eq(capabilityTokens.createdBy, userId), eq(capabilityTokens.kind, 'cli'));
    const ended = this.announceEnd(tx, theirs, () => message);
    const scope = loginsScope(userId);
    this.#drains.begin(tx, { kind: 'user_logins_ended', scope, orgId: '', actor, details: { cause, userId } });
    return ended;
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
      endRows(tx, rows);
      for (const [orgId, of] of Map.groupBy(rows, (row) => row.orgId)) {
        const ended = of.map((row) => ({ row, cause: { cause: 'grace_over' } as const }));
        recordRevocations(tx, { kind: 'system', orgId }, ended);
      }
      tx.onCommit(() => {
        for (const { id, name } of rows)
          this.#routeEvents.revokeToken(
            id,
            `The access key ${name} was rotated and its grace period is over. Use the new one.`,
          );
      });
      return rows.length;
    });
  }

  /** The rows of keys that ended by a mark: master keys before what they minted. A Drain. */
  drain(tx: Tx, work: PendingWork, limit: number): number {
    const { parentId, id } = capabilityTokens;
    const rows = tx.db
      .select()
      .from(capabilityTokens)
      .where(and(markedBy(work), unendedTokens(tx.now)))
      .orderBy(asc(isNotNull(parentId)), asc(id))
      .limit(limit)
      .all();
    endRows(tx, rows);
    const { cause } = work.details;
    const parents = cause === undefined ? noncesOf(tx.db, rows) : new Map<string, string>();
    const byParent = (row: TokenRow): EndCause | undefined => {
      const parent = parents.get(row.parentId ?? '');
      return parent === undefined ? undefined : { parent };
    };
    recordRevocations(
      tx,
      work.actor,
      rows.map((row) => ({ row, cause: cause ?? byParent(row) })),
    );
    return rows.length;
  }

  /** What a rotated master key minted ends with its grace. A Drain. */
  drainRotated(tx: Tx, { details: { until = 0, masterId = '' } }: PendingWork, limit: number): number {
    const { parentId, expiresAt, graceEndsAt } = capabilityTokens;
    const outlives = and(gt(expiresAt, until), or(isNull(graceEndsAt), gt(graceEndsAt, until)));
    const rows = tx.db
      .select()
      .from(capabilityTokens)
      .where(and(eq(parentId, masterId), unendedTokens(tx.now), outlives))
      .limit(limit)
      .all();
    this.#endRowsLater(tx, rows, until);
    return rows.length;
  }

  #liveMasters(tx: Tx, which: SQL | undefined): readonly TokenRow[] {
    const masters = and(which, eq(capabilityTokens.kind, 'master'), liveTokens(tx.now));
    return tx.db.select().from(capabilityTokens).where(masters).all();
  }

  #markMaster(tx: Tx, actor: Actor, { row: { id, orgId }, cause }: Revoked): void {
    const details = cause === undefined ? {} : { cause };
    this.#drains.begin(tx, { kind: 'master_key_ended', scope: id, orgId, actor, details });
  }

  #endRowsLater(tx: Tx, rows: readonly TokenRow[], graceEndsAt: number): void {
    const ids = rows.map(({ id }) => id);
    tx.db.update(capabilityTokens).set({ graceEndsAt }).where(inArray(capabilityTokens.id, ids)).run();
    enterNonces(tx, rows, graceEndsAt);
    tx.onCommit(() => {
      for (const row of rows) this.#routeEvents.endTokenAt(row.id, endOf({ ...row, graceEndsAt }));
    });
  }
}

function endRows(tx: Tx, rows: readonly TokenRow[]): void {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  tx.db.update(capabilityTokens).set({ revokedAt: tx.now }).where(inArray(capabilityTokens.id, ids)).run();
  enterNonces(tx, rows, tx.now);
}

/** The tokens that a mark means, ended or not. */
function markedBy({ kind, scope, orgId, details: { userId = '' } }: PendingWork): SQL | undefined {
  const token = capabilityTokens;
  switch (kind) {
    case 'organization_deleted':
      return eq(token.orgId, scope);
    case 'project_deleted':
      return eq(token.projectId, scope);
    case 'master_key_ended':
      return eq(token.parentId, scope);
    case 'member_keys_ended':
      return and(eq(token.orgId, orgId), eq(token.createdBy, userId));
    case 'user_keys_ended':
      return eq(token.createdBy, userId);
    case 'user_logins_ended':
      return and(eq(token.createdBy, userId), eq(token.kind, 'cli'));
    default:
      return sql`0`;
  }
}
