/** Private networks: WireGuard networks whose server is a customer's machine, and the devices enrolled in them. Public keys alone; no private key is ever here. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';

export const privateNetworks = sqliteTable(
  'private_networks',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    /** Addresses of the overlay: `10.80.0.0/24`. Never changes, for devices have their addresses of it. */
    cidr: text().notNull(),
    /** WireGuard public key of the network's server, base64; null until one is registered. */
    serverPublicKey: text('server_public_key'),
    /** Where WireGuard listens on that machine; null together with the key. */
    serverListenPort: integer('server_listen_port'),
    /** UDP port of the edge: stays with the network for as long as it is relayed here. */
    reservedUdpPort: integer('reserved_udp_port'),
    /** `host:port` where clients reach the server without this edge; null: they come by the reserved port, or no server is registered. */
    selfEndpoint: text('self_endpoint'),
    /** Name servers that clients use, in order. */
    dns: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    /** Networks beside the overlay that clients send this way. */
    extraAllowedIps: text('extra_allowed_ips', { mode: 'json' }).$type<readonly string[]>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** What passed the relay since the beginning: payload from clients to the server (in) and back (out). */
    bytesIn: integer('bytes_in').notNull().default(0),
    bytesOut: integer('bytes_out').notNull().default(0),
    packetsIn: integer('packets_in').notNull().default(0),
    packetsOut: integer('packets_out').notNull().default(0),
    /** When a device was last revoked, or ran out; null: none was yet. A session of WireGuard outlives that by 3 minutes. */
    deviceLostAt: integer('device_lost_at'),
  },
  (t) => [
    uniqueIndex('private_networks_org_name').on(t.orgId, t.name),
    uniqueIndex('private_networks_port').on(t.reservedUdpPort).where(sql`reserved_udp_port IS NOT NULL`),
  ],
);

/** Deleted when they are revoked: the address is the next one's. */
export const networkDevices = sqliteTable(
  'network_devices',
  {
    id: text().primaryKey(),
    networkId: text('network_id')
      .notNull()
      .references(() => privateNetworks.id),
    /** Of the network. */
    orgId: text('org_id').notNull(),
    name: text().notNull(),
    /** WireGuard public key, base64. */
    publicKey: text('public_key').notNull(),
    /** Its address within the network: 2 is the second host. */
    host: integer().notNull(),
    /** Networks behind the device. */
    extraAllowedIps: text('extra_allowed_ips', { mode: 'json' }).$type<readonly string[]>().notNull(),
    /** Null = never. */
    expiresAt: integer('expires_at'),
    /** The expiry has been carried out: data plane told. */
    expired: integer({ mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** What the relay could tell of it; nothing of a network that clients reach without this edge. */
    lastHandshakeAt: integer('last_handshake_at'),
    lastSeenAt: integer('last_seen_at'),
    /** Address and port that it spoke from last. */
    endpoint: text(),
    /** Payload from the device (in) and to it (out). */
    bytesIn: integer('bytes_in').notNull().default(0),
    bytesOut: integer('bytes_out').notNull().default(0),
  },
  (t) => [
    uniqueIndex('network_devices_host').on(t.networkId, t.host),
    uniqueIndex('network_devices_key').on(t.networkId, t.publicKey),
    // Devices are counted per network, at each scrape: from the index alone.
    index('network_devices_org').on(t.orgId, t.networkId, t.expiresAt),
    index('network_devices_due').on(t.expiresAt).where(sql`expired = 0 AND expires_at IS NOT NULL`),
  ],
);
