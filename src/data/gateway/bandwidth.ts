/**
 * One bucket per lineage of tokens with a bandwidth limit, for as long as a session of it is live: all its sessions share it, both ways.
 * A new one begins full, with a tenth of a second's worth. Owned by registry.ts; bounded by the number of sessions.
 */
import { TokenBucket } from '../../base/token-bucket.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { TokenGrant } from '../../plane/routes.ts';

interface Share {
  readonly lineageId: string;
  readonly bucket: TokenBucket;
  readonly members: Set<Shaper>;
}

export class BandwidthShares {
  readonly #byLineage = new Map<string, Share>();
  readonly #byMember = new Map<Shaper, Share>();

  /** Lineages that share a bucket now. */
  get size(): number {
    return this.#byLineage.size;
  }

  /** Directions of sessions that wait for their share now. */
  get waiting(): number {
    let sum = 0;
    for (const { bucket } of this.#byLineage.values()) sum += bucket.waiting;
    return sum;
  }

  /** Limits a session that has just been let in. What the newest grant of a lineage says holds for all that are limited. */
  join(member: Shaper, { lineageId, bandwidthLimitMbps }: TokenGrant): void {
    if (bandwidthLimitMbps === null) return;
    let share = this.#byLineage.get(lineageId);
    if (share === undefined) {
      share = { lineageId, bucket: new TokenBucket(bandwidthLimitMbps), members: new Set() };
      this.#byLineage.set(lineageId, share);
    } else share.bucket.setRate(bandwidthLimitMbps);
    share.members.add(member);
    this.#byMember.set(member, share);
    member.bucket = share.bucket;
  }

  /** The session is over. Its shaper still waits for the bucket, if it does, until its socket is gone. */
  leave(member: Shaper): void {
    const share = this.#byMember.get(member);
    if (share === undefined) return;
    this.#byMember.delete(member);
    share.members.delete(member);
    if (share.members.size === 0) this.#byLineage.delete(share.lineageId);
  }
}
