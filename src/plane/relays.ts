/**
 * What the planes say to each other about private networks: the relay that a network has at the edge, its devices, and what passed.
 * Plain cloneable data only. No private key is in it, and none is anywhere else on the server.
 */
import { RELAY_DROPS } from '../base/codes/drops.ts';

/** One network at the edge: a public UDP port, and the agent behind it once one has attached. Only networks with a reserved port are listed. */
export interface RelayRoute {
  readonly networkId: string;
  readonly orgId: string;
  readonly name: string;
  /** The reserved UDP port. */
  readonly port: number;
  /** `host:port` that clients are configured with. */
  readonly endpoint: string;
  /** WireGuard public key of the network's server: 32 bytes in base64. */
  readonly serverKey: string;
  /** Those that may shake hands; of one that is revoked or has run out the relay passes no handshake on. */
  readonly devices: readonly RelayDevice[];
  /** When a device was last revoked, or ran out: milliseconds since the epoch, or null. Its session may live still. */
  readonly deviceLostAt: number | null;
}

export interface RelayDevice {
  readonly deviceId: string;
  /** WireGuard public key: 32 bytes in base64. */
  readonly publicKey: string;
  /** Its address and the networks behind it: `10.80.0.2/32`. */
  readonly allowedIps: readonly string[];
  /** Milliseconds since the epoch, or null. */
  readonly expiresAt: number | null;
}

/** Why a relay ends; the agent that carries it gets the same code. */
export type RelayEndCode = 'network_deleted' | 'network_not_ready';

/** Datagrams that one token carried for one network since the last batch. */
export interface RelayUsageEvent {
  readonly kind: 'relay_usage';
  readonly networkId: string;
  readonly tokenId: string;
  readonly packetsIn: number;
  /** Payload bytes from clients towards the network's server. */
  readonly bytesIn: number;
  readonly packetsOut: number;
  /** Payload bytes from the network's server towards clients. */
  readonly bytesOut: number;
}

/** What the relay could tell of one device since the last batch: whose handshake it is shows in the packet's first MAC, and what follows in the same flow is taken for the same device. */
export interface DeviceEvent {
  readonly kind: 'device';
  readonly networkId: string;
  readonly deviceId: string;
  /** Address and port that it spoke from last. */
  readonly address: string;
  /** Last handshake that both sides took part in; null: none since the last batch. Milliseconds since the epoch. */
  readonly handshakeAt: number | null;
  /** Last datagram from it. Milliseconds since the epoch. */
  readonly seenAt: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Why datagrams were dropped; each is counted. */
export type RelayDrop = keyof typeof RELAY_DROPS;
export const RELAY_DROP_REASONS = Object.keys(RELAY_DROPS) as readonly RelayDrop[];

/** The way that datagrams take between server and agent. */
export type RelayPath = 'udp' | 'stream';

/** One attached relay, as `GET /private-networks/{id}/relay` shows it. */
export interface RelayInfo {
  readonly networkId: string;
  readonly orgId: string;
  readonly agentId: string;
  /** Milliseconds since the epoch. */
  readonly attachedAt: number;
  readonly path: RelayPath;
  /** The agent keeps the peers of the network's server in step. */
  readonly managesPeers: boolean;
  /** Since when it takes this way. Milliseconds since the epoch. */
  readonly pathSince: number;
  /** Clients with a flow now. */
  readonly flows: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly dropped: Readonly<Record<RelayDrop, number>>;
}

/** An agent asks to carry a network's datagrams. */
export interface AttachQuestion {
  readonly tokenId: string;
  readonly agentId: string;
  /** Id or name. */
  readonly network: string;
  /** What sessions of this token serve now, tunnels and relays, without this network: for the quota. */
  readonly serving: number;
}

/** All relays of a node together, for operators. */
export interface RelayStats {
  /** Networks with an agent attached. */
  readonly attached: number;
  /** Of them, those that go by the agent's session because UDP does not get through. */
  readonly onStream: number;
  readonly flows: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly dropped: Readonly<Record<RelayDrop, number>>;
}

/** None of a drop; all of them are there. */
export function noRelayDrops(): Record<RelayDrop, number> {
  return Object.fromEntries(RELAY_DROP_REASONS.map((reason) => [reason, 0])) as Record<RelayDrop, number>;
}
