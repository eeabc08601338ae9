/**
 * Devices of private networks whose time runs out. A data node knows the instant and shakes hands with none of them any more; here the row is marked, the
 * nodes cut its flows, and the audit log has an entry. Called by control/core/jobs.ts.
 */
import { and, asc, eq, lte, sql } from 'drizzle-orm';
import { notGone } from '../db/gone.ts';
import { networkDevices, privateNetworks } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { recordAudit } from '../core/rules/audit.ts';
import { noteLost } from './device-rows.ts';
import type { NetworkEvents } from '../core/link/network-events.ts';

/** Devices per pass: the next pass comes in a second. */
const BATCH = 200;

export class DeviceExpiry {
  readonly #store: Store;
  readonly #networkEvents: Pick<NetworkEvents, 'deviceGone'>;

  constructor(deps: { store: Store; networkEvents: Pick<NetworkEvents, 'deviceGone'> }) {
    this.#store = deps.store;
    this.#networkEvents = deps.networkEvents;
  }

  /** Ends devices that are due, a bounded batch per call. Returns how many. */
  expireDue(): number {
    const { db, clock } = this.#store;
    // The condition of the index, word for word: a parameter in it would keep SQLite from using it.
    const isDue = (now: number) => and(sql`${networkDevices.expired} = 0`, lte(networkDevices.expiresAt, now));
    // A read first: the write lock is not taken once a second for nothing.
    if (
      db
        .select({ id: networkDevices.id })
        .from(networkDevices)
        .where(and(isDue(clock.now()), notGone(networkDevices.networkId, networkDevices.orgId)))
        .get() === undefined
    )
      return 0;
    return this.#store.inTx((tx) => {
      const { id, orgId, networkId, name } = networkDevices;
      const rows = tx.db
        .select({ id, orgId, networkId, name, network: privateNetworks.name })
        .from(networkDevices)
        .innerJoin(privateNetworks, eq(privateNetworks.id, networkId))
        .where(and(isDue(tx.now), notGone(networkId, orgId)))
        .orderBy(asc(networkDevices.expiresAt))
        .limit(BATCH)
        .all();
      for (const row of rows) {
        tx.db.update(networkDevices).set({ expired: true, updatedAt: tx.now }).where(eq(id, row.id)).run();
        noteLost(tx, row.networkId);
        recordAudit(
          tx,
          { kind: 'system', orgId: row.orgId },
          {
            action: 'network_device.expire',
            resourceType: 'network_device',
            resourceId: row.id,
            details: { network: row.network, name: row.name },
          },
        );
        tx.onCommit(() => this.#networkEvents.deviceGone(row.networkId, row.id));
      }
      return rows.length;
    });
  }
}
