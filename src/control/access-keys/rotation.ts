/**
 * Rotation: a new token takes the place of an old one, with the same name, scopes, limits, budget and lineage, and a life as long as the old
 * one's was, from now. The old one ends at once, or after a grace in which agents can be given the new one. Of a master key the keys that it
 * minted end with it.
 */
import { and, count, eq, isNotNull } from 'drizzle-orm';
import { HOUR_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { liveTokens } from '../db/gone.ts';
import { capabilityTokens } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import type { Actor } from '../core/rules/actor.ts';
import { findProjectById, type ProjectRow } from '../projects/rows.ts';
import type { MasterRights } from './master/rights.ts';
import { checkRotation } from './limits/mint-limits.ts';
import { type Minter, personAs } from './minter.ts';
import { lineageOf, type Spend } from './spend.ts';
import { recordRotation } from './audit.ts';
import type { TokenEnds } from './ends/service.ts';
import { keyReplaced } from './events.ts';
import type { MintedToken, TokenMaker } from './maker.ts';
import { MAX_GRACES } from './room.ts';
import { endOf, liveToken, sameLineage, thingOf, type TokenRow, tokenById } from './rows.ts';

/** 30 days. */
export const MAX_GRACE_HOURS = 720;

export interface RotationDeps {
  readonly store: Store;
  readonly maker: TokenMaker;
  readonly ends: TokenEnds;
  readonly spend: Spend;
  readonly masterRights: MasterRights;
}

export class Rotation {
  readonly #deps: RotationDeps;

  constructor(deps: RotationDeps) {
    this.#deps = deps;
  }

  /**
   * Rotates a token of the actor's organization. `graceHours`: 0..720. Throws `not_found` also for one that has ended, `conflict` for one that
   * was rotated before or ends with its master key, `forbidden`, `upgrade_required`, `rate_limited`. It needs no room: who must replace a token that leaked always can.
   */
  rotate(actor: Actor, nonce: string, graceHours: number): MintedToken {
    return this.#deps.store.inTx((tx) => {
      // Any token first, so that who may rotate none learns nothing about which there are.
      const { actor: me } = personAs(actor, 'token');
      const old = liveToken(tx.db, { orgId: me.orgId, nonce, now: tx.now });
      const minter = personAs(me, thingOf(old));
      if (old.kind === 'master') this.#deps.masterRights.requirePlan(tx.db, old.orgId);
      if (old.kind === 'cli' && old.createdBy !== minter.createdBy) {
        throw new AppError(
          'forbidden',
          "The access key belongs to another member's `culvert login` and cannot be rotated. Revoke it instead.",
        );
      }
      return this.rotateIn(tx, minter, { old, graceHours });
    });
  }

  /** The same once it is known that the token lives and the minter may. Throws `conflict`, `rate_limited`. */
  rotateIn(tx: Tx, minter: Minter, { old, graceHours }: { old: TokenRow; graceHours: number }): MintedToken {
    if (old.graceEndsAt !== null) {
      throw new AppError(
        'conflict',
        old.replacedBy === null
          ? 'The master key of this access key was rotated, so the key ends with its grace period. Create one with the new master key, or revoke this one.'
          : 'The access key was already rotated and ends with its grace period. Use its replacement, or revoke it.',
      );
    }
    checkRotation(tx, minter);
    if (graceHours > 0) checkGraces(tx, old);
    const parent = old.parentId === null ? null : (tokenById(tx.db, old.parentId) ?? null);
    this.#end(tx, minter, { old, graceHours });
    const minted = this.#deps.maker.makeIn(tx, {
      ...old,
      createdBy: minter.createdBy,
      project: projectOf(tx, old),
      parent,
      lineageId: lineageOf(old),
      expiresAt: Math.min(tx.now + (old.expiresAt - old.issuedAt), parent === null ? Infinity : endOf(parent)),
    });
    tx.db.update(capabilityTokens).set({ replacedBy: minted.row.nonce }).where(eq(capabilityTokens.id, old.id)).run();
    tx.emit(keyReplaced, { oldId: old.id, newId: minted.row.id });
    recordRotation(tx, minter.actor, { nonce: old.nonce, minted, graceHours });
    return { ...minted, spentUsdCents: this.#spentCents(tx, minted.row) };
  }

  #spentCents(tx: Tx, token: TokenRow): number {
    const lineageId = lineageOf(token);
    return Math.floor(this.#deps.spend.spentCents(tx.db, [lineageId], tx.now).get(lineageId) ?? 0);
  }

  /** Ends the old token and what it minted: now, or all at the end of the grace. */
  #end(tx: Tx, minter: Minter, { old, graceHours }: { old: TokenRow; graceHours: number }): void {
    const { ends } = this.#deps;
    if (graceHours === 0) {
      ends.endIn(tx, old, `The access key ${old.name} was rotated. Use the new one.`);
      const message = (): string =>
        `The master key ${old.name} of this access key was rotated. Create a key with the new one.`;
      ends.endChildrenIn(tx, minter.actor, { master: old, message });
      return;
    }
    const until = Math.min(old.expiresAt, Math.floor(tx.now / 1000) * 1000 + graceHours * HOUR_MS);
    ends.endLaterIn(tx, minter.actor, { row: old, until });
  }
}

/** So many keys of one lineage at most work beside each other. */
function checkGraces({ db, now }: Tx, token: TokenRow): void {
  const inGrace = and(sameLineage(lineageOf(token)), isNotNull(capabilityTokens.graceEndsAt), liveTokens(now));
  const n = db.select({ n: count() }).from(capabilityTokens).where(inGrace).get()?.n ?? 0;
  if (n < MAX_GRACES) return;
  throw new AppError(
    'conflict',
    `${MAX_GRACES} earlier versions of this access key are in their grace period, which is the limit. Revoke one, or rotate without a grace period.`,
  );
}

function projectOf(tx: Tx, { orgId, projectId }: TokenRow): ProjectRow | null {
  if (projectId === null) return null;
  const project = findProjectById(tx.db, orgId, projectId);
  if (project === undefined)
    throw new AppError('not_found', 'The project of this access key was deleted. Create a key for another project.');
  return project;
}
