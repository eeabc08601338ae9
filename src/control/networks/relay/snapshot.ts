/**
 * From the rows of a network and its devices to the RelayRoute that the data plane gets: the only place where one is made. Used by whatever
 * changes networks and devices, and for snapshots (control/link.ts).
 */
import { and, asc, eq, gt, isNotNull, isNull, or } from 'drizzle-orm';
import type { RelayDevice, RelayRoute } from '../../../plane/relays.ts';
import { notGone } from '../../db/gone.ts';
import { networkDevices, privateNetworks } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import type { PublicNames } from '../../core/link/route-events.ts';
import type { DeviceRow } from '../device-rows.ts';
import { addressOf, type Overlay, overlayOf } from '../overlay.ts';

/** What the data plane knows of a device. No more is read: a snapshot may hold twenty thousand of one organization. */
const KNOWN = {
  id: networkDevices.id,
  publicKey: networkDevices.publicKey,
  host: networkDevices.host,
  extraAllowedIps: networkDevices.extraAllowedIps,
  expiresAt: networkDevices.expiresAt,
};

/** Of a snapshot, in one turn of the loop: some milliseconds. */
const NETWORKS_OF_A_SLICE = 50;
const DEVICES_OF_A_SLICE = 1_000;

/** What a RelayRoute is made with. */
export interface RelayContext {
  readonly names: Pick<PublicNames, 'udpEndpoint'>;
  /** Milliseconds since the epoch: a device whose time has run out by then is left out. */
  readonly now: number;
}

/** The relay of a network; null: it has no server key, or no port of this server, or clients reach it without this server. */
export function relayOf(db: Db, row: NetworkRow, context: RelayContext): RelayRoute | null {
  if (!isRelayed(row)) return null;
  const devices = db
    .select(KNOWN)
    .from(networkDevices)
    .where(and(eq(networkDevices.networkId, row.id), isLive(context.now)))
    .orderBy(asc(networkDevices.host))
    .all();
  const overlay = overlayOf(row.cidr);
  return made(
    row,
    devices.map((device) => relayDeviceOf(device, overlay)),
    context,
  );
}

/**
 * Every relay of every organization, for a snapshot, a slice at a time: so many devices, or one network that has more. Also of one that is suspended, as
 * its tunnels have routes: its agents are cut off and none of it attaches, and there is nothing to tell when it is approved again.
 */
export function* relaySlices(db: Db, context: RelayContext): Generator<readonly RelayRoute[]> {
  const { id, orgId, reservedUdpPort, serverPublicKey, selfEndpoint } = privateNetworks;
  const isShown = and(isNotNull(reservedUdpPort), isNotNull(serverPublicKey), isNull(selfEndpoint), notGone(id, orgId));
  let after = '';
  for (;;) {
    const rows = db
      .select()
      .from(privateNetworks)
      .where(and(gt(id, after), isShown))
      .orderBy(asc(id))
      .limit(NETWORKS_OF_A_SLICE)
      .all();
    let slice: RelayRoute[] = [];
    let devices = 0;
    for (const row of rows) {
      const relay = relayOf(db, row, context);
      if (relay === null) continue;
      slice.push(relay);
      devices += relay.devices.length;
      if (devices < DEVICES_OF_A_SLICE) continue;
      yield slice;
      slice = [];
      devices = 0;
    }
    yield slice;
    const last = rows.at(-1);
    if (last === undefined || rows.length < NETWORKS_OF_A_SLICE) return;
    after = last.id;
  }
}

/** A device as the data plane knows it. */
export function relayDeviceOf(device: Pick<DeviceRow, keyof typeof KNOWN>, overlay: Overlay): RelayDevice {
  const { id, publicKey, host, extraAllowedIps, expiresAt } = device;
  return { deviceId: id, publicKey, allowedIps: [`${addressOf(overlay, host)}/32`, ...extraAllowedIps], expiresAt };
}

type NetworkRow = typeof privateNetworks.$inferSelect;
type RelayedRow = NetworkRow & { readonly reservedUdpPort: number; readonly serverPublicKey: string };

/** Do its datagrams go by this server? */
export function isRelayed(row: NetworkRow): row is RelayedRow {
  return row.reservedUdpPort !== null && row.serverPublicKey !== null && row.selfEndpoint === null;
}

function isLive(now: number) {
  return or(isNull(networkDevices.expiresAt), gt(networkDevices.expiresAt, now));
}

function made(row: RelayedRow, devices: readonly RelayDevice[], { names }: RelayContext): RelayRoute {
  return {
    networkId: row.id,
    orgId: row.orgId,
    name: row.name,
    port: row.reservedUdpPort,
    endpoint: names.udpEndpoint(row.reservedUdpPort),
    serverKey: row.serverPublicKey,
    devices,
    deviceLostAt: row.deviceLostAt,
  };
}
