/**
 * Capability tokens of agents: mint one, list those of an organization, recognise a presented one. How they end is
 * ends/service.ts, how one replaces another rotation.ts.
 */
import { and, desc, eq, not } from 'drizzle-orm';
import { HOUR_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { NodeControl } from '../../plane/link.ts';
import { liveTokens } from '../db/gone.ts';
import { capabilityTokens, projects } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import type { Keys } from '../core/secrets/keys.ts';
import { nextPending } from '../core/pending-rows.ts';
import { MAX_WIRE_BYTES, verifyCwt } from './wire/cwt.ts';
import { checkMint } from './limits/mint-limits.ts';
import { personAs } from './minter.ts';
import { lineageOf, type Spend } from './spend.ts';
import { recordMint } from './audit.ts';
import { hashKey, type MintedToken, type TokenMaker } from './maker.ts';
import { MAX_ENDED_TOKENS, MOST_LIVE } from './room.ts';
import { isRevoked, noncesOf, type TokenRow, type TokenView } from './rows.ts';
import { NOTHING_SERVED, type ServingSession, servingOf, sessionsOf } from './serving.ts';
import { readGrant } from './wire/wire-form.ts';

/** 90 days, in hours. More is cut, not refused. */
export const MAX_TTL_HOURS = 2160;
/** `lastUsedAt` is written no more often: a storm of reconnects is reads alone. */
const TOUCH_MS = 60_000;

export interface MintInput {
  readonly name: string;
  readonly ttlHours: number;
  readonly allowedSubdomains: readonly string[];
  readonly bandwidthLimitMbps: number;
  readonly tunnelQuota: number;
  readonly monthlyBudgetUsdCents?: number | null | undefined;
}

type Listed = Omit<TokenView, 'spentUsdCents' | 'serving'>;

/** One key with the agents that use it now. */
export interface TokenDetail extends TokenView {
  readonly sessions: readonly ServingSession[];
}

export class Tokens {
  readonly #store: Store;
  readonly #keys: Keys;
  readonly #maker: TokenMaker;
  readonly #spend: Spend;
  readonly #nodes: Pick<NodeControl, 'connections'>;

  constructor(deps: {
    store: Store;
    keys: Keys;
    maker: TokenMaker;
    spend: Spend;
    nodes: Pick<NodeControl, 'connections'>;
  }) {
    this.#nodes = deps.nodes;
    this.#store = deps.store;
    this.#keys = deps.keys;
    this.#maker = deps.maker;
    this.#spend = deps.spend;
  }

  /** Tokens of the actor's organization, newest first: all that live, and the last thousand of those that have ended. */
  list(actor: Actor): readonly TokenView[] {
    allow(actor, 'read', 'token');
    const now = this.#store.clock.now();
    const live = liveTokens(now);
    const found = [
      ...this.#listed(actor.orgId, live, MOST_LIVE),
      ...this.#listed(actor.orgId, live === undefined ? undefined : not(live), MAX_ENDED_TOKENS),
    ].sort((a, b) => b.row.issuedAt - a.row.issuedAt || (a.row.id < b.row.id ? 1 : -1));
    return this.#withUse(actor.orgId, found);
  }

  /** One of them, also one that has ended, with the agents that use it now. Throws `not_found`, `forbidden`. */
  get(actor: Actor, nonce: string): TokenDetail {
    allow(actor, 'read', 'token');
    const { db } = this.#store;
    const [listed] = this.#listed(actor.orgId, eq(capabilityTokens.nonce, nonce), 1);
    const [view] = listed === undefined ? [] : this.#withUse(actor.orgId, [listed]);
    if (view === undefined)
      throw new AppError('not_found', 'Your organization has no access key with this id. Check the id.');
    return { ...view, sessions: sessionsOf(db, this.#nodes, view.row.id) };
  }

  /** A new agent token. The key and the wire form exist in the answer alone. Throws `forbidden`, `invalid_request`, `conflict`, `rate_limited`. */
  mint(actor: Actor, input: MintInput): MintedToken {
    return this.#store.inTx((tx) => this.mintIn(tx, actor, { ...input, kind: 'agent' }));
  }

  /** The same inside the transaction of a service that has more to store with it. */
  mintIn(tx: Tx, actor: Actor, input: MintInput & { kind: 'agent' | 'cli' }): MintedToken {
    const minter = personAs(actor, 'token');
    const { actor: me, createdBy } = minter;
    checkMint(tx, minter);
    const { ttlHours, ...scope } = input;
    const minted = this.#maker.makeIn(tx, {
      ...scope,
      orgId: me.orgId,
      createdBy,
      project: null,
      parent: null,
      lineageId: null,
      monthlyBudgetUsdCents: input.monthlyBudgetUsdCents ?? null,
      expiresAt: tx.now + Math.min(ttlHours, MAX_TTL_HOURS) * HOUR_MS,
    });
    recordMint(tx, me, minted);
    return minted;
  }

  /** The token that this text key or base64 wire form stands for, live or not; undefined when it is none of ours. */
  recognise(presented: string): TokenRow | undefined {
    if (presented.startsWith('mtk_')) return this.#find(eq(capabilityTokens.keyHash, hashKey(presented)));
    return this.recogniseWire(presented);
  }

  /** The same for the wire form alone. */
  recogniseWire(presented: string): TokenRow | undefined {
    if (presented.length > MAX_WIRE_BYTES * 2) return undefined;
    const wire = Buffer.from(presented, 'base64');
    const claims = verifyCwt(wire, (kid) => this.#keys.verifying('capability', kid));
    const grant = claims === undefined ? undefined : readGrant(claims);
    return grant === undefined ? undefined : this.#find(eq(capabilityTokens.nonce, grant.nonce));
  }

  /** Stores a use of the token from this address (null: unknown), once a minute at most. */
  touch(token: TokenRow, lastUsedIp: string | null): void {
    if (token.lastUsedAt !== null && token.lastUsedAt >= this.#store.clock.now() - TOUCH_MS) return;
    try {
      this.#store.inTx(
        ({ db, now }) =>
          void db
            .update(capabilityTokens)
            .set({ lastUsedAt: now, lastUsedIp })
            .where(eq(capabilityTokens.id, token.id))
            .run(),
        { relaxed: true },
      );
    } catch (error) {
      // No agent is refused because of that: the store knows that nothing can be written, and health checks show it.
      if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    }
  }

  #withUse(orgId: string, found: readonly Listed[]): TokenView[] {
    const lineages = [...new Set(found.map(({ row }) => lineageOf(row)))];
    const spent = this.#spend.spentCents(this.#store.db, lineages, this.#store.clock.now());
    const serving = servingOf(this.#nodes, orgId);
    return found.map((listed) => ({
      ...listed,
      spentUsdCents: Math.floor(spent.get(lineageOf(listed.row)) ?? 0),
      serving: serving.get(listed.row.id) ?? NOTHING_SERVED,
    }));
  }

  #listed(orgId: string, which: ReturnType<typeof liveTokens>, most: number): Listed[] {
    const { db } = this.#store;
    const rows = db
      .select()
      .from(capabilityTokens)
      .where(and(eq(capabilityTokens.orgId, orgId), which))
      .orderBy(desc(capabilityTokens.issuedAt), desc(capabilityTokens.id))
      .limit(most)
      .all();
    // Queries of their own: joins would make an object of each table for each of up to 1,000 rows, which costs a third more.
    const ownProjects = db
      .select({ id: projects.id, slug: projects.slug })
      .from(projects)
      .where(eq(projects.orgId, orgId))
      .all();
    const slugs = new Map(ownProjects.map(({ id, slug }) => [id, slug]));
    const parents = noncesOf(db, rows);
    const isAnyGone = nextPending(db, '') !== undefined;
    return rows.map((row) => ({
      row,
      isRevoked: row.revokedAt !== null || (isAnyGone && isRevoked(db, row)),
      projectSlug: row.projectId === null ? null : (slugs.get(row.projectId) ?? null),
      parentNonce: row.parentId === null ? null : (parents.get(row.parentId) ?? null),
    }));
  }

  #find(where: ReturnType<typeof eq>): TokenRow | undefined {
    return this.#store.db.select().from(capabilityTokens).where(where).get();
  }
}
