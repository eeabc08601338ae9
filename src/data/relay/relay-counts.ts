/** What a relay has carried and dropped: numbers in place, which only grow. */
import { noRelayDrops, RELAY_DROP_REASONS, type RelayDrop } from '../../plane/relays.ts';

export interface Carried {
  readonly packetsIn: number;
  /** Payload bytes from clients towards the network's server. */
  readonly bytesIn: number;
  readonly packetsOut: number;
  /** Payload bytes from the network's server towards clients. */
  readonly bytesOut: number;
}

export class RelayCounts implements Carried {
  packetsIn = 0;
  bytesIn = 0;
  packetsOut = 0;
  bytesOut = 0;
  readonly dropped = noRelayDrops();

  drop(reason: RelayDrop, datagrams = 1): void {
    this.dropped[reason] += datagrams;
  }

  /** Adds what another relay has counted. */
  add(other: RelayCounts): void {
    this.packetsIn += other.packetsIn;
    this.bytesIn += other.bytesIn;
    this.packetsOut += other.packetsOut;
    this.bytesOut += other.bytesOut;
    for (const reason of RELAY_DROP_REASONS) this.dropped[reason] += other.dropped[reason];
  }

  /** As it is now. */
  carried(): Carried {
    const { packetsIn, bytesIn, packetsOut, bytesOut } = this;
    return { packetsIn, bytesIn, packetsOut, bytesOut };
  }
}

/** What passed between two looks. */
export function between(then: Carried, now: Carried): Carried {
  return {
    packetsIn: now.packetsIn - then.packetsIn,
    bytesIn: now.bytesIn - then.bytesIn,
    packetsOut: now.packetsOut - then.packetsOut,
    bytesOut: now.bytesOut - then.bytesOut,
  };
}
