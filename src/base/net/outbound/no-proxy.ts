/**
 * NO_PROXY: the hosts that are reached without a proxy. Read as curl and Go read it: names with all below them, `.suffix`, `*`, addresses,
 * networks, each with or without a port.
 */
import { isIP } from 'node:net';
import type { HostPort } from '../addr.ts';
import { holdsNetwork, type IpNetwork, readIpNetwork } from '../ip-network.ts';

interface Rule {
  /** Undefined: every port. */
  readonly port: number | undefined;
  readonly matches: (host: string, address: IpNetwork | undefined) => boolean;
}

/** Whether a place is to be reached without a proxy by the list `text`. */
export function noProxyFor(text: string): (place: HostPort) => boolean {
  const rules = text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map(ruleOf);
  return ({ host, port }) => {
    const name = plain(host);
    const address = isIP(name) === 0 ? undefined : readIpNetwork(name);
    return rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(name, address));
  };
}

function ruleOf(word: string): Rule {
  if (word === '*') return { port: undefined, matches: () => true };
  const { host, port } = split(word.toLowerCase());
  const network = readIpNetwork(host);
  if (network !== undefined) {
    return { port, matches: (_host, address) => address !== undefined && holdsNetwork(network, address) };
  }
  // `.example.com` and `*.example.com` are what is below alone for Go; curl takes the name itself too, and so do most people.
  const name = host.replace(/^\*?\./, '').replace(/\.$/, '');
  return { port, matches: (asked) => asked === name || asked.endsWith(`.${name}`) };
}

/** `host:port`, `[::1]:port`, `::1`, `10.0.0.0/8`. */
function split(word: string): { host: string; port: number | undefined } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(word);
  const host = match?.[1] ?? match?.[2] ?? word.replace(/^\[(.*)\]$/, '$1');
  return { host, port: match === null ? undefined : Number(match[3]) };
}

function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
