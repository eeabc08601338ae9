/**
 * Which recorded requests go, and when: by the plan of their organization, with an organization that is deleted, and with a tunnel whose row is
 * gone. Called by control/core/jobs.ts. The store deletes; what it may keep stands in the tables here.
 */
import { setImmediate } from 'node:timers/promises';
import { and, inArray, isNull } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { organizations, tunnels } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Keeping, type RecordStore, TUNNELS_PAGE } from '../db/usage/records.ts';
import { ENTITLEMENTS } from '../core/rules/plans.ts';

/** Ids of one query. */
const CHUNK = 500;
/** What one slice may take; longer is said. */
const HOLD_MS = 50;

export interface RecordSweepDeps {
  readonly store: Store;
  readonly records: Pick<RecordStore, 'organizations' | 'tunnels' | 'forgetOrganization' | 'forgetTunnel' | 'sweep'>;
  readonly log: Logger;
}

export class RecordSweep {
  readonly #store: Store;
  readonly #records: RecordSweepDeps['records'];
  readonly #log: Logger;
  /** Tunnels up to this one were looked at. */
  #after: string | null = null;

  constructor(deps: RecordSweepDeps) {
    this.#store = deps.store;
    this.#records = deps.records;
    this.#log = deps.log;
  }

  /** One pass: all organizations, a thousand tunnels, and as much deleting as fits into some seconds. */
  async run(stopping?: AbortSignal): Promise<void> {
    try {
      const keeping = await this.#keeping();
      await this.#forgetTunnels();
      const { deleted, longestHoldMs, done } = await this.#records.sweep(keeping);
      const fields = { deleted, longest_hold_ms: Math.round(longestHoldMs), done };
      if (longestHoldMs > HOLD_MS) this.#log.warn(fields, 'deleting old request records was slow: the disk is slow');
      else if (deleted > 0) this.#log.debug(fields, 'old request records were deleted');
    } catch (error) {
      // The store is closed under it.
      if (stopping?.aborted !== true) throw error;
    }
  }

  /** What each organization keeps; those that are deleted are forgotten on the way. */
  async #keeping(): Promise<Keeping[]> {
    const keeping: Keeping[] = [];
    const known = await this.#records.organizations();
    for (let i = 0; i < known.length; i += CHUNK) {
      const ids = known.slice(i, i + CHUNK);
      const rows = this.#store.db
        .select({ id: organizations.id, plan: organizations.plan })
        .from(organizations)
        .where(and(inArray(organizations.id, ids), isNull(organizations.deletedAt)))
        .all();
      const now = this.#store.clock.now();
      for (const { id, plan } of rows) {
        keeping.push({ orgId: id, since: now - ENTITLEMENTS[plan].inspectorRetentionDays * DAY_MS });
      }
      const live = new Set(rows.map(({ id }) => id));
      for (const id of ids) if (!live.has(id)) await this.#records.forgetOrganization(id);
      await setImmediate();
    }
    return keeping;
  }

  /** The row of a deleted tunnel stays for 30 days (core/retention.ts): so long its records are shown. */
  async #forgetTunnels(): Promise<void> {
    const known = await this.#records.tunnels(this.#after);
    this.#after = known.length < TUNNELS_PAGE ? null : (known.at(-1)?.tunnelId ?? null);
    for (let i = 0; i < known.length; i += CHUNK) {
      const chunk = known.slice(i, i + CHUNK);
      const ids = chunk.map(({ tunnelId }) => tunnelId);
      const rows = this.#store.db.select({ id: tunnels.id }).from(tunnels).where(inArray(tunnels.id, ids)).all();
      const there = new Set(rows.map(({ id }) => id));
      for (const { orgId, tunnelId } of chunk) {
        if (!there.has(tunnelId)) await this.#records.forgetTunnel(orgId, tunnelId);
      }
      await setImmediate();
    }
  }
}
