/** The visitor's address as bytes for the preamble of a stream. Takes what the kernel reports, never what a visitor wrote. */
import { isIPv4 } from 'node:net';
import { ipv6Groups } from '../../base/net/address-key.ts';
import type { VisitorAddress } from '../../wire/preamble.ts';

/** Undefined when `ip` is no address, as on a socket that is gone already. IPv4 in IPv6 clothes is IPv4. */
export function visitorAddress(ip: string, port: number): VisitorAddress | undefined {
  const plain = ip.includes('.') ? ip.slice(ip.lastIndexOf(':') + 1) : ip;
  if (isIPv4(plain)) return { family: 4, bytes: Uint8Array.from(plain.split('.'), Number), port };
  if (!ip.includes(':')) return undefined;
  const bytes = new Uint8Array(16);
  ipv6Groups(ip).forEach((group, at) => {
    const value = Number.parseInt(group, 16);
    bytes[at * 2] = value >>> 8;
    bytes[at * 2 + 1] = value & 0xff;
  });
  return { family: 6, bytes, port };
}
