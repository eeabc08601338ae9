/**
 * How many connections may be open at once, in all and per address, and what an address has under way. One object per entry point: the HTTP edge and the public TCP ports
 * share one (visitors), the agent listener has its own for sockets that have not shown a token yet.
 */
import type { Drops } from '../faults/drops.ts';
import { addressKey } from '../../base/net/address-key.ts';

export interface AdmissionLimits {
  /** Connections in all. */
  readonly total: number;
  /** Connections per IPv4 address or IPv6 /64 network: one household or one machine has that many addresses at no cost. 0: no limit. */
  readonly perAddress: number;
}

/** What one address has under way; one object for all of its connections, for as long as there is one. */
export class AddressLoad {
  connections = 0;
  /** Requests that hold a stream of an agent; counted by upstream.ts, bounded by dispatch.ts. */
  requests = 0;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #drops: Drops | null;
  readonly #byAddress = new Map<string, AddressLoad>();
  #open = 0;
  #refused = 0;
  #admitted = 0;

  /** `drops` counts the connections that it refuses; null: uncounted. */
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

  /** Connections admitted since the start. */
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
    const load = this.#byAddress.get(key) ?? new AddressLoad();
    const { total, perAddress } = this.#limits;
    const isFull = this.#open >= total;
    if (isFull || (perAddress > 0 && !isProxy && load.connections >= perAddress)) {
      this.#refused++;
      this.#drops?.add(isFull ? 'over_total' : 'over_address');
      return false;
    }
    this.#open++;
    this.#admitted++;
    load.connections++;
    this.#byAddress.set(key, load);
    return true;
  }

  /** The load of an admitted connection's address. */
  loadOf(ip: string): AddressLoad {
    return this.#byAddress.get(addressKey(ip)) ?? new AddressLoad();
  }

  /**
   * A connection admitted from one address turns out to be another's, whose limit holds for it. False: it is counted out. It is
   * one that was admitted or one that was refused, never both.
   */
  move(before: string, ip: string, isProxy: boolean): boolean {
    this.release(before);
    this.#admitted--;
    return this.admit(ip, isProxy);
  }

  /** Counts a connection out that `admit` had counted in. */
  release(ip: string): void {
    const key = addressKey(ip);
    const load = this.#byAddress.get(key);
    if (load === undefined) return;
    this.#open--;
    if (--load.connections === 0) this.#byAddress.delete(key);
  }
}
