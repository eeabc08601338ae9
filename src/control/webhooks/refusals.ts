/**
 * What webhook receivers refuse, for their owners: how often, why, and when last. The commonest fault of a new receiver is that its sender has
 * another secret, and nothing else would tell. Counted in memory by mailbox.ts and folded into the tables by control/core/jobs.ts, for any client can
 * send forged deliveries by the thousand: one costs an addition. Nothing of what was refused is kept.
 */
import { eq, sql } from 'drizzle-orm';
import { webhookReceivers, webhookRefusals } from '../db/schema.ts';
import { prepared } from '../db/prepared.ts';
import type { Store, Tx } from '../db/tx.ts';
import type { SignatureFault } from '../../signatures/scheme.ts';

/** `came_back`: this server has sent it on itself. */
export type RefusalReason = SignatureFault | 'too_large' | 'came_back';
/** In the order of the API. */
export const REFUSAL_REASONS: readonly RefusalReason[] = [
  'signature_missing',
  'signature_wrong',
  'signature_too_old',
  'too_large',
  'came_back',
];

/** Receivers that have something to fold. Those of one more are in the figures of the operator alone, until the next fold makes room. */
const MAX_PENDING = 10_000;
/** Receivers of one pass of the job, so that it holds the loop for milliseconds. */
const FOLD_BATCH = 500;

interface Tally {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

/** Since the secret or the validator of the receiver changed last. */
export interface Refused {
  readonly total: number;
  readonly byReason: Readonly<Record<RefusalReason, number>>;
  /** Of the latest; null: nothing was refused. */
  readonly last: { readonly at: number; readonly reason: RefusalReason } | null;
}

export class Refusals {
  readonly #store: Store;
  /** By receiver, what is not in the tables yet. */
  readonly #pending = new Map<string, Map<RefusalReason, Tally>>();
  readonly #sinceStart = zeroOfEach();

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** `receiverId`: of a receiver that is there. */
  count(receiverId: string, reason: RefusalReason): void {
    this.#sinceStart[reason] += 1;
    let tallies = this.#pending.get(receiverId);
    if (tallies === undefined) {
      if (this.#pending.size >= MAX_PENDING) return;
      tallies = new Map();
      this.#pending.set(receiverId, tallies);
    }
    const count = (tallies.get(reason)?.count ?? 0) + 1;
    tallies.set(reason, { count, lastAt: this.#store.clock.now() });
  }

  of(receiverId: string): Refused {
    const { db } = this.#store;
    const rows = db.select().from(webhookRefusals).where(eq(webhookRefusals.receiverId, receiverId)).all();
    const tallies = new Map<RefusalReason, Tally>(rows.map((row) => [row.reason, row]));
    for (const [reason, { count, lastAt }] of this.#pending.get(receiverId) ?? [])
      tallies.set(reason, { count: count + (tallies.get(reason)?.count ?? 0), lastAt });
    return summed(tallies);
  }

  /** Begins anew: the receiver goes, or what they were refused by has changed. */
  forget(tx: Tx, receiverId: string): void {
    tx.db.delete(webhookRefusals).where(eq(webhookRefusals.receiverId, receiverId)).run();
    tx.onCommit(() => this.#pending.delete(receiverId));
  }

  /** Writes down what has come since: a batch. What can't be stored waits for the next time. */
  fold(): void {
    const batch = [...this.#pending].slice(0, FOLD_BATCH);
    if (batch.length === 0) return;
    // Relaxed: the last seconds of counters are worth no wait for the disk.
    this.#store.inTx(
      (tx) => {
        for (const [receiverId, tallies] of batch)
          for (const [reason, tally] of tallies) adding(this.#store.db).run({ receiverId, reason, ...tally });
        tx.onCommit(() => {
          for (const [receiverId] of batch) this.#pending.delete(receiverId);
        });
      },
      { relaxed: true },
    );
  }

  /** All that is left: the server stops. */
  foldAll(): void {
    while (this.#pending.size > 0) this.fold();
  }

  /** Of all receivers, since the start of the server. */
  stats(): Readonly<Record<RefusalReason, number>> {
    return { ...this.#sinceStart };
  }
}

/** A fold may hold hundreds. A receiver that is gone by then has no counts: one of them must not keep all others from being written. */
const adding = prepared((db) => {
  const { receiverId, reason, count } = webhookRefusals;
  const [id, why, more, at] = ['receiverId', 'reason', 'count', 'lastAt'].map((name) => sql.placeholder(name));
  return db
    .insert(webhookRefusals)
    .select(sql`SELECT ${id}, ${why}, ${more}, ${at} WHERE EXISTS (SELECT 1 FROM ${webhookReceivers} WHERE id = ${id})`)
    .onConflictDoUpdate({
      target: [receiverId, reason],
      set: { count: sql`${count} + excluded.count`, lastAt: sql`excluded.last_at` },
    })
    .prepare();
});

function summed(tallies: ReadonlyMap<RefusalReason, Tally>): Refused {
  const byReason = zeroOfEach();
  let last: Refused['last'] = null;
  for (const [reason, { count, lastAt }] of tallies) {
    byReason[reason] = count;
    if (last === null || lastAt > last.at) last = { at: lastAt, reason };
  }
  return { total: Object.values(byReason).reduce((all, one) => all + one, 0), byReason, last };
}

function zeroOfEach(): Record<RefusalReason, number> {
  return { signature_missing: 0, signature_wrong: 0, signature_too_old: 0, too_large: 0, came_back: 0 };
}
