/**
 * How many connections may be open at once, in all and per address. One object per door: the HTTP edge and the public TCP ports
 * share one (visitors), the agent listener has its own for sockets that have not shown a token yet.
 */
import type { Drops } from './drops.ts';
import { ipv6Groups } from './visitor-address.ts';

export interface AdmissionLimits {
  /** Connections in all. */
  readonly total: number;
  /** Connections per IPv4 address or IPv6 /64 network: one household or one machine has that many addresses at no cost. 0: no limit. */
  readonly perAddress: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #drops: Drops | null;
  readonly #byAddress = new Map<string, number>();
  #open = 0;
  #refused = 0;
  #admitted = 0;

  /** `drops` counts whom it turns away; null where nobody asks why. */
  constructor(limits: AdmissionLimits, drops: Drops | null = null) {
    this.#limits = limits;
    this.#drops = drops;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Addresses and /64 networks that they come from. */
  get addresses(): number {
    return this.#byAddress.size;
  }

  /** Connections that were let in since the start. */
  get admitted(): number {
    return this.#admitted;
  }

  /** Connections that were turned away since the start. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Counts a connection from `ip` in, if both limits allow it; a `isProxy` speaks for many, so that only the total counts for it.
   * Each true needs one `release` with the same text.
   */
  admit(ip: string, isProxy = false): boolean {
    const key = addressKey(ip);
    const from = this.#byAddress.get(key) ?? 0;
    const { total, perAddress } = this.#limits;
    const isFull = this.#open >= total;
    if (isFull || (perAddress > 0 && !isProxy && from >= perAddress)) {
      this.#refused++;
      this.#drops?.add(isFull ? 'over_total' : 'over_address');
      return false;
    }
    this.#open++;
    this.#admitted++;
    this.#byAddress.set(key, from + 1);
    return true;
  }

  /** Counts a connection out that `admit` had counted in. */
  release(ip: string): void {
    const key = addressKey(ip);
    const from = this.#byAddress.get(key);
    if (from === undefined) return;
    this.#open--;
    if (from === 1) this.#byAddress.delete(key);
    else this.#byAddress.set(key, from - 1);
  }
}

/** What an address counts as: IPv4 itself (also when mapped into IPv6), IPv6 as its /64. */
export function addressKey(ip: string): string {
  if (!ip.includes(':')) return ip;
  if (ip.includes('.')) return ip.slice(ip.lastIndexOf(':') + 1);
  return ipv6Groups(ip).slice(0, 4).join(':');
}
