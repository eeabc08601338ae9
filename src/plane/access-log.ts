/**
 * Finished requests and connections, as the access log and exports write them. Plain cloneable data. Told once: what a node can't send it drops,
 * and counts.
 */

/** One request of an HTTP tunnel, or one connection of a `tcp` tunnel. */
export interface AccessEntry {
  /** That of its record where it is recorded, else its own. UUIDv7. */
  readonly id: string;
  readonly kind: 'http' | 'tcp';
  /** Milliseconds since the epoch: when the head came, or the connection. */
  readonly at: number;
  /** null: the host, or the port, is no tunnel's. */
  readonly tunnelId: string | null;
  readonly orgId: string | null;
  /** Label of the tunnel's host; '' for `tcp` and for no tunnel. */
  readonly label: string;
  /** Of the session that carried it; null: none did. */
  readonly tokenId: string | null;
  readonly agentId: string | null;
  readonly remoteIp: string;
  /** Of HTTP; '' for `tcp`. */
  readonly method: string;
  /** Request target, query included, without the ticket of a visitor's login. */
  readonly target: string;
  /** As the visitor asked; of `tcp` the public port. */
  readonly host: string;
  readonly scheme: 'http' | 'https' | 'tcp';
  readonly httpVersion: '1.0' | '1.1' | '2' | '';
  readonly userAgent: string;
  readonly referer: string;
  /** What the visitor got; 0: nothing, or a connection. */
  readonly status: number;
  /** As in `Trace.outcome` (inspection.ts). */
  readonly outcome: 'forwarded' | 'refused' | 'failed';
  /** Error code of the edge, when it answered by itself or cut the answer. */
  readonly code: string | null;
  /** Heads and bodies, on the visitor's side. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** From the head's way to the agent to the head of the service's response; null: none came. */
  readonly upstreamMs: number | null;
  /** W3C trace id; '' where none is known. */
  readonly traceId: string;
  /** It is among those that the access log samples. */
  readonly isSampled: boolean;
}

export interface AccessBatch {
  readonly entries: readonly AccessEntry[];
}

/** What became of entries since the start, as far as the node knows. */
export interface AccessStats {
  /** Given to the control plane. */
  readonly sent: number;
  /** Not sent: too many waited, or their batch was lost. */
  readonly dropped: number;
  readonly waiting: number;
}

export function addedAccess(one: AccessStats, other: AccessStats): AccessStats {
  return {
    sent: one.sent + other.sent,
    dropped: one.dropped + other.dropped,
    waiting: one.waiting + other.waiting,
  };
}
