/**
 * Devices of private networks as people handle them: list, enrol, change, revoke, their configs. A device is a public key
 * with an address; how it speaks is WireGuard's business.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import { networkDevices } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow, type UserActor } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { auditOf } from '../core/rules/audit.ts';
import { checkDailyLimit } from '../core/rules/daily-limit.ts';
import {
  countDevicesIn,
  countDevicesOf,
  deviceByKey,
  deviceIn,
  type DeviceRow,
  devicesOf,
  hasRunOut,
  lowestFreeHost,
  takenBehind,
  noteLost,
} from './device-rows.ts';
import { checkBehind, expiryFrom, extraAllowedIpsFrom, invalidField, nameFrom } from './input.ts';
import { endpointOf, type NetworkRow, ownNetwork, type Teller, withoutServer } from './rows.ts';
import { addressOf, type Overlay, overlayOf } from './overlay.ts';
import { invalidKey, publicKeyFrom } from './public-keys.ts';
import { isRelayed, relayDeviceOf } from './relay/snapshot.ts';
import { clientConfig } from './wireguard-config.ts';

/** Of one network: no user reads a server's config with more peers than this, and data nodes hold all of them. */
export const MAX_IN_NETWORK = 4_096;
/** Of one organization, in all its networks. */
export const MAX_IN_ORG = 20_000;
/** Devices that one person enrols in a day, those revoked again too. */
const MAX_PER_DAY = 10_000;

export interface NewDevice {
  readonly name: string;
  readonly publicKey: string;
  /** RFC 3339; null: never. */
  readonly expiresAt?: string | null;
  /** Networks behind the device. */
  readonly extraAllowedIps?: readonly string[];
}

export interface DeviceHandle {
  readonly networkId: string;
  readonly id: string;
}

export type DeviceChanges = Omit<Partial<NewDevice>, 'publicKey'>;

/** As the API shows it. */
export interface ShownDevice {
  readonly row: DeviceRow;
  /** Its address in the overlay. */
  readonly assignedIp: string;
  readonly expired: boolean;
}

export interface Enrolment {
  readonly device: ShownDevice;
  readonly networkCidr: string;
  /** False: the key was enrolled before, and this is what it has. */
  readonly isNew: boolean;
}

export interface NetworkDevicesDeps extends Teller {
  readonly store: Store;
}

const record = auditOf('network_device');

export class NetworkDevices {
  readonly #deps: NetworkDevicesDeps;

  constructor(deps: NetworkDevicesDeps) {
    this.#deps = deps;
  }

  /** By address. Throws `not_found`. */
  list(actor: Actor, networkId: string): readonly ShownDevice[] {
    allow(actor, 'read', 'network_device');
    const { db, clock } = this.#deps.store;
    const network = ownNetwork(db, actor.orgId, networkId);
    const overlay = overlayOf(network.cidr);
    const now = clock.now();
    return devicesOf(db, networkId).map((row) => shown(row, overlay, now));
  }

  /**
   * Gives the key the lowest free address. A key that is enrolled in this network already gets what it has, unchanged. Throws `not_found`,
   * `invalid_name`, `invalid_public_key`, `invalid_request`, `network_full`, `conflict` beyond the bound of the organization, `rate_limited`,
   * `forbidden`.
   */
  enroll(actor: Actor, networkId: string, input: NewDevice): Enrolment {
    allow(actor, 'create', 'network_device');
    return this.#deps.store.inTx((tx) => {
      const network = ownNetwork(tx.db, actor.orgId, networkId);
      const name = nameFrom(input.name);
      const publicKey = publicKeyFrom(input.publicKey, 'public_key');
      const known = deviceByKey(tx.db, networkId, publicKey);
      if (known !== undefined) return enrolment(tx, { network, row: known, isNew: false });
      if (publicKey === network.serverPublicKey) {
        throw invalidKey('public_key', 'The server of this network has this key. Create a key pair for the device.');
      }
      requireRoom(tx, actor, network);
      const row: DeviceRow = {
        id: uuidv7(),
        networkId,
        orgId: network.orgId,
        name,
        publicKey,
        host: freeHost(tx, network),
        extraAllowedIps: checkedBehind(tx, { network, exceptId: null }, input.extraAllowedIps ?? []),
        expiresAt: checkedExpiry(tx, input.expiresAt ?? null),
        expired: false,
        createdAt: tx.now,
        updatedAt: tx.now,
        lastHandshakeAt: null,
        lastSeenAt: null,
        endpoint: null,
        bytesIn: 0,
        bytesOut: 0,
      };
      tx.db.insert(networkDevices).values(row).run();
      const made = enrolment(tx, { network, row, isNew: true });
      const details = { network: network.name, name, assigned_ip: made.device.assignedIp, public_key: publicKey };
      record(tx, actor, { action: 'network_device.enroll', row, details });
      this.#announce(tx, network, row);
      return made;
    });
  }

  /** What is not given stays. One whose time had run out goes on with a new end. Throws `not_found`, `invalid_name`, `invalid_request`, `forbidden`. */
  update(actor: Actor, { networkId, id }: DeviceHandle, changes: DeviceChanges): ShownDevice {
    allow(actor, 'change', 'network_device');
    const { name, expiresAt, extraAllowedIps } = changes;
    return this.#deps.store.inTx((tx) => {
      const network = ownNetwork(tx.db, actor.orgId, networkId);
      const before = deviceIn(tx.db, networkId, id);
      const row: DeviceRow = {
        ...before,
        ...(name === undefined ? {} : { name: nameFrom(name) }),
        ...(expiresAt === undefined ? {} : { expiresAt: checkedExpiry(tx, expiresAt), expired: false }),
        ...(extraAllowedIps === undefined
          ? {}
          : { extraAllowedIps: checkedBehind(tx, { network, exceptId: id }, extraAllowedIps) }),
        updatedAt: tx.now,
      };
      tx.db.update(networkDevices).set(row).where(eq(networkDevices.id, id)).run();
      const details = {
        network: network.name,
        name: row.name,
      };
      const changed = changesBetween(fieldsOf(before), fieldsOf(row));
      record(tx, actor, { action: 'network_device.update', row, details, changes: changed });
      if (expiresAt !== undefined || extraAllowedIps !== undefined) this.#announce(tx, network, row);
      return shown(row, overlayOf(network.cidr), tx.now);
    });
  }

  /** Its address is free, and what it has under way is cut. Throws `not_found`, `forbidden`. */
  revoke(actor: Actor, networkId: string, id: string): void {
    allow(actor, 'delete', 'network_device');
    this.#deps.store.inTx((tx) => {
      const network = ownNetwork(tx.db, actor.orgId, networkId);
      const row = deviceIn(tx.db, networkId, id);
      tx.db.delete(networkDevices).where(eq(networkDevices.id, id)).run();
      noteLost(tx, networkId);
      const { name, publicKey: public_key } = row;
      record(tx, actor, { action: 'network_device.revoke', row, details: { network: network.name, name, public_key } });
      if (isRelayed(network)) tx.onCommit(() => this.#deps.networkEvents.deviceGone(networkId, id));
    });
  }

  /** WireGuard config of the device, without its private key. Throws `not_found`, `server_not_registered`. */
  config(actor: Actor, networkId: string, id: string): string {
    allow(actor, 'read', 'network_device');
    const { db } = this.#deps.store;
    const network = ownNetwork(db, actor.orgId, networkId);
    const device = deviceIn(db, networkId, id);
    const endpoint = endpointOf(network, this.#deps);
    const { serverPublicKey } = network;
    if (endpoint === null || serverPublicKey === null) throw withoutServer(network);
    return clientConfig({ network: { ...network, serverPublicKey }, endpoint, device });
  }

  #announce(tx: Tx, network: NetworkRow, row: DeviceRow): void {
    if (!isRelayed(network)) return;
    const device = relayDeviceOf(row, overlayOf(network.cidr));
    tx.onCommit(() => this.#deps.networkEvents.device(network.id, device));
  }
}

