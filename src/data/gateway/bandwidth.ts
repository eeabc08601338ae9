/**
 * One bucket per lineage of tokens with a bandwidth limit: all its sessions share it, both ways. A new one begins full, with a tenth of a
 * second's worth, so one that is not full is kept when its last session ends: else who comes back again and again would get that each time.
 * Owned by registry.ts; bounded by the number of sessions, and MAX_RESTING.
 */
import { TokenBucket } from '../../base/limits/token-bucket.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { TokenGrant } from '../../plane/routes.ts';

/** Lineages without a session whose bucket fills again. Beyond, the oldest is forgotten: it has a tenth of a second's worth too much. */
const MAX_RESTING = 10_000;

/** As good as none: more than a node carries. */
const UNLIMITED_MBPS = 10_000;

interface Share {
  readonly lineageId: string;
  readonly bucket: TokenBucket;
  readonly members: Set<Shaper>;
}

export class BandwidthShares {
  readonly #byLineage = new Map<string, Share>();
  readonly #byMember = new Map<Shaper, Share>();
  readonly #resting = new Set<Share>();

  /** Lineages that share a bucket now. */
  get size(): number {
    return this.#byLineage.size - this.#resting.size;
  }

  /** Lineages without a session that are remembered until their bucket is full. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Directions of sessions that wait for their share now. */
  get waiting(): number {
    let sum = 0;
    for (const { bucket } of this.#byLineage.values()) sum += bucket.waiting;
    return sum;
  }

  /** Limits a session that has just been authenticated. What the newest grant of a lineage says holds for all that are limited. */
  join(member: Shaper, { lineageId, bandwidthLimitMbps }: TokenGrant): void {
    if (bandwidthLimitMbps === null) return;
    let share = this.#byLineage.get(lineageId);
    if (share === undefined) {
      share = { lineageId, bucket: new TokenBucket(bandwidthLimitMbps), members: new Set() };
      this.#byLineage.set(lineageId, share);
    } else share.bucket.setRate(bandwidthLimitMbps);
    this.#resting.delete(share);
    share.members.add(member);
    this.#byMember.set(member, share);
    for (const each of share.members) each.limit(share.bucket);
  }

  /** The limit of a session that goes on has changed: that of its lineage, or it had none. */
  change(member: Shaper, grant: TokenGrant): void {
    const share = this.#byMember.get(member);
    if (share === undefined) return this.join(member, grant);
    share.bucket.setRate(grant.bandwidthLimitMbps ?? UNLIMITED_MBPS);
    for (const each of share.members) each.limit(share.bucket);
  }

  /** The session is over. Its shaper still waits for the bucket, if it does, until its socket is gone. */
  leave(member: Shaper): void {
    const share = this.#byMember.get(member);
    if (share === undefined) return;
    this.#byMember.delete(member);
    share.members.delete(member);
    if (share.members.size > 0) return;
    this.#resting.add(share);
    if (this.#resting.size <= MAX_RESTING) return;
    for (const oldest of this.#resting) {
      this.#forget(oldest);
      break;
    }
  }

  /** About once a second: forgets those that are as good as new. */
  sweep(): void {
    for (const share of this.#resting) if (share.bucket.full) this.#forget(share);
  }

  #forget(share: Share): void {
    this.#resting.delete(share);
    this.#byLineage.delete(share.lineageId);
  }
}
