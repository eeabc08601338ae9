/**
 * What tokens have spent: traffic per lineage and UTC month, and what it costs. Written by usage.ts with each batch of a data node, read by
 * claims.ts (new binds), tokens.ts (lists) and for the grants that data nodes hold, which enforce the caps (data/gateway/budgets.ts).
 *
 * Traffic counts for the month in which it is stored, up to a few seconds after it flowed. Costs are computed when they are read: a new
 * price counts for the whole month.
 */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { type Budget, costOf, isExhausted, monthOf, type Prices } from '../../../plane/spend.ts';
import { capabilityTokens, tokenSpend } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

type TokenRow = typeof capabilityTokens.$inferSelect;

/** Most keys of one query: SQLite takes 32,766 parameters. */
const CHUNK = 10_000;

export interface Traffic {
  readonly bytes: number;
  readonly requests: number;
}

export class Spend {
  readonly #prices: Prices;

  constructor(deps: { prices: Prices }) {
    this.#prices = deps.prices;
  }

  /** Adds traffic to the token's account and to that of the master key which minted it. Of a token that is gone: to nobody's. */
  add(tx: Tx, tokenId: string, traffic: Traffic): void {
    const token = findToken(tx.db, tokenId);
    if (token === undefined) return;
    const month = monthOf(tx.now);
    for (const { lineageId } of accountsOf(tx.db, token)) {
      tx.db
        .insert(tokenSpend)
        .values({ lineageId, month, ...traffic, updatedAt: tx.now })
        .onConflictDoUpdate({
          target: [tokenSpend.lineageId, tokenSpend.month],
          set: {
            bytes: sql`${tokenSpend.bytes} + ${traffic.bytes}`,
            requests: sql`${tokenSpend.requests} + ${traffic.requests}`,
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

  /** Cents that lineages have spent in the month of `now`, with fractions. What has spent nothing is not in the answer. */
  spentCents(db: Db, lineageIds: readonly string[], now: number): ReadonlyMap<string, number> {
    const month = monthOf(now);
    const spent = new Map<string, number>();
    for (let at = 0; at < lineageIds.length; at += CHUNK) {
      const rows = db
        .select()
        .from(tokenSpend)
        .where(and(eq(tokenSpend.month, month), inArray(tokenSpend.lineageId, lineageIds.slice(at, at + CHUNK))))
        .all();
      for (const row of rows) spent.set(row.lineageId, costOf(row, this.#prices));
    }
    return spent;
  }
}

/** The first of the tokens that rotation made of one another. */
export function lineageOf(token: Pick<TokenRow, 'id' | 'lineageId'>): string {
  return token.lineageId ?? token.id;
}

function accountsOf(db: Db, token: TokenRow): ReadonlyArray<{ lineageId: string; capCents: number | null }> {
  const parent = token.parentId === null ? undefined : findToken(db, token.parentId);
  return [token, ...(parent === undefined ? [] : [parent])].map((row) => ({
    lineageId: lineageOf(row),
    capCents: row.monthlyBudgetUsdCents,
  }));
}

function findToken(db: Db, id: string): TokenRow | undefined {
  return db.select().from(capabilityTokens).where(eq(capabilityTokens.id, id)).get();
}
