/**
 * The addresses of a private network: which networks can be one, and which address its hosts have. Host 1 is the server, devices follow, and
 * neither the network's own address nor its broadcast address is given to a device. Pure; used by the services of networks and devices.
 */
import { isIPv4 } from 'node:net';
import { AppError } from '../../base/errors.ts';
import { formatIpNetwork, holdsNetwork, type IpNetwork, readIpNetwork } from '../../base/net/ip-network.ts';

const SERVER_HOST = 1;
export const FIRST_DEVICE_HOST = 2;

/** Addresses that no host of the internet has: RFC 1918, and the shared space of RFC 6598. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'].map(known);
/** A network of one device. */
const LONGEST_PREFIX = 30;
const SHORTEST_PREFIX = 8;

export interface Overlay {
  /** `10.80.0.0/24`. */
  readonly cidr: string;
  readonly network: IpNetwork;
  /** Number of the last host that can be a device. */
  readonly lastHost: number;
}

/** Reads what a person gave. Throws `invalid_cidr`, which says what is wrong with it. */
export function overlayFrom(text: string): Overlay {
  const [address = '', prefix] = text.split('/');
  const network = readIpNetwork(text);
  if (network === undefined || prefix === undefined || !isIPv4(address)) {
    throw invalid(text, 'Use an IPv4 network with a prefix, such as 10.80.0.0/24.');
  }
  if (network.prefix < SHORTEST_PREFIX || network.prefix > LONGEST_PREFIX) {
    throw invalid(text, `The prefix must be /${SHORTEST_PREFIX} to /${LONGEST_PREFIX}.`);
  }
  const canonical = formatIpNetwork(network);
  if (canonical !== text) throw invalid(text, `It has host bits set. Did you mean ${canonical}?`);
  if (!PRIVATE.some((space) => holdsNetwork(space, network))) {
    throw invalid(
      text,
      `Use a part of ${PRIVATE.map(formatIpNetwork).join(', ')}. Other addresses belong to the internet.`,
    );
  }
  return overlayOf(canonical);
}

/** Of a network that is stored. */
export function overlayOf(cidr: string): Overlay {
  const network = known(cidr);
  return { cidr, network, lastHost: 2 ** (32 - network.prefix) - 2 };
}

/** Address of a host: `10.80.0.2`. */
export function addressOf({ network }: Overlay, host: number): string {
  return formatIpNetwork({ ...network, first: network.first + BigInt(host), prefix: 32 }).slice(0, -'/32'.length);
}

/** Address of the network's server. */
export function serverAddressOf(overlay: Overlay): string {
  return addressOf(overlay, SERVER_HOST);
}

function known(cidr: string): IpNetwork {
  const network = readIpNetwork(cidr);
  if (network === undefined) throw new RangeError(`not an IP network: ${cidr}`);
  return network;
}

function invalid(text: string, why: string): AppError {
  return new AppError('invalid_cidr', `"${text.slice(0, 50)}" can't be a private network. ${why}`, {
    details: [{ path: 'cidr', message: why }],
  });
}
