/** Private networks and devices straight into the tables: for tests of what happens to them, and not of how people make them. */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { networkDevices, privateNetworks } from '../db/schema.ts';
import type { Plane } from '../core/testing/plane.ts';

type NetworkRow = typeof privateNetworks.$inferSelect;
type DeviceRow = typeof networkDevices.$inferSelect;

export const aKey = (): string => randomBytes(32).toString('base64');

/** A network whose server is registered, with a port of its own. */
export function addNetwork(plane: Plane, orgId: string, changes: Partial<NetworkRow> = {}): NetworkRow {
  const { db } = plane.control.store;
  const row: NetworkRow = {
    id: uuidv7(),
    orgId,
    name: 'office',
    cidr: '10.80.0.0/24',
    serverPublicKey: aKey(),
    serverListenPort: 51_820,
    reservedUdpPort: 30_000 + db.select().from(privateNetworks).all().length,
    selfEndpoint: null,
    dns: [],
    extraAllowedIps: [],
    createdAt: plane.now,
    updatedAt: plane.now,
    bytesIn: 0,
    bytesOut: 0,
    packetsIn: 0,
    packetsOut: 0,
    deviceLostAt: null,
    ...changes,
  };
  db.insert(privateNetworks).values(row).run();
  return row;
}

/** The next one of a network. */
export function addDevice(plane: Plane, network: NetworkRow, changes: Partial<DeviceRow> = {}): DeviceRow {
  const { db } = plane.control.store;
  const row: DeviceRow = {
    id: uuidv7(),
    networkId: network.id,
    orgId: network.orgId,
    name: 'phone',
    publicKey: aKey(),
    host: changes.host ?? 2 + db.select().from(networkDevices).all().length,
    extraAllowedIps: [],
    expiresAt: null,
    expired: false,
    createdAt: plane.now,
    updatedAt: plane.now,
    lastHandshakeAt: null,
    lastSeenAt: null,
    endpoint: null,
    bytesIn: 0,
    bytesOut: 0,
    ...changes,
  };
  db.insert(networkDevices).values(row).run();
  return row;
}
