/**
 * Metrics keys: a Prometheus can't log in anew every fifteen minutes. Such a key reads the exposition of its organization until a member
 * deletes it, or its creator leaves the organization or is locked.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { metricKeys } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow, type MetricKeyActor } from '../core/rules/actor.ts';
import { auditOf } from '../core/rules/audit.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import { hashOf } from '../core/secrets/secret-hash.ts';
import { newTextKey } from '../core/secrets/text-key.ts';
import { type MetricKeyRow, type MetricKeyView, metricKeysOf, ownMetricKey } from './key-rows.ts';

/** Of one organization: one per scraper. */
export const MAX_METRIC_KEYS = 50;
/** Keys that one person makes in a day, those deleted again too. */
const MAX_PER_DAY = 200;
const ROOM = { action: 'metric_key.create', most: MAX_METRIC_KEYS, perDay: MAX_PER_DAY, what: 'metrics keys' } as const;
const PREFIX = 'msk_';
/** `lastUsedAt` is as exact as this: scrapers come every few seconds. */
const TOUCH_MS = 60_000;

const record = auditOf('metric_key');

export class MetricKeys {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Of the actor's organization, oldest first. */
  list(actor: Actor): readonly MetricKeyView[] {
    allow(actor, 'read', 'metric_key');
    return metricKeysOf(this.#store.db, actor.orgId);
  }

  /** A new key; its text is in the answer alone. Throws `forbidden`, `conflict` beyond the bound, `rate_limited`. */
  create(actor: Actor, name: string): { readonly row: MetricKeyRow; readonly key: string } {
    allow(actor, 'create', 'metric_key');
    return this.#store.inTx((tx) => {
      checkRoom(tx, actor, { ...ROOM, has: metricKeysOf(tx.db, actor.orgId).length });
      const key = newTextKey(PREFIX);
      const row: MetricKeyRow = {
        id: uuidv7(),
        orgId: actor.orgId,
        name,
        keyHash: hashOf(key),
        createdBy: actor.userId,
        createdAt: tx.now,
        lastUsedAt: null,
      };
      tx.db.insert(metricKeys).values(row).run();
      const details = { name };
      record(tx, actor, { action: 'metric_key.create', row, details });
      return { row, key };
    });
  }

  /** Good for nothing from now on. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'metric_key');
    this.#store.inTx((tx) => {
      const { name } = ownMetricKey(tx.db, actor.orgId, id);
      tx.db.delete(metricKeys).where(eq(metricKeys.id, id)).run();
      const details = { name };
      record(tx, actor, { action: 'metric_key.delete', row: { id }, details });
    });
  }

  /** Whose metrics a bearer reads; undefined for what is no live key. Looked up by hash: the time tells nothing about the key. */
  authenticate(presented: string): MetricKeyActor | undefined {
    if (!presented.startsWith(PREFIX)) return undefined;
    const { db, clock } = this.#store;
    const row = db
      .select()
      .from(metricKeys)
      .where(eq(metricKeys.keyHash, hashOf(presented)))
      .get();
    if (row === undefined) return undefined;
    if (row.lastUsedAt === null || row.lastUsedAt < clock.now() - TOUCH_MS) {
      this.#store.inTx(
        (tx) => void tx.db.update(metricKeys).set({ lastUsedAt: tx.now }).where(eq(metricKeys.id, row.id)).run(),
        { relaxed: true },
      );
    }
    return { kind: 'metric_key', orgId: row.orgId };
  }
}
