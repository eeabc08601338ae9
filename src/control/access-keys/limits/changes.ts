/**
 * Limits of a key that exists: its names, its tunnels at a time, its bandwidth, what it is called. Who may change a key may take from it; who
 * gives it more must be one who could make such a key. Holds for the key and for those that it replaces while they work. Only people change
 * limits: an agent that holds a key can't raise its own. The signed form of the key says what it was made with: docs/offline-verification.md.
 */
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { changesBetween } from '../../core/rules/audit-changes.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { isWithin } from '../../core/rules/labels.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import { liveTokens } from '../../db/gone.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { keyLimitsChanged } from '../events.ts';
import { liveToken, sameLineage, thingOf, type TokenRow } from '../rows.ts';
import { lineageOf } from '../spend.ts';

/** From here on a limit is none: a node does not carry as much, and to count up to it would cost what it can carry. */
const UNLIMITED_MBPS = 10_000;

/** What is not given stays. */
export interface LimitChanges {
  readonly name?: string;
  readonly allowedSubdomains?: readonly string[];
  readonly tunnelQuota?: number;
  readonly bandwidthLimitMbps?: number;
}

/** As a data node applies it; null: no limit. */
export function bandwidthOf({ bandwidthLimitMbps: mbps }: Pick<TokenRow, 'bandwidthLimitMbps'>): number | null {
  return mbps < UNLIMITED_MBPS ? mbps : null;
}

export class TokenLimits {
  readonly #store: Store;
  readonly #routeEvents: RouteEvents;

  constructor(deps: { store: Store; routeEvents: RouteEvents }) {
    this.#store = deps.store;
    this.#routeEvents = deps.routeEvents;
  }

  /**
   * Changes a live key of the actor's organization. Data nodes get it after the commit; sessions that serve more than the key allows now end.
   * Throws `not_found`, `forbidden`, `invalid_request` for limits of a master key.
   */
  change(actor: Actor, nonce: string, changes: LimitChanges): void {
    allow(actor, 'change', 'token');
    this.#store.inTx((tx) => {
      const { orgId } = actor;
      const token = liveToken(tx.db, { orgId, nonce, now: tx.now });
      allow(actor, 'change', thingOf(token));
      const { name: _, ...limits } = changes;
      if (token.kind === 'master' && Object.keys(limits).length > 0) throw masterHasNone();
      const { allowedSubdomains: names } = changes;
      const next: TokenRow = {
        ...token,
        ...changes,
        allowedSubdomains: names === undefined ? token.allowedSubdomains : [...new Set(names)],
      };
      const entries = changesBetween(limitsOf(token), limitsOf(next));
      if (entries.length === 0) return;
      if (!isNarrower(token, next)) requireMaker(actor, token);
      const lineage = and(eq(capabilityTokens.orgId, orgId), sameLineage(lineageOf(token)), liveTokens(tx.now));
      const { id } = capabilityTokens;
      const ids = tx.db.select({ id }).from(capabilityTokens).where(lineage).all();
      tx.db
        .update(capabilityTokens)
        .set({
          name: next.name,
          allowedSubdomains: next.allowedSubdomains,
          tunnelQuota: next.tunnelQuota,
          bandwidthLimitMbps: next.bandwidthLimitMbps,
        })
        .where(lineage)
        .run();
      const entry = { action: 'token.update', resourceType: 'token' } as const;
      recordAudit(tx, actor, { ...entry, resourceId: token.nonce, changes: entries });
      const { tunnelQuota } = next;
      tx.onCommit(() => {
        for (const { id: tokenId } of ids)
          this.#routeEvents.limitToken({ tokenId, tunnelQuota, bandwidthLimitMbps: bandwidthOf(next) });
      });
      tx.emit(keyLimitsChanged, { orgId, ids: ids.map((row) => row.id) });
    });
  }
}

/** Nothing is allowed that was not allowed before. */
function isNarrower(before: TokenRow, next: TokenRow): boolean {
  return (
    next.tunnelQuota <= before.tunnelQuota &&
    next.bandwidthLimitMbps <= before.bandwidthLimitMbps &&
    next.allowedSubdomains.every((pattern) => isWithin(pattern, before.allowedSubdomains))
  );
}

/** Who gives a key more makes a key. Throws `forbidden`. */
function requireMaker(actor: UserActor, { kind, createdBy }: TokenRow): void {
  allow(actor, 'create', 'token');
  // It stands for the person who logged in.
  if (kind !== 'cli' || createdBy === actor.userId) return;
  throw new AppError(
    'forbidden',
    "The access key belongs to another member's `culvert login`. You can lower its limits, but not raise them.",
  );
}

function masterHasNone(): AppError {
  return new AppError(
    'invalid_request',
    "A master key opens no tunnels, so names, tunnels and bandwidth can't be limited. Limit its budget, or the keys that it creates.",
  );
}

/** For the audit log, by the names of the API. */
function limitsOf({ name, kind, tunnelQuota, bandwidthLimitMbps, allowedSubdomains }: TokenRow) {
  return kind === 'master' ? { name } : { name, tunnelQuota, bandwidthLimitMbps, allowedSubdomains };
}
