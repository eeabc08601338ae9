/** The default addresses of a new private network: a /24 that no interface or route of this machine uses. */
import { networkInterfaces } from 'node:os';

/**
 * Where it is looked for, in this order. 100.64.0.0/10 comes second, for Tailscale drops what comes from there by another way; 192.168.0.0/16 and
 * 172.16.0.0/12 are left out: they are what homes and containers have.
 */
const POOLS = ['10.0.0.0/8', '100.64.0.0/10'] as const;
const SIZE = 256;

interface Range {
  /** First address as a number, and the one behind the last. */
  readonly from: number;
  readonly to: number;
}

/** A random one that overlaps none of `taken` (CIDRs); undefined when there is none. `random`: numbers in [0, 1). */
export function freeCidr(taken: readonly string[], random: () => number = Math.random): string | undefined {
  const others = taken.map(rangeOf);
  for (const pool of POOLS) {
    const { from, to } = rangeOf(pool);
    const count = (to - from) / SIZE;
    const start = Math.floor(random() * count);
    for (let step = 0; step < count; step += 1) {
      const first = from + ((start + step) % count) * SIZE;
      if (others.every((other) => first >= other.to || first + SIZE <= other.from)) return `${addressOf(first)}/24`;
    }
  }
  return undefined;
}

/** The IPv4 networks that this machine is in: an overlay on top of one of them would take its traffic. */
export function networksHere(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).flatMap(({ family, internal, cidr }) => (family === 'IPv4' && !internal && cidr ? [cidr] : [])),
  );
}

/** The first host of a network: its server's address. */
export function firstHost(cidr: string): string {
  return addressOf(rangeOf(cidr).from + 1);
}

function rangeOf(cidr: string): Range {
  const [address = '', bits = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(bits));
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const from = Math.floor(number / size) * size;
  return { from, to: from + size };
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
}
