/**
 * Socket addresses between the kernel's bytes and text, for in.ts and out.ts. A datagram's sender is mostly one that was seen a moment ago, so texts
 * are kept: by a hash of the bytes for what comes in, by the text for what goes out. Both have a bound and replace at it.
 */
import { networkInterfaces } from 'node:os';
import { AF_INET, AF_INET6, type DatagramCalls } from './calls.ts';

/** Places for texts of senders, a power of two: more clients than most nodes have. 140 KB with texts. */
const PLACES = 2_048;
/** A word of zone, four of address. */
const KEY_WORDS = 5;
/** Destinations that are remembered; then all are forgotten, and each costs 2 us once. */
const MAX_KNOWN = 4_096;
/** In place of a zone, which no interface has: the address is one of IPv4. */
const IPV4 = -1;

export class Addresses {
  readonly #calls: DatagramCalls;
  readonly #keys = new Int32Array(PLACES * KEY_WORDS);
  readonly #texts: string[] = new Array<string>(PLACES).fill('');
  /** By text: the words of a socket address with port 0. */
  readonly #known = new Map<string, Int32Array>();

  constructor(calls: DatagramCalls) {
    this.#calls = calls;
  }

  /** Text of the socket address at `at`, as node:dgram would give it. */
  textAt(names: Int32Array, at: number): string {
    if (((names[at] as number) & 0xffff) === AF_INET) return this.#text(IPV4, 0, 0, 0, names[at + 1] as number);
    return this.#text(
      names[at + 6] as number,
      names[at + 2] as number,
      names[at + 3] as number,
      names[at + 4] as number,
      names[at + 5] as number,
    );
  }

  /** Writes the socket address of `address` and `port` at `at`; returns how many bytes it has, 0: it is none. */
  write(names: Int32Array, at: number, address: string, port: number): number {
    const words = this.#known.get(address) ?? this.#learn(address);
    if (words === undefined) return 0;
    for (let i = 1; i < words.length; i++) names[at + i] = words[i] as number;
    names[at] = (words[0] as number) | ((port & 0xff) << 24) | ((port & 0xff00) << 8);
    return words.length * 4;
  }

  #text(zone: number, a: number, b: number, c: number, d: number): string {
    const hash = Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 961) ^ Math.imul(d, 29_791) ^ zone, 0x9e37_79b1);
    const place = (hash >>> 16) & (PLACES - 1);
    const keys = this.#keys;
    const at = place * KEY_WORDS;
    const found = this.#texts[place] as string;
    if (
      keys[at] === zone &&
      keys[at + 1] === a &&
      keys[at + 2] === b &&
      keys[at + 3] === c &&
      keys[at + 4] === d &&
      found !== ''
    ) {
      return found;
    }
    keys.set([zone, a, b, c, d], at);
    const words = Int32Array.of(a, b, c, d);
    const text = this.#calls.text(new Uint8Array(words.buffer, zone === IPV4 ? 12 : 0));
    const full = zone > 0 ? `${text}%${nameOfZone(zone)}` : text;
    this.#texts[place] = full;
    return full;
  }

  #learn(address: string): Int32Array | undefined {
    const [ip = '', zone] = address.split('%');
    const bytes = this.#calls.parse(ip);
    if (bytes === undefined) return undefined;
    const words = new Int32Array(bytes.length === 4 ? 4 : 7);
    words[0] = bytes.length === 4 ? AF_INET : AF_INET6;
    new Uint8Array(words.buffer).set(bytes, bytes.length === 4 ? 4 : 8);
    if (zone !== undefined) words[6] = zoneOfName(zone);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(address, words);
    return words;
  }
}

/** Link-local addresses belong to an interface: by name in text, by number in the kernel. */
function nameOfZone(zone: number): string {
  for (const [name, addresses = []] of Object.entries(networkInterfaces())) {
    if (addresses.some((one) => one.family === 'IPv6' && one.scopeid === zone)) return name;
  }
  return `${zone}`;
}

function zoneOfName(name: string): number {
  const found = networkInterfaces()[name]?.find((one) => one.family === 'IPv6' && one.scopeid > 0);
  return found?.family === 'IPv6' ? found.scopeid : Number.parseInt(name, 10) || 0;
}
