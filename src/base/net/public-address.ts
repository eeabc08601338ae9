/**
 * Which IP addresses belong to the public internet. Asked before the server connects to an address that a stranger has chosen: everything
 * else may be this machine, its neighbours or a cloud's metadata service.
 */
import { isIPv4 } from 'node:net';
import { NetworkSet, plainIp } from './addr.ts';

/** The registries of RFC 6890: private, shared, loopback, link-local, documentation, benchmarks, multicast, reserved. */
const SPECIAL = new NetworkSet([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Of IPv6 within global unicast: tunnels that hold an IPv4 address (Teredo, 6to4), other protocols of the IETF, documentation.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

/** All that is assigned as global unicast: loopback, link-local, unique local, NAT64 and multicast are outside of it. */
const GLOBAL_IPV6 = new NetworkSet(['2000::/3']);

/** False for anything that is no address, too. An IPv4 address in IPv6 clothes counts as what it is. */
export function isPublicAddress(address: string): boolean {
  const plain = plainIp(address);
  return (isIPv4(plain) || GLOBAL_IPV6.has(plain)) && !SPECIAL.has(plain);
}
