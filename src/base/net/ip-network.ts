/**
 * IP networks as numbers, to be compared and written in one form: `10.1.2.3/8` is `10.0.0.0/8`. Used by the control plane for what private
 * networks route. Where host bits are a mistake, as in settings, addr.ts reads them strictly.
 */
import { isIP } from 'node:net';
import { ipv6Words } from './addr.ts';

export interface IpNetwork {
  readonly family: 4 | 6;
  /** The first address, as a number. */
  readonly first: bigint;
  readonly prefix: number;
}

const PREFIX = /^(0|[1-9][0-9]{0,2})$/;

/** Reads `10.0.0.0/8`, `fd00::/8` or a lone address, which is a network of one; bits behind the prefix are cleared. Undefined for anything else. */
export function readIpNetwork(text: string): IpNetwork | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if ((family !== 4 && family !== 6) || rest.length > 0) return undefined;
  const bits = bitsOf(family);
  if (prefixText !== undefined && !PREFIX.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  if (prefix > bits) return undefined;
  const behind = BigInt(bits - prefix);
  return { family, first: (numberOf(address, family) >> behind) << behind, prefix };
}

/** The one form of it: IPv6 in lower case, the longest run of zeros left out (RFC 5952). */
export function formatIpNetwork({ family, first, prefix }: IpNetwork): string {
  return `${formatAddress(family, first)}/${prefix}`;
}

/** Does every address of `inner` lie in `outer`? */
export function holdsNetwork(outer: IpNetwork, inner: IpNetwork): boolean {
  if (outer.family !== inner.family || outer.prefix > inner.prefix) return false;
  const behind = BigInt(bitsOf(outer.family) - outer.prefix);
  return outer.first >> behind === inner.first >> behind;
}

function bitsOf(family: 4 | 6): 32 | 128 {
  return family === 4 ? 32 : 128;
}

function numberOf(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  return ipv6Words(address).reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n);
}

function formatAddress(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
  const words = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  // The URL parser writes an address in its canonical form.
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1);
}
