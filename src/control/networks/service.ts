/**
 * Private networks as people handle them: list, make, change, name their server, delete. The server is a WireGuard on a
 * customer's machine; here are its public key, and the UDP port of the edge by which clients come to it.
 */
import { eq, inArray } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import type { Drains } from '../core/drains.ts';
import { insertPending, type NewPendingWork, type PendingWork } from '../core/pending-rows.ts';
import { networkDevices, privateNetworks } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { checkRoom } from '../core/rules/daily-limit.ts';
import { letPortRest, type PortFault } from '../core/rules/public-ports.ts';
import { countDevicesIn, deviceByKey, devicesOf, hasRunOut } from './device-rows.ts';
import { dnsFrom, endpointFrom, extraAllowedIpsFrom, nameFrom } from './input.ts';
import {
  announce,
  deviceCounts,
  endpointOf,
  type NetworkRow,
  networksOf,
  ownNetwork,
  recordNetwork,
  unmarkedNetworksOf,
  type Teller,
  withoutServer,
} from './rows.ts';
import { overlayFrom, overlayOf } from './overlay.ts';
import { invalidKey, publicKeyFrom } from './public-keys.ts';
import { isRelayed } from './relay/snapshot.ts';
import { isUdpPort, pickUdpPort } from './relay/udp-ports.ts';
import { serverConfig } from './wireguard-config.ts';

/** Of one organization: a bound for lists, far above need. */
export const MAX_NETWORKS = 100;
/** Networks that one person makes in a day, those deleted again too. */
const MAX_PER_DAY = 400;
const ROOM = { action: 'network.create', most: MAX_NETWORKS, perDay: MAX_PER_DAY, what: 'private networks' } as const;

/** As the API shows it. */
export interface ShownNetwork {
  readonly row: NetworkRow;
  /** `host:port` that clients are configured with; null until a server is registered, and when settings have taken its port away. */
  readonly endpoint: string | null;
  /** Enrolled devices, those whose time has run out too. */
  readonly devices: number;
}

export interface NetworkChanges {
  readonly name?: string;
  readonly dns?: readonly string[];
  readonly extraAllowedIps?: readonly string[];
}

export interface NetworkServer {
  readonly publicKey: string;
  readonly listenPort: number;
  /** Where clients reach it without this server; null: by a port of the edge. */
  readonly endpoint: string | null;
}

export interface NetworksDeps extends Teller {
  readonly store: Store;
  readonly drains: Drains;
  /** Of the API; a listener on port 0 learns its own late. */
  readonly apiUrl: () => string;
}

export class Networks {
  readonly #deps: NetworksDeps;

  constructor(deps: NetworksDeps) {
    this.#deps = deps;
  }

