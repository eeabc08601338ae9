/** The rows of enrolled devices, and the addresses that they have. Not to be called from outside networks/. */
import { and, asc, count, eq, max, ne, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { networkDevices, privateNetworks } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { FIRST_DEVICE_HOST, type Overlay } from './overlay.ts';

export type DeviceRow = typeof networkDevices.$inferSelect;

/** Is its time over? From that instant on the relay lets it in no more, whether `expired` says so yet or not. */
export function hasRunOut({ expiresAt }: Pick<DeviceRow, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** By address. */
export function devicesOf(db: Db, networkId: string): readonly DeviceRow[] {
  return db
    .select()
    .from(networkDevices)
    .where(eq(networkDevices.networkId, networkId))
    .orderBy(asc(networkDevices.host))
    .all();
}

/** A device of this network, of an organization that the caller has checked. Throws `not_found`. */
export function deviceIn(db: Db, networkId: string, id: string): DeviceRow {
  const row = db
    .select()
    .from(networkDevices)
    .where(and(eq(networkDevices.networkId, networkId), eq(networkDevices.id, id)))
    .get();
  if (row === undefined)
    throw new AppError('not_found', 'The private network has no device with this id. Check the id.');
  return row;
}

export function deviceByKey(db: Db, networkId: string, publicKey: string): DeviceRow | undefined {
  return db
    .select()
    .from(networkDevices)
    .where(and(eq(networkDevices.networkId, networkId), eq(networkDevices.publicKey, publicKey)))
    .get();
}

/** A device is blocked: a relay that is made anew while its session may live keeps out sessions that it does not know. */
export function noteLost(tx: Tx, networkId: string): void {
  tx.db.update(privateNetworks).set({ deviceLostAt: tx.now }).where(eq(privateNetworks.id, networkId)).run();
}

/** Of an organization, in all its networks. */
export function countDevicesOf(db: Db, orgId: string): number {
  return db.select({ n: count() }).from(networkDevices).where(eq(networkDevices.orgId, orgId)).get()?.n ?? 0;
}

/** Of one network. */
export function countDevicesIn(db: Db, networkId: string): number {
  return db.select({ n: count() }).from(networkDevices).where(eq(networkDevices.networkId, networkId)).get()?.n ?? 0;
}

/** The lowest host that no device has; undefined when all are taken. Holds within the transaction alone. */
export function lowestFreeHost(tx: Tx, networkId: string, overlay: Overlay): number | undefined {
  const { host } = networkDevices;
  const had = tx.db
    .select({ n: count(), top: max(host) })
    .from(networkDevices)
    .where(eq(networkDevices.networkId, networkId))
    .get();
  const next = FIRST_DEVICE_HOST + (had?.n ?? 0);
  // Without gaps, as most networks are, the next host is one behind the last: no need to look for a gap among thousands.
  const isDense = (had?.top ?? next - 1) === next - 1;
  const free = isDense ? next : firstGap(tx, networkId);
  return free <= overlay.lastHost ? free : undefined;
}

/** Along the index, and no further than to the first gap. */
function firstGap(tx: Tx, networkId: string): number {
  const row = tx.db.get<{ host: number }>(sql`
    SELECT host + 1 AS host
    FROM (
      SELECT ${FIRST_DEVICE_HOST - 1} AS host
      UNION ALL
      SELECT host FROM network_devices WHERE network_id = ${networkId}
    ) AS taken
    WHERE NOT EXISTS (SELECT 1 FROM network_devices AS next WHERE next.network_id = ${networkId} AND next.host = taken.host + 1)
    ORDER BY host
    LIMIT 1`);
  if (row === undefined) throw new Error('behind the last host there is always one');
  return row.host;
}

/** Which of these networks is behind another device already. */
export function takenBehind(
  db: Db,
  { networkId, exceptId }: { networkId: string; exceptId: string | null },
  extraAllowedIps: readonly string[],
): { readonly network: string; readonly device: string } | undefined {
  if (extraAllowedIps.length === 0) return undefined;
  const others = db
    .select({ id: networkDevices.id, name: networkDevices.name, extra: networkDevices.extraAllowedIps })
    .from(networkDevices)
    .where(and(eq(networkDevices.networkId, networkId), ne(networkDevices.extraAllowedIps, [])))
    .all();
  for (const { id, name, extra } of others) {
    const network = id === exceptId ? undefined : extra.find((one) => extraAllowedIps.includes(one));
    if (network !== undefined) return { network, device: name };
  }
  return undefined;
}
