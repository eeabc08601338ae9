/**
 * The list of tokens that must not be accepted although signature and time are good, for an edge without the database. Public: a
 * nonce opens nothing. It is made in slices, at most once a second, and never cut; access-keys/limits/mint-limits.ts bounds its length.
 * Reasons: docs/decisions/0011-capability-tokens.md.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { and, asc, gt, inArray, isNull, sql } from 'drizzle-orm';
import { capabilityTokens, organizations, revokedNonces } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';

/** A list is served again for this long. */
const FRESH_MS = 1_000;
/** And for so many times as long as it took to make. */
const REST = 9;
/** Entries of one slice: a few milliseconds. */
const SLICE = 500;
/** Organizations of one slice; each has up to some thousand tokens. */
const ORG_SLICE = 10;

export interface RevocationList {
  /** Milliseconds: all that was revoked until then is in it. */
  readonly asOf: number;
  /** JSON: `as_of`, and `revoked` with `nonce`, `from` and `until`, in Unix seconds. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Of what is revoked: the same for two lists that differ in their instant alone. */
  readonly etag: string;
}

interface Made {
  readonly at: number;
  readonly freshMs: number;
  readonly list: RevocationList;
}

export class Revocations {
  readonly #store: Store;
  readonly #slice: number;
  #made: Made | undefined;
  #making: Promise<RevocationList> | undefined;

  /** `slice`: entries that are read at once. */
  constructor(deps: { store: Store; slice?: number }) {
    this.#store = deps.store;
    this.#slice = deps.slice ?? SLICE;
  }

  /** Every token that is not to be believed, up to some seconds old. A token counts as listed, too, when the master key that minted it is. */
  async list(): Promise<RevocationList> {
    const age = this.#store.clock.now() - (this.#made?.at ?? -Infinity);
    if (this.#made !== undefined && age >= 0 && age < this.#made.freshMs) return this.#made.list;
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<RevocationList> {
    const asOf = this.#store.clock.now();
    const hash = createHash('sha256');
    const parts: Buffer[] = [Buffer.from(`{"as_of":${seconds(asOf)},"revoked":[`)];
    let busyMs = 0;
    const slices = this.#slices(asOf);
    for (;;) {
      const began = performance.now();
      const next = slices.next();
      if (next.done) break;
      if (next.value.length > 0) {
        const text = Buffer.from(`${parts.length > 1 ? ',' : ''}${next.value.map(entryOf).join()}`);
        hash.update(text);
        parts.push(text);
      }
      busyMs += performance.now() - began;
      await setImmediate();
    }
    const body = Buffer.concat([...parts, Buffer.from(']}')]);
    const list: RevocationList = { asOf, body, etag: `W/"${hash.digest('hex').slice(0, 32)}"` };
    this.#made = { at: asOf, freshMs: Math.max(FRESH_MS, busyMs * (1 + REST)), list };
    return list;
  }

  /**
   * What is revoked at `now`, a slice per turn: each is read in a transaction of its own. What is entered meanwhile may be in it or not, and
   * nothing that was in it at the beginning leaves before it has run out.
   */
  *#slices(now: number): Generator<readonly Entry[]> {
    let after = '';
    for (;;) {
      const { tokenId: id, nonce, from, until } = revokedNonces;
      const rows = this.#store.db
        .select({ id, nonce, from, until })
        .from(revokedNonces)
        .where(and(gt(id, after), gt(until, now)))
        .orderBy(asc(id))
        .limit(this.#slice)
        .all();
      yield rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < this.#slice) break;
      after = last.id;
    }
    yield* this.#barred(now);
  }

  /** Tokens of organizations that an operator has not approved, or has suspended: their agents are refused for as long as this lasts. */
  *#barred(now: number): Generator<readonly Entry[]> {
    let after = '';
    for (;;) {
      const orgs = this.#store.db
        .select({ id: organizations.id })
        .from(organizations)
        // As text: the index is one of such organizations alone.
        .where(and(gt(organizations.id, after), sql`${organizations.approvalStatus} <> 'approved'`))
        .orderBy(asc(organizations.id))
        .limit(ORG_SLICE)
        .all();
      const last = orgs.at(-1);
      if (last === undefined) return;
      after = last.id;
      const { orgId, parentId, revokedAt, nonce, expiresAt: until } = capabilityTokens;
      const ids = orgs.map(({ id }) => id);
      yield this.#store.db
        .select({ nonce, from: sql<number>`0`, until })
        .from(capabilityTokens)
        // A master key stands for what it minted.
        .where(and(inArray(orgId, ids), isNull(parentId), isNull(revokedAt), gt(until, now)))
        .orderBy(asc(capabilityTokens.id))
        .all();
    }
  }
}

interface Entry {
  readonly nonce: string;
  readonly from: number;
  readonly until: number;
}

function entryOf({ nonce, from, until }: Entry): string {
  return `{"nonce":"${nonce}","from":${seconds(from)},"until":${seconds(until)}}`;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
