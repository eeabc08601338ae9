/** A data node that serves no tunnel: what it answers where a test does not care. */
import type { NodeControl } from '../../../plane/link.ts';

export const IDLE_NODE: NodeControl = {
  connections: () => [],
  disconnect: () => false,
  isOnline: () => false,
  adviceOf: () => null,
  isTaken: () => false,
  narrowingOf: () => undefined,
  isCarried: () => false,
  stats: async () => undefined,
  pulse: async () => ({ edgeEndsAt: null, agentsEndsAt: null }),
  relay: async () => undefined,
  send: async () => ({ ok: false, code: 'tunnel_offline' }),
  testPolicy: async () => ({ ok: false, code: 'overloaded' }),
  flushInspections: async () => {},
};