  /** Of the actor's organization, oldest first. */
  list(actor: Actor): readonly ShownNetwork[] {
    allow(actor, 'read', 'network');
    const { db } = this.#deps.store;
    const counts = deviceCounts(db, actor.orgId);
    return networksOf(db, actor.orgId).map((row) => this.#shown(row, counts.get(row.id) ?? 0));
  }

  /** Throws `not_found`. */
  get(actor: Actor, id: string): ShownNetwork {
    allow(actor, 'read', 'network');
    const { db } = this.#deps.store;
    return this.#shown(ownNetwork(db, actor.orgId, id), countDevicesIn(db, id));
  }

  /** Throws `invalid_name`, `invalid_cidr`, `duplicate_name`, `conflict` beyond the bound, `rate_limited`, `forbidden`. */
  create(actor: Actor, input: { readonly name: string; readonly cidr: string }): ShownNetwork {
    allow(actor, 'create', 'network');
    const name = nameFrom(input.name);
    const { cidr } = overlayFrom(input.cidr);
    return this.#deps.store.inTx((tx) => {
      const others = networksOf(tx.db, actor.orgId);
      requireFreeName(others, name);
      checkRoom(tx, actor, { ...ROOM, has: others.length });
      const row: NetworkRow = {
        id: uuidv7(),
        orgId: actor.orgId,
        name,
        cidr,
        serverPublicKey: null,
        serverListenPort: null,
        reservedUdpPort: null,
        selfEndpoint: null,
        dns: [],
        extraAllowedIps: [],
        createdAt: tx.now,
        updatedAt: tx.now,
        bytesIn: 0,
        bytesOut: 0,
        packetsIn: 0,
        packetsOut: 0,
        deviceLostAt: null,
      };
      tx.db.insert(privateNetworks).values(row).run();
      recordNetwork(tx, actor, { action: 'network.create', row, details: { name, cidr } });
      return this.#shown(row, 0);
    });
  }

  /** What is not given stays. Throws `not_found`, `invalid_name`, `invalid_request`, `duplicate_name`, `forbidden`. */
  update(actor: Actor, id: string, changes: NetworkChanges): ShownNetwork {
    allow(actor, 'change', 'network');
    return this.#deps.store.inTx((tx) => {
      const before = ownNetwork(tx.db, actor.orgId, id);
      const given = checkedChanges(changes, before);
      if (given.name !== undefined && given.name !== before.name) {
        requireFreeName(networksOf(tx.db, actor.orgId), given.name);
      }
      const row = { ...before, ...given, updatedAt: tx.now };
      tx.db.update(privateNetworks).set(row).where(eq(privateNetworks.id, id)).run();
      recordNetwork(tx, actor, {
        action: 'network.update',
        row,
        changes: changesBetween(fieldsOf(before), fieldsOf(row)),
      });
      if (isRelayed(row) && row.name !== before.name) announce(tx, row, this.#deps);
      return this.#shown(row, countDevicesIn(tx.db, id));
    });
  }

  /**
   * Names the network's server, or another one. Without an endpoint of its own it gets a port of the edge, which it keeps while there is such a port; with one
   * it gives that port up. Throws `not_found`, `invalid_public_key`, `invalid_request`, `conflict` when no port is free, `forbidden`.
   */
  setServer(actor: Actor, id: string, { publicKey, listenPort, endpoint }: NetworkServer): ShownNetwork {
    allow(actor, 'change', 'network');
    return this.#deps.store.inTx((tx) => {
      const before = ownNetwork(tx.db, actor.orgId, id);
      const serverPublicKey = publicKeyFrom(publicKey, 'server_public_key');
      if (deviceByKey(tx.db, id, serverPublicKey) !== undefined) {
        throw invalidKey(
          'server_public_key',
          'A device of this network has this key. Create a key pair for the server.',
        );
      }
      const selfEndpoint = endpoint === null ? null : endpointFrom(endpoint);
      const reservedUdpPort = selfEndpoint === null ? this.#portFor(tx, before) : null;
      if (reservedUdpPort !== before.reservedUdpPort) giveUpPort(tx, before);
      const row: NetworkRow = {
        ...before,
        serverPublicKey,
        serverListenPort: listenPort,
        selfEndpoint,
        reservedUdpPort,
        updatedAt: tx.now,
      };
      tx.db.update(privateNetworks).set(row).where(eq(privateNetworks.id, id)).run();
      const shown = this.#shown(row, countDevicesIn(tx.db, id));
      const details = { name: row.name, public_endpoint: shown.endpoint, server_public_key: serverPublicKey };
      const changes = changesBetween(serverFields(before), serverFields(row));
      recordNetwork(tx, actor, { action: 'network.server', row, details, changes });
      if (isRelayed(row) || isRelayed(before)) announce(tx, row, this.#deps);
      return shown;
    });
  }

  /** WireGuard config of the server, without its private key. Throws `not_found`, `server_not_registered`. */
  serverConfig(actor: Actor, id: string): string {
    allow(actor, 'read', 'network');
    const { db, clock } = this.#deps.store;
    const row = ownNetwork(db, actor.orgId, id);
    const endpoint = endpointOf(row, this.#deps);
    const { serverListenPort } = row;
    if (endpoint === null || serverListenPort === null) throw withoutServer(row);
    const now = clock.now();
    const devices = devicesOf(db, id).filter((device) => !hasRunOut(device, now));
    const apiUrl = this.#deps.apiUrl();
    return serverConfig({ network: { ...row, serverListenPort }, endpoint, devices, apiUrl });
  }

  /** With its devices; its port stays with the organization for a day. Throws `not_found`, `forbidden`. */
  delete(actor: Actor, id: string): void {
    allow(actor, 'delete', 'network');
    this.#deps.store.inTx((tx) => {
      const row = ownNetwork(tx.db, actor.orgId, id);
      this.#tellGone(tx, row);
      this.#deps.drains.begin(tx, this.#letGo(tx, actor, row));
    });
  }

  /** Tells data nodes, after the commit, that the networks of an organization are gone, which is about to be marked so. */
  announceGone(tx: Tx, orgId: string): void {
    for (const row of networksOf(tx.db, orgId)) this.#tellGone(tx, row);
  }

  /** Each network of an organization that was deleted goes by itself. A Drain. */
  drainOrganization(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
    const rows = unmarkedNetworksOf(tx.db, scope, limit);
    for (const row of rows) insertPending(tx, this.#letGo(tx, actor, row));
    return rows.length;
  }

  /** The devices of a network that was deleted, and then itself. A Drain. */
  drain(tx: Tx, { scope }: PendingWork, limit: number): number {
    const { id, networkId } = networkDevices;
    const some = tx.db.select({ id }).from(networkDevices).where(eq(networkId, scope)).limit(limit);
    const { changes } = tx.db.delete(networkDevices).where(inArray(id, some)).run();
    if (changes === limit) return changes;
    return changes + tx.db.delete(privateNetworks).where(eq(privateNetworks.id, scope)).run().changes;
  }

  /** Its port is free for another network of the organization at once. Returns what is left to do. */
  #letGo(tx: Tx, actor: Actor, row: NetworkRow): NewPendingWork {
    const details = { name: row.name, devices: countDevicesIn(tx.db, row.id) };
    giveUpPort(tx, row);
    tx.db.update(privateNetworks).set({ reservedUdpPort: null }).where(eq(privateNetworks.id, row.id)).run();
    recordNetwork(tx, actor, { action: 'network.delete', row, details });
    return { kind: 'network_deleted', scope: row.id, orgId: row.orgId, actor };
  }

  #tellGone(tx: Tx, row: NetworkRow): void {
    if (!isRelayed(row)) return;
    tx.onCommit(() =>
      this.#deps.networkEvents.gone(row.id, 'network_deleted', `The private network ${row.name} was deleted.`),
    );
  }

  /** Its own, unless that is none of the edge's any more. */
  #portFor(tx: Tx, { reservedUdpPort, orgId }: NetworkRow): number {
    const { udpPorts } = this.#deps;
    if (udpPorts === null) throw new AppError('conflict', RELAYS_OFF);
    if (reservedUdpPort !== null && isUdpPort(udpPorts, reservedUdpPort)) return reservedUdpPort;
    const port = pickUdpPort(tx, udpPorts, orgId);
    if (typeof port === 'number') return port;
    throw new AppError('conflict', WITHOUT_PORT[port]);
  }

  #shown(row: NetworkRow, devices: number): ShownNetwork {
    return { row, endpoint: endpointOf(row, this.#deps), devices };
  }
}

