/** What a data node that only remembers says of its public edge. */
import type { EdgeStats } from '../../plane/edge-stats.ts';
import { noRelayDrops } from '../../plane/relays.ts';

export const STATS: EdgeStats = {
  since: Date.parse('2026-11-21T09:30:00Z'),
  connections: { open: 12, http: 9, tcp: 3, addresses: 7, admitted: 4_031 },
  dropped: { over_address: 512, idle: 40, malformed: 0 },
  answered: { bad_request: 3, tunnel_offline: 0 },
  inspector: { recorded: 980, dropped: { tunnel_rate: 17, memory: 0 }, waiting: 2, heldBytes: 4_096 },
  access: { sent: 5_011, dropped: 6, waiting: 4 },
  holds: {
    waiting: 13,
    bytes: 5_005,
    ended: { served: 61, changed: 2, timed_out: 7, left: 8, full: 0 },
  },
  threads: [
    {
      loop: { p50Ms: 1, p99Ms: 7, maxMs: 31, busyShare: 0.25 },
      collections: Object.fromEntries(
        ['minor', 'minor_mark_sweep', 'major', 'incremental', 'weak_callbacks'].map((kind) => [
          kind,
          { count: 11, seconds: 0.5 },
        ]),
      ) as EdgeStats['threads'][number]['collections'],
      memory: { heapUsed: 1_001, heapTotal: 2_002, external: 3_003 },
      sockets: 44,
    },
  ],
  load: {
    agents: { sessions: 21, streams: 84, tunnels: 30, handshakes: 2, refused: 6 },
    windows: { usedBytes: 1_048_576, budgetBytes: 536_870_912 },
    traffic: { requests: 7_001, bytesIn: 70_010, bytesOut: 700_100 },
    reports: { waiting: 3, dropped: 1 },
    passwordsWaiting: 4,
    certificates: { edgeEndsAt: Date.parse('2027-02-19T09:30:00Z'), agentsEndsAt: null },
  },
  relays: {
    attached: 5,
    onStream: 1,
    flows: 19,
    packetsIn: 8_001,
    packetsOut: 9_001,
    bytesIn: 80_010,
    bytesOut: 90_010,
    dropped: { ...noRelayDrops(), no_agent: 23, queue_full: 4 },
  },
};