/** Throws `network_full`, `conflict`, `rate_limited`. */
function requireRoom(tx: Tx, actor: UserActor, { id, name }: NetworkRow): void {
  if (countDevicesIn(tx.db, id) >= MAX_IN_NETWORK) {
    const most = MAX_IN_NETWORK.toLocaleString('en');
    throw new AppError(
      'network_full',
      `The private network ${name} has ${most} devices, which is the limit. Revoke one, or create another network.`,
    );
  }
  if (countDevicesOf(tx.db, actor.orgId) >= MAX_IN_ORG) {
    const most = MAX_IN_ORG.toLocaleString('en');
    throw new AppError(
      'conflict',
      `Your organization has ${most} devices in private networks, which is the limit. Revoke one first.`,
    );
  }
  const message = `You reached the limit of ${MAX_PER_DAY.toLocaleString('en')} new devices a day. Try again later.`;
  checkDailyLimit(tx, actor, { action: 'network_device.enroll', perDay: MAX_PER_DAY, message });
}

/** Throws `network_full`. */
function freeHost(tx: Tx, { id, name, cidr }: NetworkRow): number {
  const host = lowestFreeHost(tx, id, overlayOf(cidr));
  if (host !== undefined) return host;
  throw new AppError(
    'network_full',
    `All addresses of ${cidr} are taken. Revoke a device of the private network ${name}, or create a larger network.`,
  );
}

/** Throws `invalid_request`: what is behind two devices is behind neither, and the internet is behind none. */
function checkedBehind(
  tx: Tx,
  { network, exceptId }: { network: NetworkRow; exceptId: string | null },
  texts: readonly string[],
): readonly string[] {
  const extraAllowedIps = extraAllowedIpsFrom(texts, overlayOf(network.cidr));
  checkBehind(extraAllowedIps);
  const taken = takenBehind(tx.db, { networkId: network.id, exceptId }, extraAllowedIps);
  if (taken === undefined) return extraAllowedIps;
  throw invalidField(
    'extra_allowed_ips',
    `The device ${taken.device} already has ${taken.network}. Choose another network.`,
  );
}

function checkedExpiry(tx: Tx, text: string | null): number | null {
  return text === null ? null : expiryFrom(text, tx.now);
}

function enrolment(
  tx: Tx,
  { network, row, isNew }: { network: NetworkRow; row: DeviceRow; isNew: boolean },
): Enrolment {
  return { device: shown(row, overlayOf(network.cidr), tx.now), networkCidr: network.cidr, isNew };
}

function shown(row: DeviceRow, overlay: Overlay, now: number): ShownDevice {
  return { row, assignedIp: addressOf(overlay, row.host), expired: hasRunOut(row, now) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** For the audit log, by the names of the API. */
function fieldsOf({ name, expiresAt, extraAllowedIps }: DeviceRow) {
  return { name, expires_at: expiresAt === null ? null : iso(expiresAt), extra_allowed_ips: extraAllowedIps };
}
