/**
 * What one organization may have of a node's recording: so many records per second, half of the node's, and the memory that it holds (memory.ts).
 * One per organization with tunnels that were asked for; recorder.ts makes them, each tunnel's records point to theirs.
 */
import { Allowance } from '../../base/limits/allowance.ts';
import type { MemoryShare } from './memory.ts';

export interface OrgShare extends MemoryShare {
  readonly allowance: Allowance;
  /** What frames of WebSockets hold of it. */
  readonly frames: MemoryShare;
}

/** Beyond so many those that hold nothing are forgotten: they begin anew, with a full burst. */
const MAX_ORGS = 10_000;

export class OrgShares {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #shares = new Map<string, OrgShare>();

  /** `perSecond` of an organization; 0: no limit. `burst`: what may come at once. */
  constructor(of: { readonly perSecond: number; readonly burst: number }) {
    this.#perSecond = of.perSecond;
    this.#burst = of.burst;
  }

  /** The same object for as long as it is in use. `nowMs`: monotonic. */
  of(orgId: string, nowMs: number): OrgShare {
    const known = this.#shares.get(orgId);
    if (known !== undefined) return known;
    if (this.#shares.size >= MAX_ORGS) this.#forgetIdle();
    const allowance = new Allowance({ perSecond: this.#perSecond, burst: this.#burst }, nowMs);
    const share: OrgShare = { heldBytes: 0, allowance, frames: { heldBytes: 0 } };
    this.#shares.set(orgId, share);
    return share;
  }

  /** A tunnel that points to one of them goes on with it; what is made anew stands beside it and counts for others. */
  #forgetIdle(): void {
    for (const [orgId, { heldBytes }] of this.#shares) if (heldBytes === 0) this.#shares.delete(orgId);
  }
}
