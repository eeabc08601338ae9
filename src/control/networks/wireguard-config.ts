/**
 * The WireGuard configs of a network's server and of its devices, as wg-quick(8) reads them. Pure; used by the services of networks and devices.
 * Where a private key goes stands a placeholder: its owner puts it in, on their own machine.
 */
import { holdsNetwork, readIpNetwork } from '../../base/net/ip-network.ts';
import type { DeviceRow } from './device-rows.ts';
import type { NetworkRow } from './rows.ts';
import { addressOf, overlayOf, serverAddressOf } from './overlay.ts';

/** No key: `wg` refuses it, so that it can't be used by mistake. */
const PRIVATE_KEY = 'REPLACE_WITH_PRIVATE_KEY';
/** Leaves room for the relay's header and WireGuard's own, over IPv6 and a line that takes 1,492 bytes (PPPoE). */
const MTU = 1400;
/** Keeps the way through NAT open; the value that wg(8) calls sensible. In seconds. */
const KEEPALIVE = 25;

/** What a shell takes as one plain word, and the command as no option. */
const PLAIN_WORD = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export interface ServerConfigInput {
  readonly network: NetworkRow & { readonly serverListenPort: number };
  readonly endpoint: string;
  /** Those whose time has not run out. */
  readonly devices: readonly DeviceRow[];
  /** Of the API: an agent that is not told of a server asks another one. */
  readonly apiUrl: string;
}

/** For the machine that holds the server's private key. */
export function serverConfig({ network, endpoint, devices, apiUrl }: ServerConfigInput): string {
  const overlay = overlayOf(network.cidr);
  return text([
    `# The server of the private network ${oneLine(network.name)}`,
    '[Interface]',
    '# The private key of the registered public key. Culvert does not know it.',
    `PrivateKey = ${PRIVATE_KEY}`,
    `Address = ${serverAddressOf(overlay)}/${overlay.network.prefix}`,
    `ListenPort = ${network.serverListenPort}`,
    `MTU = ${MTU}`,
    ...wayIn(network, { endpoint, apiUrl }),
    '# To let devices reach each other through this machine, turn on forwarding: sysctl -w net.ipv4.ip_forward=1',
    ...devices.flatMap((device) => [
      '',
      '[Peer]',
      `# ${oneLine(device.name)}`,
      `PublicKey = ${device.publicKey}`,
      `AllowedIPs = ${[`${addressOf(overlay, device.host)}/32`, ...device.extraAllowedIps].join(', ')}`,
    ]),
  ]);
}

/** How clients' datagrams come to the machine. */
function wayIn(
  network: ServerConfigInput['network'],
  { endpoint, apiUrl }: Pick<ServerConfigInput, 'endpoint' | 'apiUrl'>,
): readonly string[] {
  if (network.selfEndpoint !== null) return [`# Clients connect to ${endpoint}: forward its UDP traffic to this port.`];
  const handle = PLAIN_WORD.test(network.name) ? network.name : network.id;
  return [
    `# Clients connect to ${endpoint}. Keep this command running on this machine to receive their traffic:`,
    `#   culvert udp ${network.serverListenPort} --network ${handle} --server ${apiUrl}`,
  ];
}

export interface ClientConfigInput {
  readonly network: NetworkRow & { readonly serverPublicKey: string };
  readonly endpoint: string;
  readonly device: DeviceRow;
}

/** For the device. */
export function clientConfig({ network, endpoint, device }: ClientConfigInput): string {
  const overlay = overlayOf(network.cidr);
  const routes = [overlay.cidr, ...network.extraAllowedIps.filter((one) => !isBehind(device, one))];
  return text([
    `# ${oneLine(device.name)} in the private network ${oneLine(network.name)}`,
    '[Interface]',
    '# The private key of the enrolled public key. Culvert does not know it.',
    `PrivateKey = ${PRIVATE_KEY}`,
    `Address = ${addressOf(overlay, device.host)}/32`,
    ...(network.dns.length === 0 ? [] : [`DNS = ${network.dns.join(', ')}`]),
    `MTU = ${MTU}`,
    '',
    '[Peer]',
    `PublicKey = ${network.serverPublicKey}`,
    `Endpoint = ${endpoint}`,
    `AllowedIPs = ${routes.join(', ')}`,
    `PersistentKeepalive = ${KEEPALIVE}`,
  ]);
}

/** What is behind the device itself must not be sent away from it. */
function isBehind(device: DeviceRow, text: string): boolean {
  const network = readIpNetwork(text);
  return device.extraAllowedIps.some((own) => {
    const outer = readIpNetwork(own);
    return network !== undefined && outer !== undefined && holdsNetwork(outer, network);
  });
}

/** A name in a comment: whatever it holds, the comment ends where its line does. */
function oneLine(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
