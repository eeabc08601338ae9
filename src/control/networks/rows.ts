/** The rows of private networks and what is read of them again and again. Not to be called from outside networks/. */
import { and, asc, count, eq } from 'drizzle-orm';
import type { PortRange } from '../../base/net/addr.ts';
import { AppError } from '../../base/errors.ts';
import { notGone } from '../db/gone.ts';
import { networkDevices, privateNetworks } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { auditOf } from '../core/rules/audit.ts';
import type { PublicNames } from '../core/link/route-events.ts';
import type { NetworkEvents } from '../core/link/network-events.ts';
import { isRelayed, relayOf } from './relay/snapshot.ts';
import { isUdpPort } from './relay/udp-ports.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type NetworkRow = typeof privateNetworks.$inferSelect;

/** What says where clients reach a network. */
export interface Whereabouts {
  readonly names: Pick<PublicNames, 'udpEndpoint'>;
  /** Ports of the edge that networks may have (`edge.udp_ports`); null: none. */
  readonly udpPorts: PortRange | null;
}

/** What tells the data plane of networks, and people where they are. */
export interface Teller extends Whereabouts {
  readonly networkEvents: NetworkEvents;
}

/** Oldest first. */
export function networksOf(db: Db, orgId: string): readonly NetworkRow[] {
  return db
    .select()
    .from(privateNetworks)
    .where(and(eq(privateNetworks.orgId, orgId), liveNetworks()))
    .orderBy(asc(privateNetworks.createdAt), asc(privateNetworks.id))
    .all();
}

/** Networks of an organization that is gone which are not marked themselves. */
export function unmarkedNetworksOf(db: Db, orgId: string, limit: number): readonly NetworkRow[] {
  return db
    .select()
    .from(privateNetworks)
    .where(and(eq(privateNetworks.orgId, orgId), notGone(privateNetworks.id)))
    .orderBy(asc(privateNetworks.createdAt), asc(privateNetworks.id))
    .limit(limit)
    .all();
}

/** Neither they nor their organization were deleted. */
export function liveNetworks() {
  return notGone(privateNetworks.id, privateNetworks.orgId);
}

/** Throws `not_found`, also for another organization's. */
export function ownNetwork(db: Db, orgId: string, id: string): NetworkRow {
  return ownRow(db, privateNetworks, { orgId, id, what: 'private network', where: liveNetworks() });
}

/** By id, else by name: a name can look like the id of another network, and the id counts. */
export function findNetwork(db: Db, orgId: string, handle: string): NetworkRow | undefined {
  const own = (which: ReturnType<typeof eq>) =>
    db
      .select()
      .from(privateNetworks)
      .where(and(eq(privateNetworks.orgId, orgId), which, liveNetworks()))
      .get();
  return own(eq(privateNetworks.id, handle)) ?? own(eq(privateNetworks.name, handle));
}

/** Devices of each network of the organization that has any, those whose time has run out too. */
export function deviceCounts(db: Db, orgId: string): ReadonlyMap<string, number> {
  const rows = db
    .select({ networkId: networkDevices.networkId, n: count() })
    .from(networkDevices)
    .where(eq(networkDevices.orgId, orgId))
    .groupBy(networkDevices.networkId)
    .all();
  return new Map(rows.map(({ networkId, n }) => [networkId, n]));
}

/**
 * `host:port` that clients are configured with; null until a server is registered, and again once settings have taken the network's port away: no server
 * answers there, or another one.
 */
export function endpointOf(row: NetworkRow, { names, udpPorts }: Whereabouts): string | null {
  if (!isRelayed(row)) return row.selfEndpoint;
  return isUdpPort(udpPorts, row.reservedUdpPort) ? names.udpEndpoint(row.reservedUdpPort) : null;
}

/** What a config can't be without. */
export function withoutServer(row: NetworkRow): AppError {
  if (!isRelayed(row)) {
    return new AppError(
      'server_not_registered',
      'The private network has no server yet. Register its WireGuard public key first: culvert network set-server',
    );
  }
  return new AppError(
    'server_not_registered',
    `The port ${row.reservedUdpPort} of the private network ${row.name} is no longer in edge.udp_ports. Register its server again (culvert network set-server), then give clients new configurations.`,
  );
}

/** Tells the data plane of a network as it is in the transaction: all of it, or that it is not relayed. */
export function announce(tx: Tx, row: NetworkRow, { networkEvents, names }: Teller): void {
  const relay = relayOf(tx.db, row, { names, now: tx.now });
  tx.onCommit(() => {
    if (relay !== null) networkEvents.put(relay);
    else
      networkEvents.gone(
        row.id,
        'network_not_ready',
        `The private network ${row.name} is no longer relayed: clients reach it directly.`,
      );
  });
}

export const recordNetwork = auditOf('network');
