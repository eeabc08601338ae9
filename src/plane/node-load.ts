/** How much a data node carries, and how near it is to its bounds: a part of EdgeStats (edge-stats.ts). Plain numbers. */

export interface NodeLoad {
  readonly agents: {
    /** Sessions that have shown a good token. */
    readonly sessions: number;
    /** Streams open on them, kept idle ones and the control streams included. */
    readonly streams: number;
    /** Tunnels that they serve. */
    readonly tunnels: number;
    /** Sockets in the handshake, or without a good token yet. */
    readonly handshakes: number;
    /** Sockets that were turned away before they showed a token, since the start. */
    readonly refused: number;
  };
  /** Receive windows of streams beyond their first 256 KB, out of one budget. */
  readonly windows: { readonly usedBytes: number; readonly budgetBytes: number };
  /** Passed on since the start, deleted tunnels included; two seconds behind at the most. */
  readonly traffic: { readonly requests: number; readonly bytesIn: number; readonly bytesOut: number };
  /** Counters and events on their way to the control plane, and those given up since the start. */
  readonly reports: { readonly waiting: number; readonly dropped: number };
  /** Checks of visitors' passwords that wait for a thread. */
  readonly passwordsWaiting: number;
  /** When certificates end that are shown by default, milliseconds since the epoch; null: there is none. */
  readonly certificates: { readonly edgeEndsAt: number | null; readonly agentsEndsAt: number | null };
}

/** Of two nodes as of one. */
export function addedLoad(one: NodeLoad, other: NodeLoad): NodeLoad {
  return {
    agents: {
      sessions: one.agents.sessions + other.agents.sessions,
      streams: one.agents.streams + other.agents.streams,
      tunnels: one.agents.tunnels + other.agents.tunnels,
      handshakes: one.agents.handshakes + other.agents.handshakes,
      refused: one.agents.refused + other.agents.refused,
    },
    windows: {
      usedBytes: one.windows.usedBytes + other.windows.usedBytes,
      budgetBytes: one.windows.budgetBytes + other.windows.budgetBytes,
    },
    traffic: {
      requests: one.traffic.requests + other.traffic.requests,
      bytesIn: one.traffic.bytesIn + other.traffic.bytesIn,
      bytesOut: one.traffic.bytesOut + other.traffic.bytesOut,
    },
    reports: {
      waiting: one.reports.waiting + other.reports.waiting,
      dropped: one.reports.dropped + other.reports.dropped,
    },
    passwordsWaiting: one.passwordsWaiting + other.passwordsWaiting,
    certificates: {
      edgeEndsAt: sooner(one.certificates.edgeEndsAt, other.certificates.edgeEndsAt),
      agentsEndsAt: sooner(one.certificates.agentsEndsAt, other.certificates.agentsEndsAt),
    },
  };
}

function sooner(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}
