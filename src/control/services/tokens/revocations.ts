/**
 * The list of tokens that must not be believed although their signature is good and their time has not come: for an edge that has the public
 * keys and no database. Public: a nonce opens nothing.
 */
import { and, eq, gt, isNotNull, ne, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { AppError } from '../../../base/errors.ts';
import { capabilityTokens, organizations } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';

/** One list: about 4 MB of JSON. */
const MAX_LISTED = 50_000;
/** A list is served again for this long: anybody may ask, and each costs a walk over the tokens. */
const FRESH_MS = 1_000;

/** Unix seconds. */
export interface Revocation {
  readonly nonce: string;
  /** Not to be believed from then on: in the future while a rotated token has its grace. */
  readonly from: number;
  /** When it would have run out; after that it is not listed. */
  readonly until: number;
}

export interface RevocationList {
  /** Unix seconds. */
  readonly asOf: number;
  readonly revoked: readonly Revocation[];
}

export class Revocations {
  readonly #store: Store;
  readonly #most: number;
  #made: { readonly at: number; readonly list: RevocationList } | undefined;

  /** `most`: tokens of one list. */
  constructor(deps: { store: Store; most?: number }) {
    this.#store = deps.store;
    this.#most = deps.most ?? MAX_LISTED;
  }

  /**
   * Every token that is not to be believed, up to a second old. A token counts as listed, too, when the master key that minted it is. Throws
   * `unavailable` when there are more than one list holds: one that lacks some would let them in.
   */
  list(): RevocationList {
    const now = this.#store.clock.now();
    const age = now - (this.#made?.at ?? -Infinity);
    if (this.#made === undefined || age < 0 || age >= FRESH_MS) this.#made = { at: now, list: this.#read(now) };
    return this.#made.list;
  }

  #read(now: number): RevocationList {
    const parent = alias(capabilityTokens, 'parent');
    const rows = this.#store.db
      .select({
        nonce: capabilityTokens.nonce,
        expiresAt: capabilityTokens.expiresAt,
        own: { revokedAt: capabilityTokens.revokedAt, graceEndsAt: capabilityTokens.graceEndsAt },
        parent: { revokedAt: parent.revokedAt, graceEndsAt: parent.graceEndsAt },
        parentId: parent.id,
        approval: organizations.approvalStatus,
      })
      .from(capabilityTokens)
      .innerJoin(organizations, eq(organizations.id, capabilityTokens.orgId))
      .leftJoin(parent, eq(parent.id, capabilityTokens.parentId))
      .where(
        and(
          gt(capabilityTokens.expiresAt, now),
          or(
            isNotNull(capabilityTokens.revokedAt),
            isNotNull(capabilityTokens.graceEndsAt),
            // Their agents are refused for as long as this lasts.
            ne(organizations.approvalStatus, 'approved'),
          ),
        ),
      )
      .all();
    const revoked = rows.flatMap(({ nonce, expiresAt, own, parent: above, parentId, approval }): Revocation[] => {
      const from = approval === 'approved' ? earliest(own) : 0;
      const byParent = approval === 'approved' ? earliest(above ?? {}) : 0;
      // The master key stands for it: it lives longer, so that it is in the list for as long as this one would be.
      if (parentId !== null && byParent <= from) return [];
      return [{ nonce, from: seconds(from), until: seconds(expiresAt) }];
    });
    if (revoked.length > this.#most) {
      throw new AppError('unavailable', `More than ${this.#most} tokens are revoked: one list can't hold them.`);
    }
    return { asOf: seconds(now), revoked };
  }
}

function earliest(ends: { readonly revokedAt?: number | null; readonly graceEndsAt?: number | null }): number {
  return Math.min(ends.revokedAt ?? Infinity, ends.graceEndsAt ?? Infinity);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
