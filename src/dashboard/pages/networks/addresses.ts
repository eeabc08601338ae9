/** The addresses of private networks: what can be one, and one that is free. Pure; the server checks everything again. */

/** Where a free one is looked for. 192.168.0.0/16 and 172.16.0.0/12 are what homes and containers have. */
const POOL = '10.0.0.0/8';
const SIZE = 256;
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'] as const;
const SHORTEST_PREFIX = 8;
const LONGEST_PREFIX = 30;
const CIDR = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/;

/** First address as a number, and the one behind the last. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A /24 of 10.0.0.0/8 that overlaps none of `taken` (CIDRs); undefined when there is none. `random`: numbers in [0, 1). */
export function freeCidr(taken: readonly string[], random: () => number = Math.random): string | undefined {
  const others = taken.map(rangeOf).filter((range) => range !== undefined);
  const { from, to } = rangeOf(POOL) ?? { from: 0, to: 0 };
  const count = (to - from) / SIZE;
  const start = Math.floor(random() * count);
  for (let step = 0; step < count; step++) {
    const first = from + ((start + step) % count) * SIZE;
    if (others.every((other) => first >= other.to || first + SIZE <= other.from)) return `${addressOf(first)}/24`;
  }
  return undefined;
}

/** What is wrong with it as the addresses of a network; null: nothing. */
export function cidrFault(text: string): string | null {
  const range = rangeOf(text);
  if (range === undefined) return 'Enter an IPv4 network with its prefix, such as 10.80.0.0/24.';
  const [address, bits] = text.split('/');
  if (Number(bits) < SHORTEST_PREFIX || Number(bits) > LONGEST_PREFIX)
    return `The prefix must be /${SHORTEST_PREFIX} to /${LONGEST_PREFIX}.`;
  if (addressOf(range.from) !== address) return `It has host bits set. Did you mean ${addressOf(range.from)}/${bits}?`;
  if (!PRIVATE.some((space) => holds(rangeOf(space), range)))
    return `It must lie in ${PRIVATE.join(', ')}: other addresses belong to the internet.`;
  return null;
}

/** How many devices have room: all hosts but the server. Of what is no network none. */
export function roomOf(cidr: string): number {
  const range = rangeOf(cidr);
  return range === undefined ? 0 : Math.max(0, range.to - range.from - 3);
}

/** The first host of a network: its server's address. */
export function firstHost(cidr: string): string {
  return addressOf((rangeOf(cidr)?.from ?? 0) + 1);
}

/** A network of this organization that shares addresses with this one; they may, but no machine can be in both. */
export function overlapping<T extends { readonly cidr: string }>(cidr: string, networks: readonly T[]): T | undefined {
  const range = rangeOf(cidr);
  if (range === undefined) return undefined;
  return networks.find((network) => {
    const other = rangeOf(network.cidr);
    return other !== undefined && range.from < other.to && other.from < range.to;
  });
}

/** What is wrong with one of these as IP networks; null: nothing. A lone address is a network of one. */
export function networksFault(texts: readonly string[]): string | null {
  const wrong = texts.find((text) => !isIpNetwork(text));
  return wrong === undefined ? null : `${quoted(wrong)} is not an IP network such as 192.168.7.0/24.`;
}

/** The same of IP addresses. */
export function addressesFault(texts: readonly string[]): string | null {
  const wrong = texts.find((text) => widthOf(text) === 0);
  return wrong === undefined ? null : `${quoted(wrong)} is not an IP address.`;
}

function quoted(text: string): string {
  return `"${text.slice(0, 60)}"`;
}

function isIpNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const width = widthOf(address);
  return width > 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= width;
}

/** Bits of an IP address; 0: it is none. */
function widthOf(text: string): 0 | 32 | 128 {
  const match = CIDR.exec(`${text}/32`);
  if (match !== null) return match.slice(1, 5).every((byte) => Number(byte) <= 255) ? 32 : 0;
  return text.includes(':') && /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`) ? 128 : 0;
}

function holds(outer: Range | undefined, inner: Range): boolean {
  return outer !== undefined && outer.from <= inner.from && inner.to <= outer.to;
}

function rangeOf(cidr: string): Range | undefined {
  const match = CIDR.exec(cidr);
  if (match === null) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = match.slice(1).map(Number);
  if ([a, b, c, d].some((byte) => byte > 255) || bits > 32) return undefined;
  const size = 2 ** (32 - bits);
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const from = Math.floor(number / size) * size;
  return { from, to: from + size };
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
}
