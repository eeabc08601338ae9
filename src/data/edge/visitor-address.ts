/**
 * The visitor's address as bytes for the preamble of a stream, and as the groups of an IPv6 address. Used by the TCP edge and by
 * admission. Takes what the kernel reports, never what a visitor wrote.
 */
import { isIPv4 } from 'node:net';
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

/** The eight groups of an IPv6 address without an IPv4 tail; a zone (`%eth0`) is left out. */
export function ipv6Groups(ip: string): string[] {
  const [address = ''] = ip.split('%', 1);
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
}