function giveUpPort(tx: Tx, { reservedUdpPort: port, orgId }: NetworkRow): void {
  letPortRest(tx, 'udp', { port, orgId });
}

const RELAYS_OFF =
  'This server does not relay private networks. Set a public_endpoint where clients reach the network directly, or ask the operator to set edge.udp_ports.';

const MORE_PORTS =
  'Delete a private network, ask the operator for more ports (edge.udp_ports), or set a public_endpoint where clients reach the network directly.';
const WITHOUT_PORT: Readonly<Record<PortFault, string>> = {
  no_port_free: `No UDP port is free: all are taken, or other organizations freed them in the last 24 hours. ${MORE_PORTS}`,
  port_share: `You have your share of the UDP ports: an organization, or all organizations that one user created, get at most three quarters. ${MORE_PORTS}`,
};

function requireFreeName(others: readonly NetworkRow[], name: string): void {
  if (!others.some((other) => other.name === name)) return;
  throw new AppError('duplicate_name', `Your organization already has a private network ${name}. Choose another name.`);
}

function checkedChanges({ name, dns, extraAllowedIps }: NetworkChanges, { cidr }: NetworkRow): NetworkChanges {
  return {
    ...(name === undefined ? {} : { name: nameFrom(name) }),
    ...(dns === undefined ? {} : { dns: dnsFrom(dns) }),
    ...(extraAllowedIps === undefined
      ? {}
      : { extraAllowedIps: extraAllowedIpsFrom(extraAllowedIps, overlayOf(cidr)) }),
  };
}

/** For the audit log, by the names of the API. */
function fieldsOf({ name, dns, extraAllowedIps }: NetworkRow) {
  return { name, dns, extra_allowed_ips: extraAllowedIps };
}

function serverFields({ serverPublicKey, serverListenPort, selfEndpoint }: NetworkRow) {
  return { server_public_key: serverPublicKey, server_listen_port: serverListenPort, public_endpoint: selfEndpoint };
}
