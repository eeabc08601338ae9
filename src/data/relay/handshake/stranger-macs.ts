/**
 * The limit of MACs for packets that show the relay's token and come from elsewhere than the agent: a peer that has overheard one can send
 * any number. Each address draws from two of a fixed number of allowances, chosen by a secret hash: so one that floods
 * leaves the agent, when it comes from a new address, its own, and no number of addresses costs memory or more than a bounded part of a core.
 * An IPv6 /64 counts as one address.
 */
import { randomInt } from 'node:crypto';
import { Allowance } from '../../../base/limits/allowance.ts';
import { addressKey } from '../../../base/net/address-key.ts';

/** All of them together, 640 MACs a second at 15 us with their answers, are 1 % of a core. */
const PLACES = 64;
/** An agent says a hello and a proof a second at the most, to each of up to four of our addresses. */
const MACS = { perSecond: 10, burst: 20 };

export class StrangerMacs {
  readonly #places: ReadonlyArray<Allowance>;
  readonly #seed = randomInt(0, 0x1_0000_0000);

  constructor(nowMs: number) {
    this.#places = Array.from({ length: PLACES }, () => new Allowance(MACS, nowMs));
  }

  /** May a MAC be computed for what came from `address`? True: it is counted. */
  take(address: string, nowMs: number): boolean {
    const hash = this.#hash(addressKey(address));
    const first = hash % PLACES;
    // Never the same one twice: that address would have half of what the others have.
    const second = (first + 1 + ((hash >>> 16) % (PLACES - 1))) % PLACES;
    return this.#takeAt(first, nowMs) || this.#takeAt(second, nowMs);
  }

  #takeAt(place: number, nowMs: number): boolean {
    const allowance = this.#places[place] as Allowance;
    if (!allowance.hasOne(nowMs)) return false;
    allowance.spend();
    return true;
  }

  /** Murmur3's mixing, character by character. */
  #hash(key: string): number {
    let hash = this.#seed;
    for (let i = 0; i < key.length; i++) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 0x85eb_ca6b);
      hash ^= hash >>> 13;
    }
    hash = Math.imul(hash, 0xc2b2_ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}
