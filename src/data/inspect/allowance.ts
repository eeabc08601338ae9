/**
 * How many requests may be recorded: so many per second, and a burst that is saved up. Numbers in place, for it is asked at each request;
 * used by recorder.ts for each tunnel and for the node.
 */
import type { RouteEntry } from '../routing/entry.ts';
import type { OrgShare } from './org-shares.ts';

export class Allowance {
  readonly #perMs: number;
  readonly #burst: number;
  #level: number;
  #atMs: number;

  /** `perSecond` 0: no limit. `burst`: what may come at once; full at the start. `nowMs`: monotonic. */
  constructor(of: { readonly perSecond: number; readonly burst: number }, nowMs: number) {
    this.#perMs = of.perSecond / 1_000;
    this.#burst = of.perSecond === 0 ? Number.POSITIVE_INFINITY : of.burst;
    this.#level = this.#burst;
    this.#atMs = nowMs;
  }

  /** Whether one more may be recorded now. It is not spent: another allowance may have to be asked too. */
  hasOne(nowMs: number): boolean {
    // The coarse clock of an edge may be behind the one that the allowance began by.
    if (nowMs > this.#atMs) {
      this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs);
      this.#atMs = nowMs;
    }
    return this.#level >= 1;
  }

  /** After `hasOne` has said yes. */
  spend(): void {
    this.#level--;
  }
}

/** What a node knows of a tunnel's records; hangs on its entry. */
export class TunnelRecords {
  readonly tunnelId: string;
  readonly orgId: string;
  readonly allowance: Allowance;
  /** Of its organization. */
  readonly org: OrgShare;
  /** Requests that were not recorded, and of which the control plane has yet to hear. */
  untold = 0;

  constructor({ route }: RouteEntry, of: { readonly allowance: Allowance; readonly org: OrgShare }) {
    this.tunnelId = route.tunnelId;
    this.orgId = route.orgId;
    this.allowance = of.allowance;
    this.org = of.org;
  }
}
