/** How long requests of a tunnel or an organization took, how they ended, and what they carried, by time. */
import { tunnels } from '../../db/schema.ts';
import { liveTunnels } from '../../db/gone.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { ownRow } from '../../core/rules/own-row.ts';
import { actorIn } from '../../organizations/membership-rows.ts';
import { type Window, WINDOWS } from '../usage-buckets.ts';
import { rowsSince, startOf } from './latency-rows.ts';
import { LatencySum } from './latency-sum.ts';

export interface LatencyBucket {
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly sum: LatencySum;
}

export interface LatencyView {
  /** All buckets together. */
  readonly summary: LatencySum;
  /** Oldest first, those without traffic too. The last one is the present, and not over yet. */
  readonly buckets: readonly LatencyBucket[];
}

export class Latency {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Throws `not_found`. */
  ofTunnel(actor: Actor, of: { readonly tunnelId: string; readonly range: Window }): LatencyView {
    allow(actor, 'read', 'metric');
    const { db } = this.#store;
    ownRow(db, tunnels, { orgId: actor.orgId, id: of.tunnelId, what: 'tunnel', where: liveTunnels() });
    return this.#view(of.tunnelId, of.range);
  }

  /** Of all tunnels that an organization has or had. Throws `not_found`. */
  ofOrg(actor: Actor, of: { readonly orgId: string; readonly range: Window }): LatencyView {
    const me = actorIn(this.#store.db, actor, of.orgId);
    allow(me, 'read', 'metric');
    return this.#view(me.orgId, of.range);
  }

  #view(scope: string, range: Window): LatencyView {
    const { width, count } = WINDOWS[range];
    const { db, clock } = this.#store;
    const now = clock.now();
    const from = startOf(now, width) - (count - 1) * width * 1_000;
    const summary = new LatencySum();
    const buckets = Array.from({ length: count }, (_, i) => ({
      startsAt: from + i * width * 1_000,
      sum: new LatencySum(),
    }));
    for (const row of rowsSince(db, [scope], { from, now, widest: width })) {
      buckets[Math.floor((row.startsAt - from) / (width * 1_000))]?.sum.addRow(row);
      summary.addRow(row);
    }
    return { summary, buckets };
  }
}
