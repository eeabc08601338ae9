/** IP addresses as sockets write them: what limits count, IPv4 that is mapped into IPv6, and groups. Other spellings are read by addr.ts. */

/** What an address counts as: IPv4 itself (also when mapped into IPv6), IPv6 as its /64. */
export function addressKey(ip: string): string {
  if (!ip.includes(':')) return ip;
  if (ip.includes('.')) return ip.slice(ip.lastIndexOf(':') + 1);
  return ipv6Groups(ip).slice(0, 4).join(':');
}

/** IPv4 itself where a dual-stack socket shows it mapped into IPv6. */
export function plainAddress(ip: string): string {
  return ip.startsWith('::ffff:') && ip.includes('.') ? ip.slice(7) : ip;
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
