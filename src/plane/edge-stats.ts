/**
 * Connections that a data node's public edge has admitted, refused and cut since it started. Plain numbers: operators read them by the API, and
 * metrics are made of them. Names of reasons and codes are the data plane's own (data/faults/drops.ts, fault.ts); all of them are there, with 0.
 */
import type { ProcessFigures } from '../base/process/process-watch.ts';
import { type AccessStats, addedAccess } from './access-log.ts';
import { addedLoad, type NodeLoad } from './node-load.ts';
import { noRelayDrops, RELAY_DROP_REASONS, type RelayStats } from './relays.ts';

export interface EdgeStats {
  /** When counting began, in milliseconds since the epoch. */
  readonly since: number;
  readonly connections: {
    /** Open now, those included whose TLS handshake or PROXY header is under way. */
    readonly open: number;
    /** Of these, with HTTP on them. */
    readonly http: number;
    /** Of these, to the public port of a `tcp` tunnel. */
    readonly tcp: number;
    /** Addresses (IPv6: /64 networks) that they come from. */
    readonly addresses: number;
    /** Admitted since the start. */
    readonly admitted: number;
  };
  /** Connections that were refused or cut, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Requests that the edge answered by itself, by fault code. */
  readonly answered: Readonly<Record<string, number>>;
  /** Records of requests; all 0 while the inspector is off. */
  readonly inspector: InspectorStats;
  /** Entries of the access log and of exports. */
  readonly access: AccessStats;
  readonly holds: HoldStats;
  readonly load: NodeLoad;
  /** What its thread costs; of several nodes all, and none for one in the thread of the control plane. */
  readonly threads: readonly ThreadFigures[];
  /** Relays of private networks. */
  readonly relays: RelayStats;
}

/** Visitors that waited for an agent whose session was lost. Those that found no room are in `dropped`. */
export interface HoldStats {
  readonly waiting: number;
  /** What they have sent, kept meanwhile. */
  readonly bytes: number;
  /** How waits ended, since the start (data/edge/exchange/holds.ts). */
  readonly ended: Readonly<Record<string, number>>;
}

/** What of `ProcessFigures` is of one thread and not of the process. */
export type ThreadFigures = Pick<ProcessFigures, 'loop' | 'collections' | 'sockets'> & {
  readonly memory: Pick<ProcessFigures['memory'], 'heapUsed' | 'heapTotal' | 'external'>;
};

/** What became of the requests that could be recorded, since the start. Those under way are in none of the counts yet. */
export interface InspectorStats {
  /** Taken by the control plane. */
  readonly recorded: number;
  /** Not recorded, by reason (data/inspect/draft.ts). */
  readonly dropped: Readonly<Record<string, number>>;
  /** Complete, and on their way to the control plane. */
  readonly waiting: number;
  /** What records take of the memory now. */
  readonly heldBytes: number;
}

/** Of several nodes as of one. Undefined of none. */
export function sumOfStats(all: readonly EdgeStats[]): EdgeStats | undefined {
  return all.reduce<EdgeStats | undefined>((sum, one) => (sum === undefined ? one : added(sum, one)), undefined);
}

function added(one: EdgeStats, other: EdgeStats): EdgeStats {
  return {
    since: Math.min(one.since, other.since),
    connections: {
      open: one.connections.open + other.connections.open,
      http: one.connections.http + other.connections.http,
      tcp: one.connections.tcp + other.connections.tcp,
      addresses: one.connections.addresses + other.connections.addresses,
      admitted: one.connections.admitted + other.connections.admitted,
    },
    dropped: addedCounts(one.dropped, other.dropped),
    answered: addedCounts(one.answered, other.answered),
    holds: {
      waiting: one.holds.waiting + other.holds.waiting,
      bytes: one.holds.bytes + other.holds.bytes,
      ended: addedCounts(one.holds.ended, other.holds.ended),
    },
    load: addedLoad(one.load, other.load),
    threads: [...one.threads, ...other.threads],
    inspector: {
      recorded: one.inspector.recorded + other.inspector.recorded,
      dropped: addedCounts(one.inspector.dropped, other.inspector.dropped),
      waiting: one.inspector.waiting + other.inspector.waiting,
      heldBytes: one.inspector.heldBytes + other.inspector.heldBytes,
    },
    access: addedAccess(one.access, other.access),
    relays: addedRelays(one.relays, other.relays),
  };
}

function addedRelays(one: RelayStats, other: RelayStats): RelayStats {
  const dropped = noRelayDrops();
  for (const reason of RELAY_DROP_REASONS) dropped[reason] = one.dropped[reason] + other.dropped[reason];
  return {
    attached: one.attached + other.attached,
    onStream: one.onStream + other.onStream,
    flows: one.flows + other.flows,
    packetsIn: one.packetsIn + other.packetsIn,
    packetsOut: one.packetsOut + other.packetsOut,
    bytesIn: one.bytesIn + other.bytesIn,
    bytesOut: one.bytesOut + other.bytesOut,
    dropped,
  };
}

type Counts = Readonly<Record<string, number>>;

function addedCounts(one: Counts, other: Counts): Counts {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
