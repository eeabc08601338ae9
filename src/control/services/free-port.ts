/** Which public port somebody new gets, of tunnels (tunnels/tcp-ports.ts) and of private networks (networks/udp-ports.ts). Pure. */
import type { PortRange } from '../../base/addr.ts';

export interface PortsInUse {
  readonly taken: ReadonlySet<number | null>;
  /** When each port that had an owner was freed last, in milliseconds since the epoch. */
  readonly freedAt: ReadonlyMap<number, number>;
}

/** The port of the range that has been free for longest, lowest first among those never used; undefined when all are taken. */
export function longestFree({ first, last }: PortRange, { taken, freedAt }: PortsInUse): number | undefined {
  let best: number | undefined;
  for (let port = first; port <= last; port++) {
    if (taken.has(port)) continue;
    if (best === undefined || (freedAt.get(port) ?? 0) < (freedAt.get(best) ?? 0)) best = port;
  }
  return best;
}
