/**
 * What tried actions (`enforce: false`) of policies would have refused since their policy was put: stored from the data plane's events, read
 * with the policy, forgotten with it. Called by service.ts and by events of tunnels.
 */
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { DryRunEvent } from '../../../plane/events.ts';
import type { Actions, PolicyAction } from '../../../plane/policy.ts';
import { liveTunnels } from '../../db/gone.ts';
import { dryRuns, tunnelPolicies, tunnels } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db, Tx } from '../../db/tx.ts';

/** One tried action, and what it would have refused. */
export interface DryRunView {
  /** Place of the action in the policy. */
  readonly index: number;
  readonly kind: PolicyAction['kind'];
  readonly wouldRefuse: number;
  /** Milliseconds since the epoch, and the last of them; null: none so far. */
  readonly last: (Pick<DryRunRow, 'method' | 'path' | 'clientIp' | 'code'> & { readonly at: number }) | null;
}

type DryRunRow = typeof dryRuns.$inferSelect;

export class DryRunRows {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Adds an event. One of a policy, or of a tunnel, that is no more is dropped. */
  add({ tunnelId, setAt, index, refused, lastAt, sample }: DryRunEvent): void {
    if (policyPutAt(this.#db).get({ tunnelId, setAt }) === undefined) return;
    adding(this.#db).run({ tunnelId, index, refused, lastAt, ...sample });
  }
}

/** Every action of the policy that would refuse and is only tried, in their order. */
export function dryRunsOf(db: Db, tunnelId: string, { actions }: Actions): readonly DryRunView[] {
  const rows = db.select().from(dryRuns).where(eq(dryRuns.tunnelId, tunnelId)).all();
  return actions.flatMap(({ kind, enforce }, index) => {
    if (enforce || kind === 'header_set' || kind === 'response_header_set') return [];
    const row = rows.find(({ actionIndex }) => actionIndex === index);
    return [
      { index, kind, wouldRefuse: row?.refused ?? 0, last: row === undefined ? null : { ...row, at: row.lastAt } },
    ];
  });
}

/** With the policy, or with its tunnel: a row holds the address of a visitor. */
export function forgetDryRuns(tx: Tx, tunnelIds: readonly string[]): void {
  tx.db
    .delete(dryRuns)
    .where(inArray(dryRuns.tunnelId, [...tunnelIds]))
    .run();
}

// A batch may hold a thousand events.

const policyPutAt = prepared((db) => {
  const { tunnelId, updatedAt } = tunnelPolicies;
  return db
    .select({ tunnelId })
    .from(tunnelPolicies)
    .innerJoin(tunnels, and(eq(tunnels.id, tunnelId), liveTunnels()))
    .where(and(eq(tunnelId, sql.placeholder('tunnelId')), eq(updatedAt, sql.placeholder('setAt'))))
    .prepare();
});

const adding = prepared((db) => {
  const last = {
    lastAt: sql.placeholder('lastAt'),
    method: sql.placeholder('method'),
    path: sql.placeholder('path'),
    clientIp: sql.placeholder('clientIp'),
    code: sql.placeholder('code'),
  };
  const refused = sql.placeholder('refused');
  return db
    .insert(dryRuns)
    .values({ tunnelId: sql.placeholder('tunnelId'), actionIndex: sql.placeholder('index'), refused, ...last })
    .onConflictDoUpdate({
      target: [dryRuns.tunnelId, dryRuns.actionIndex],
      set: {
        refused: sql`${dryRuns.refused} + excluded.refused`,
        lastAt: sql`excluded.last_at`,
        method: sql`excluded.method`,
        path: sql`excluded.path`,
        clientIp: sql`excluded.client_ip`,
        code: sql`excluded.code`,
      },
    })
    .prepare();
});
