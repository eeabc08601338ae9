/**
 * Whose request this is: the socket's address, or, behind proxies that the operator trusts, the nearest address in X-Forwarded-For
 * that is not one of theirs. Anybody can write that header, so it is read from the right, and only as far as trust goes.
 */
import { isIP } from 'node:net';
import { type NetworkSet, plainIp } from '../../base/addr.ts';

/** `forwardedFor`: the header as received. Never throws; answers with the socket's address when in doubt. */
export function clientIp(socketAddress: string, forwardedFor: string | undefined, trusted: NetworkSet): string {
  let address = plainIp(socketAddress);
  if (forwardedFor === undefined) return address;
  const hops = forwardedFor.split(',').reverse();
  for (const hop of hops) {
    if (!trusted.has(address)) return address;
    const next = plainIp(hop.trim());
    if (isIP(next) === 0) return address;
    address = next;
  }
  return address;
}

/** What limits count by: an IPv4 address, or the /64 that one IPv6 subscriber owns. */
export function limitKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const words = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${words.slice(0, 4).join(':')}::/64`;
}
