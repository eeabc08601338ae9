/** What a data node that only remembers says of its public edge. */
import type { EdgeStats } from '../../src/plane/edge-stats.ts';

export const STATS: EdgeStats = {
  since: Date.parse('2026-11-21T09:30:00Z'),
  connections: { open: 12, http: 9, tcp: 3, addresses: 7, admitted: 4_031 },
  dropped: { over_address: 512, idle: 40, malformed: 0 },
  answered: { bad_request: 3, tunnel_offline: 0 },
  inspector: { recorded: 980, dropped: { tunnel_rate: 17, memory: 0 }, waiting: 2, heldBytes: 4_096 },
};
