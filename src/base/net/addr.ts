/**
 * Addresses as text and back: `host:port`, port ranges, IP networks. Used by config to check settings and by the listeners to
 * decide whose forwarding headers are believed. Strict on purpose: what the operating system would guess (octal, short forms) is refused.
 */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

export interface HostPort {
  /** A host name or an IP address, without brackets. */
  readonly host: string;
  /** 0..65535; 0 lets the system choose. */
  readonly port: number;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const PORT = /^(0|[1-9][0-9]{0,4})$/;

/** True for a DNS host name (letters, digits, dashes), not for an IP address or anything that reads like one. */
export function isHostName(text: string): boolean {
  if (!HOST_NAME.test(text)) return false;
  // "1", "127.1" and "0x7f.1" are names by the letter and addresses to inet_aton: a top label of digits is refused.
  const last = text.slice(text.lastIndexOf('.') + 1);
  return !/^(0x[0-9a-f]*|[0-9]+)$/i.test(last);
}

function parsePort(text: string): number | undefined {
  if (!PORT.test(text)) return undefined;
  const port = Number(text);
  return port <= 65535 ? port : undefined;
}

/** Reads `127.0.0.1:80`, `[::1]:80` or `name:80`. Undefined when it is anything else: both parts are required. */
export function parseHostPort(text: string): HostPort | undefined {
  const colon = text.lastIndexOf(':');
  if (colon < 1) return undefined;
  const port = parsePort(text.slice(colon + 1));
  if (port === undefined) return undefined;
  const host = text.slice(0, colon);
  if (host.startsWith('[')) {
    const inner = host.slice(1, -1);
    return host.endsWith(']') && isIPv6(inner) ? { host: inner, port } : undefined;
  }
  return isIPv4(host) || isHostName(host) ? { host, port } : undefined;
}

/** The same, or `:80`: every address of this machine, IPv6 and IPv4. */
export function parseListen(text: string): HostPort | undefined {
  return parseHostPort(text.startsWith(':') ? `[::]${text}` : text);
}

/** `host:port`, with brackets around an IPv6 address. */
export function formatHostPort({ host, port }: HostPort): string {
  return `${formatHost(host)}:${port}`;
}

/** The host as it stands in a URL: an IPv6 address in brackets. */
export function formatHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Reads `20000-20099` or `20000`. Undefined unless 1 <= first <= last <= 65535. */
export function parsePortRange(text: string): PortRange | undefined {
  const [from = '', to = from, ...rest] = text.split('-');
  const first = parsePort(from.trim());
  const last = parsePort(to.trim());
  if (first === undefined || last === undefined || rest.length > 0) return undefined;
  return first >= 1 && first <= last ? { first, last } : undefined;
}

/** True for the addresses that mean "every interface". */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || (isIPv6(host) && /^[0:]+$/.test(host));
}

/** The networks of this very machine. */
export const LOOPBACK: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** True when a listener on this host can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  const plain = plainIp(host);
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

/** An IPv4 address in its IPv6 clothes (`::ffff:10.0.0.1`, in any spelling of RFC 4291) as plain IPv4; everything else as it is. */
export function plainIp(address: string): string {
  if (!address.includes(':')) return address;
  if (address.startsWith('::ffff:')) {
    // As the kernel writes it.
    const tail = address.slice('::ffff:'.length);
    if (isIPv4(tail)) return tail;
  }
  if (!/:ffff:/i.test(address) || !isIPv6(address)) return address;
  const words = ipv6Words(address).map((word) => Number.parseInt(word, 16));
  if (words[5] !== 0xffff || words.slice(0, 5).some((word) => word !== 0)) return address;
  return words
    .slice(6)
    .flatMap((word) => [word >> 8, word & 0xff])
    .join('.');
}

/** The eight words of an IPv6 address, hexadecimal, without leading zeros; a zone is left out. Only for what isIPv6 holds for. */
export function ipv6Words(address: string): string[] {
  const canonical = urlForm(address);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

/**
 * An address in its one form, for what is compared as text: IPv4 plain, IPv6 in lower case without leading zeros, a zone left out. Undefined for
 * what is no address.
 */
export function canonicalIp(address: string): string | undefined {
  const plain = plainIp(address);
  if (!isIPv6(plain)) return isIPv4(plain) ? plain : undefined;
  return urlForm(plain);
}

/** The URL parser writes any IPv6 address in its one canonical form, dotted quads resolved. */
function urlForm(address: string): string {
  return new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
}

/** Reads one IP network (`10.0.0.0/8`, `::1/128`; a lone address is a network of one). Undefined when it is none or has host bits set. */
export function parseNetwork(text: string): { readonly address: string; readonly prefix: number } | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : parsePort(prefixText);
  if (prefix === undefined || prefix > bits) return undefined;
  const value = toBits(address);
  return value & ((1n << BigInt(bits - prefix)) - 1n) ? undefined : { address, prefix };
}

function toBits(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  return ipv6Words(address).reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n);
}

/** A fixed set of IP networks. An empty set holds nothing. */
export class NetworkSet {
  readonly #list = new BlockList();
  readonly #empty: boolean;

  /** Throws RangeError on a text that is no network: settings have been checked before. */
  constructor(networks: readonly string[]) {
    for (const text of networks) {
      const network = parseNetwork(text);
      if (network === undefined) throw new RangeError(`not an IP network: ${text}`);
      this.#list.addSubnet(network.address, network.prefix, isIPv4(network.address) ? 'ipv4' : 'ipv6');
    }
    this.#empty = networks.length === 0;
  }

  /** True when the address lies in one of the networks. False for anything that is no address. */
  has(address: string): boolean {
    if (this.#empty) return false;
    const plain = plainIp(address);
    const family = isIP(plain);
    return family !== 0 && this.#list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  }
}
