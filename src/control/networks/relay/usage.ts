/**
 * What data nodes say of relays into rows: counters of networks, and reports about devices. Within the transaction of a batch, which
 * tunnels/plane/usage.ts makes; what they cost the tokens is charged there.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { DeviceEvent, RelayUsageEvent } from '../../../plane/relays.ts';
import { networkDevices, privateNetworks } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db } from '../../db/tx.ts';

export class RelayUsage {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Of a network that is gone nothing is kept. */
  count({ networkId, packetsIn, packetsOut, bytesIn, bytesOut }: RelayUsageEvent): void {
    counting(this.#db).run({ networkId, packetsIn, packetsOut, bytesIn, bytesOut });
  }

  /** Nor of a device that was revoked. */
  mark({ networkId, deviceId, address, handshakeAt, seenAt, bytesIn, bytesOut }: DeviceEvent): void {
    marking(this.#db).run({ networkId, deviceId, address, handshakeAt, seenAt, bytesIn, bytesOut });
  }
}

// As in tunnels/plane/usage.ts: there may be a thousand events in a batch.

const counting = prepared((db) => {
  const plus = (column: SQLiteColumn, name: keyof RelayUsageEvent) => sql`${column} + ${sql.placeholder(name)}`;
  const { bytesIn, bytesOut, packetsIn, packetsOut } = privateNetworks;
  return db
    .update(privateNetworks)
    .set({
      bytesIn: plus(bytesIn, 'bytesIn'),
      bytesOut: plus(bytesOut, 'bytesOut'),
      packetsIn: plus(packetsIn, 'packetsIn'),
      packetsOut: plus(packetsOut, 'packetsOut'),
    })
    .where(eq(privateNetworks.id, sql.placeholder('networkId')))
    .prepare();
});

/** Times go forward only: two nodes' batches may come in another order than what they tell of. */
const marking = prepared((db) => {
  const given = (name: keyof DeviceEvent) => sql.placeholder(name);
  const { lastHandshakeAt, lastSeenAt, endpoint, bytesIn, bytesOut, id, networkId } = networkDevices;
  const isNewer = sql`${given('seenAt')} >= coalesce(${lastSeenAt}, 0)`;
  return db
    .update(networkDevices)
    .set({
      lastHandshakeAt: sql`CASE WHEN ${given('handshakeAt')} > coalesce(${lastHandshakeAt}, 0) THEN ${given('handshakeAt')} ELSE ${lastHandshakeAt} END`,
      endpoint: sql`CASE WHEN ${isNewer} THEN ${given('address')} ELSE ${endpoint} END`,
      lastSeenAt: sql`max(coalesce(${lastSeenAt}, 0), ${given('seenAt')})`,
      bytesIn: sql`${bytesIn} + ${given('bytesIn')}`,
      bytesOut: sql`${bytesOut} + ${given('bytesOut')}`,
    })
    .where(and(eq(id, given('deviceId')), eq(networkId, given('networkId'))))
    .prepare();
});
