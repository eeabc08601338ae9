/** The state of a tunnel: whether an agent serves it, and if not, since when and why. From its row and the ends of sessions. Pure. */
import type { EndReason } from '../../../plane/events.ts';
import { SAME_END_MS, type SessionEnds } from './ended-sessions.ts';
import { isExpired, type TunnelRow } from '../rows.ts';

export const TUNNEL_STATES = ['online', 'offline', 'never_connected', 'paused', 'expired'] as const;

export interface TunnelState {
  readonly state: (typeof TUNNEL_STATES)[number];
  /** Milliseconds since the epoch; null: unknown. */
  readonly since: number | null;
  /** Of an offline tunnel; null: unknown. */
  readonly reason: EndReason | null;
  /** The ended session that served the tunnel last, if it is kept. */
  readonly sessionId: string | null;
}

interface Around {
  readonly online: boolean;
  readonly ends: SessionEnds;
  readonly now: number;
}

/** An expired or paused tunnel is not offline: its agent can't serve it. */
export function stateOf(row: TunnelRow, { online, ends, now }: Around): TunnelState {
  if (isExpired(row, now)) return plain('expired', row.expiresAt);
  if (row.stopped) return plain('paused', row.touchedAt);
  // The row hears of an agent with the next batch of events.
  if (online) return plain('online', row.agentLeft === null ? row.agentAt : null);
  if (!hasConnected(row)) return plain('never_connected', row.createdAt);
  const end = row.agentId === null ? undefined : ends.get(row.agentId);
  if (end !== undefined && row.agentAt !== null && Math.abs(end.endedAt - row.agentAt) <= SAME_END_MS) {
    // The data plane writes no other.
    return { state: 'offline', since: row.agentAt, reason: end.reason as EndReason, sessionId: row.agentId };
  }
  const reason = row.agentLeft === 'lost' ? 'connection_lost' : null;
  return { state: 'offline', since: row.agentLeft === null ? null : row.agentAt, reason, sessionId: null };
}

function plain(state: TunnelState['state'], since: number | null): TunnelState {
  return { state, since, reason: null, sessionId: null };
}

/** Rows of older versions don't say when an agent came: a key or requests show that one did. */
function hasConnected({ agentAt, tokenId, totalRequests }: TunnelRow): boolean {
  return agentAt !== null || tokenId !== null || totalRequests > 0;
}
