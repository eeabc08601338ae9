/**
 * What tokens have spent: traffic per lineage and UTC month, and what it costs. Written by tunnels/plane/usage.ts with each batch of a node;
 * read by tunnels/claims/service.ts, service.ts and for the grants of data nodes. Traffic counts for the month in which it is stored; costs are
 * computed when they are read: docs/decisions/0009-budgets-and-metering.md.
 */
import { and, desc, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { type Budget, costOf, isExhausted, monthOf, type Prices } from '../../plane/spend.ts';
import { liveTokens } from '../db/gone.ts';
import { capabilityTokens, tokenSpend } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { type TokenRow, tokenById } from './rows.ts';

/** Most keys and most rows of five columns in one statement: SQLite takes 32,766 parameters. */
const KEYS = 10_000;
const ROWS = 5_000;

export interface Traffic {
  readonly bytes: number;
  readonly requests: number;
}

export class Spend {
  readonly #prices: Prices;

  constructor(deps: { prices: Prices }) {
    this.#prices = deps.prices;
  }

  /**
   * Adds what tokens have carried to their accounts and to those of the master keys which minted them. Of a token that is gone: to no account.
   * In few statements, for a batch may name a thousand tokens and visitors wait meanwhile.
   */
  add(tx: Tx, byToken: ReadonlyMap<string, Traffic>): void {
    const tokens = findTokens(tx.db, [...byToken.keys()]);
    const parents = findTokens(
      tx.db,
      [...tokens.values()].flatMap(({ parentId }) => parentId ?? []),
    );
    const sums = new Map<string, { bytes: number; requests: number }>();
    for (const [id, { bytes, requests }] of byToken) {
      const token = tokens.get(id);
      if (token === undefined) continue;
      const parent = token.parentId === null ? undefined : parents.get(token.parentId);
      for (const account of parent === undefined ? [token] : [token, parent]) {
        const lineageId = lineageOf(account);
        const sum = sums.get(lineageId) ?? { bytes: 0, requests: 0 };
        sums.set(lineageId, { bytes: sum.bytes + bytes, requests: sum.requests + requests });
      }
    }
    const fixed = { month: monthOf(tx.now), updatedAt: tx.now };
    const rows = [...sums].map(([lineageId, sum]) => ({ lineageId, ...sum, ...fixed }));
    for (const chunk of chunks(rows, ROWS)) {
      tx.db
        .insert(tokenSpend)
        .values(chunk)
        .onConflictDoUpdate({
          target: [tokenSpend.lineageId, tokenSpend.month],
          set: {
            bytes: sql`${tokenSpend.bytes} + excluded.bytes`,
            requests: sql`${tokenSpend.requests} + excluded.requests`,
            updatedAt: tx.now,
          },
        })
        .run();
    }
  }

  /** The budgets that hold for a token: its own, then that of the master key which minted it. */
  budgetsOf(db: Db, token: TokenRow, now: number): readonly Budget[] {
    const accounts = accountsOf(db, token);
    const spent = this.spentCents(
      db,
      accounts.map(({ lineageId }) => lineageId),
      now,
    );
    return accounts.map(({ lineageId, capCents }) => ({
      accountId: lineageId,
      month: monthOf(now),
      spentCents: spent.get(lineageId) ?? 0,
      capCents,
    }));
  }

  /** Is a cap reached that holds for the token? */
  isExhausted(db: Db, token: TokenRow, now: number): boolean {
    return this.budgetsOf(db, token, now).some(isExhausted);
  }

  /** Live keys of an organization that have spent at least this share of their own budget in the month of `now`, the worst first. */
  nearCaps(
    db: Db,
    { orgId, now, share, limit }: { orgId: string; now: number; share: number; limit: number },
  ): readonly NearBudget[] {
    const { id, lineageId, nonce, name, monthlyBudgetUsdCents: cap, graceEndsAt } = capabilityTokens;
    const { bytes, requests } = tokenSpend;
    const spent = costInSql(this.#prices);
    const rows = db
      .select({ nonce, name, capCents: cap, bytes, requests })
      .from(capabilityTokens)
      .innerJoin(
        tokenSpend,
        and(sql`${tokenSpend.lineageId} = coalesce(${lineageId}, ${id})`, eq(tokenSpend.month, monthOf(now))),
      )
      .where(
        and(
          eq(capabilityTokens.orgId, orgId),
          // A budget of nothing is meant to let nothing through. A rotated key has a successor with the same budget.
          gt(cap, 0),
          isNull(graceEndsAt),
          liveTokens(now),
          sql`${spent} >= ${share} * ${cap}`,
        ),
      )
      .orderBy(desc(sql`${spent} / ${cap}`))
      .limit(limit)
      .all();
    return rows.map(({ capCents, bytes: b, requests: r, ...key }) => ({
      ...key,
      capCents: capCents ?? 0,
      spentCents: costOf({ bytes: b, requests: r }, this.#prices),
    }));
  }

  /** Cents that lineages have spent in the month of `now`, with fractions. What has spent nothing is not in the answer. */
  spentCents(db: Db, lineageIds: readonly string[], now: number): ReadonlyMap<string, number> {
    const month = monthOf(now);
    const spent = new Map<string, number>();
    for (const chunk of chunks(lineageIds, KEYS)) {
      const rows = db
        .select()
        .from(tokenSpend)
        .where(and(eq(tokenSpend.month, month), inArray(tokenSpend.lineageId, chunk)))
        .all();
      for (const row of rows) spent.set(row.lineageId, costOf(row, this.#prices));
    }
    return spent;
  }
}

/** A live key that has spent a share of its own budget. */
export interface NearBudget {
  readonly nonce: string;
  readonly name: string;
  readonly capCents: number;
  readonly spentCents: number;
}

/** The first of the tokens that rotation made of one another. */
export function lineageOf(token: Pick<TokenRow, 'id' | 'lineageId'>): string {
  return token.lineageId ?? token.id;
}

/** As `costOf`, of a row of `token_spend`. */
function costInSql({ centsPerGb, centsPerMillionRequests }: Prices): SQL {
  const { bytes, requests } = tokenSpend;
  return sql`(${bytes} / 1e9 * ${centsPerGb} + ${requests} / 1e6 * ${centsPerMillionRequests})`;
}

function accountsOf(db: Db, token: TokenRow): ReadonlyArray<{ lineageId: string; capCents: number | null }> {
  const parent = token.parentId === null ? undefined : tokenById(db, token.parentId);
  return [token, ...(parent === undefined ? [] : [parent])].map((row) => ({
    lineageId: lineageOf(row),
    capCents: row.monthlyBudgetUsdCents,
  }));
}

type TokenHead = Pick<TokenRow, 'id' | 'lineageId' | 'parentId'>;

function findTokens(db: Db, ids: readonly string[]): ReadonlyMap<string, TokenHead> {
  const { id, lineageId, parentId } = capabilityTokens;
  const found = new Map<string, TokenHead>();
  for (const chunk of chunks(ids, KEYS)) {
    const rows = db.select({ id, lineageId, parentId }).from(capabilityTokens).where(inArray(id, chunk)).all();
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
