/**
 * New TLS handshakes per address: one costs 0.7 ms of the thread that serves all visitors, a hundred times a request. Each listener with TLS has one
 * of these: the edge's, the agents', the API's.
 */
import { Allowance } from '../limits/allowance.ts';
import { RecentMap } from '../limits/recent-map.ts';

/** Addresses that are counted. Beyond, the one that came longest ago begins anew: a limit per address does not stop so many. */
const MAX_ADDRESSES = 16_384;

export interface HandshakeLimits {
  /** Of one IPv4 address or IPv6 /64 network, on average. 0 here or in `burst`: no limit. */
  readonly perSecond: number;
  /** What may come at once. */
  readonly burst: number;
}

export class HandshakeRate {
  readonly #limits: HandshakeLimits;
  readonly #keyOf: (ip: string) => string;
  readonly #byAddress = new RecentMap<string, Allowance>({ max: MAX_ADDRESSES });
  #refused = 0;

  /** `keyOf`: what an address counts as, so that a /64 network of IPv6 is one. */
  constructor(limits: HandshakeLimits, keyOf: (ip: string) => string) {
    this.#limits = limits;
    this.#keyOf = keyOf;
  }

  /** Handshakes that were refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether `ip` may begin one. `nowMs`: monotonic. A refused one does not count. */
  take(ip: string, nowMs: number): boolean {
    const { perSecond, burst } = this.#limits;
    if (perSecond === 0 || burst === 0) return true;
    const key = this.#keyOf(ip);
    let allowance = this.#byAddress.get(key);
    if (allowance === undefined) this.#byAddress.set(key, (allowance = new Allowance({ perSecond, burst }, nowMs)));
    if (!allowance.hasOne(nowMs)) {
      this.#refused++;
      return false;
    }
    allowance.spend();
    return true;
  }

  /** The handshake that `ip` began has led to a peer that is known: it does not count. */
  giveBack(ip: string): void {
    this.#byAddress.get(this.#keyOf(ip))?.giveBack();
  }
}
