/** Labels and commands of networks, relays and devices. Pure. */
import type { Schemas } from '../../api/types.ts';
import type { Tone } from '../../parts/tone.ts';
import { fileNameOf, interfaceOf } from './wireguard.ts';

export type Network = Schemas['PrivateNetwork'];
export type Device = Schemas['NetworkDevice'];
export type Relay = Schemas['NetworkRelay'];

/** What a shell takes as it stands: the name, or the id where the name would need quotes. */
export function handleOf({ id, name }: Network): string {
  return /^[A-Za-z0-9._-]+$/.test(name) && !name.startsWith('-') ? name : id;
}

/** What carries the network's datagrams to the WireGuard of its server. */
export function relayCommand(network: Network): string {
  return `culvert udp ${network.server_listen_port ?? 'PORT'} --network ${handleOf(network)}`;
}

/** Reloads the config of WireGuard at the network's server. No peer is disconnected. */
export function syncCommand({ name }: Network): string {
  return `wg-quick strip ./${fileNameOf(name)} | sudo wg syncconf ${interfaceOf(name)} /dev/stdin`;
}

/** Adds one device there. Networks behind it need a route besides, which wg-quick makes. */
export function addPeerCommand({ name }: Network, device: Device): string {
  const allowed = [`${plainIp(device.assigned_ip)}/32`, ...device.extra_allowed_ips].join(',');
  return `sudo wg set ${interfaceOf(name)} peer ${device.public_key} allowed-ips ${allowed}`;
}

/** Clients reach the machine by themselves: nothing of it passes here. */
export function isSelfRelayed({ server_public_key: key, reserved_udp_port: port, public_endpoint: at }: Network) {
  return key !== null && port === null && at !== null;
}

/** The operator has removed its port: no device connects until the server is registered again. */
export function hasLostPort({ server_public_key: key, public_endpoint: at }: Network): boolean {
  return key !== null && at === null;
}

/** The endpoint is a loopback address: only this machine reaches it. */
export function isOnlyHere({ public_endpoint: at }: Pick<Network, 'public_endpoint'>): boolean {
  const host = at?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d/.test(host);
}

export interface Status {
  readonly tone: Tone;
  readonly words: string;
}

/** State of the way in to a network. `relay`: undefined while it is not known. */
export function networkStatus(network: Network, relay: Relay | undefined): Status | undefined {
  if (network.server_public_key === null) return { tone: 'quiet', words: 'No server yet' };
  if (hasLostPort(network)) return { tone: 'bad', words: 'Port removed' };
  if (isSelfRelayed(network)) return { tone: 'info', words: 'Own endpoint' };
  if (relay === undefined) return undefined;
  if (!relay.online) return { tone: 'bad', words: 'No agent' };
  return relay.path === 'stream'
    ? { tone: 'warn', words: 'Relayed over TLS' }
    : { tone: 'good', words: 'Relayed over UDP' };
}

/** Why datagrams were dropped, as the API names it. */
const REASONS: Readonly<Record<string, string>> = {
  no_agent: 'without a connected agent',
  queue_full: 'with a full queue to the agent',
  send_failed: 'with a full network buffer on the server',
  flows: 'over the client limit',
  unproven: 'to an address without a handshake',
  not_enrolled: 'with an unknown, revoked or expired key',
  no_flow: 'for a disconnected client',
  too_long: 'too long',
  wrong_source: 'not from the agent’s address',
  malformed: 'malformed',
  budget: 'over the budget of the agent’s key',
  bandwidth: 'over the bandwidth limit of the agent’s key',
};

export interface Drop {
  readonly reason: string;
  readonly count: number;
  readonly words: string;
}

/** The most frequent reason first; those that never happened are left out. */
export function dropsOf({ dropped }: Relay): readonly Drop[] {
  return Object.entries(dropped ?? {})
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => ({ reason, count, words: REASONS[reason] ?? reason }))
    .sort((one, other) => other.count - one.count);
}

export function deviceStatus({ expired, last_handshake_at: at, last_seen_at: seen }: Device, now: number): Status {
  if (expired) return { tone: 'bad', words: 'Expired' };
  if (at === null) return { tone: 'quiet', words: 'Never seen' };
  // WireGuard shakes hands anew at least each two minutes while something passes, and gives a session up after three.
  const latest = Math.max(Date.parse(at), Date.parse(seen ?? at));
  return now - latest < 180_000 ? { tone: 'good', words: 'Connected' } : { tone: 'quiet', words: 'Offline' };
}

/** `10.80.0.2` of `10.80.0.2/32`. */
export function plainIp(address: string): string {
  return address.replace(/\/32$/, '');
}

export function devicesText(count: number): string {
  return count === 1 ? '1 device' : `${count} devices`;
}
