/**
 * Requests and connections that wait for an agent: its session was lost a moment ago, or the server has just started. One per
 * data node. The gateway reports sessions that were lost and agents that came; the HTTP edge and the TCP ports wait here. Waits and
 * their bytes are bounded; at a bound the visitor is refused at once. Reasons: docs/decisions/0008-holds.md.
 */
import { Shares } from '../../../base/limits/shares.ts';
import type { HoldStats } from '../../../plane/edge-stats.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { RouteTable } from '../../routing/table.ts';
import type { AddressLoad } from '../../entrance/admission.ts';
import type { Drops } from '../../faults/drops.ts';
import { isOver } from '../../faults/refusal.ts';

export interface HoldLimits {
  /** How long a session counts as lost a moment ago, and how long one visitor waits. 0: no visitor waits. */
  readonly holdMs: number;
  readonly perTunnel: number;
  readonly perOrg: number;
  readonly total: number;
  /** Of what waiting visitors have sent, together; one organization gets a quarter of it. */
  readonly maxBytes: number;
}

/** A tunnel's share of a session is larger than `perTunnel`: all that waited get a stream when the agent comes. */
export const HOLD_BOUNDS = { perTunnel: 2_048, perOrg: 4_096, total: 16_384, maxBytes: 64 << 20 } as const;

/** Why a wait ended: an agent serves the tunnel; the tunnel ended or changed; time ran out; the visitor left; its bytes found no room. */
export type HoldEnd = 'served' | 'changed' | 'timed_out' | 'left' | 'full';

/** One waiting visitor. */
export interface Hold {
  /** The visitor has sent more. False: there is no room for it, and the wait is over. */
  grow(bytes: number): boolean;
  /** The visitor has left, or gives up. May be called at any time. */
  leave(): void;
}

/** A request that wants to wait. */
interface Wanted {
  /** What the visitor has sent and the edge keeps meanwhile. */
  readonly bytes: number;
  /** Of the visitor's address; null: it speaks for many. */
  readonly from?: AddressLoad | null;
  /** No longer than that. */
  readonly maxMs?: number;
  /** Called once, and never before `wait` returns. */
  readonly onEnd: (why: HoldEnd) => void;
}

class Wait implements Hold {
  readonly entry: RouteEntry;
  readonly orgId: string;
  readonly from: AddressLoad | null;
  readonly givePlace: () => void;
  readonly onEnd: (why: HoldEnd) => void;
  readonly #owner: Holds;
  readonly #timer: NodeJS.Timeout;
  bytes: number;

  constructor(owner: Holds, of: Required<Wanted> & { entry: RouteEntry; ms: number; givePlace: () => void }) {
    this.#owner = owner;
    this.entry = of.entry;
    this.orgId = of.entry.route.orgId;
    this.bytes = of.bytes;
    this.from = of.from;
    this.givePlace = of.givePlace;
    this.onEnd = of.onEnd;
    this.#timer = setTimeout(() => owner.end(this, 'timed_out'), of.ms);
  }

  grow(bytes: number): boolean {
    return this.#owner.grow(this, bytes);
  }

  leave(): void {
    this.#owner.end(this, 'left');
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Those that wait for one tunnel, and how many of each address. */
class TunnelWaits {
  readonly all = new Set<Wait>();
  readonly #counts = new Map<AddressLoad, number>();

  add(wait: Wait): void {
    this.all.add(wait);
    this.#count(wait.from, 1);
  }

  delete(wait: Wait): boolean {
    if (!this.all.delete(wait)) return false;
    this.#count(wait.from, -1);
    return true;
  }

  /** The newest of the address that has the most, if it has two more than `from`: one place less, and it still has no fewer. */
  displacedBy(from: AddressLoad): Wait | undefined {
    let greedy: AddressLoad | undefined;
    let most = (this.#counts.get(from) ?? 0) + 1;
    for (const [address, count] of this.#counts) if (count > most) [greedy, most] = [address, count];
    return greedy === undefined ? undefined : [...this.all].findLast((wait) => wait.from === greedy);
  }

  #count(address: AddressLoad | null, change: number): void {
    if (address === null) return;
    const count = (this.#counts.get(address) ?? 0) + change;
    if (count > 0) this.#counts.set(address, count);
    else this.#counts.delete(address);
  }
}

export class Holds {
  readonly #limits: HoldLimits;
  readonly #drops: Drops;
  readonly #clock: { monotonic(): number; now(): number };
  readonly #places: Shares;
  readonly #waiting = new Map<RouteEntry, TunnelWaits>();
  readonly #bytesOf = new Map<string, number>();
  readonly #ended: Record<HoldEnd, number> = { served: 0, changed: 0, timed_out: 0, left: 0, full: 0 };
  #bytes = 0;
  #onIdle: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #closed = false;

  constructor(limits: HoldLimits, { drops, clock }: { drops: Drops; clock: { monotonic(): number; now(): number } }) {
    this.#limits = limits;
    this.#drops = drops;
    this.#clock = clock;
    this.#places = new Shares({ places: limits.total, each: limits.perOrg });
  }

  /** Milliseconds that one visitor waits at most; 0: holds are off. */
  get holdMs(): number {
    return this.#limits.holdMs;
  }

  stats(): HoldStats {
    return { waiting: this.#places.taken, bytes: this.#bytes, ended: { ...this.#ended } };
  }

  // ------------------------------------------------------------------ from the gateway

  /** The session that served the tunnel was lost. `tokenId`: the key that it showed; null where it is not known. */
  lost(entry: RouteEntry, tokenId: string | null): void {
    if (this.#limits.holdMs > 0 && !this.#closed) entry.lost = { atMs: this.#clock.monotonic(), tokenId };
  }

  /** The tunnel's agent left in order, or was sent away: none is expected back. */
  left(entry: RouteEntry): void {
    entry.lost = null;
    this.#endAll(entry, 'changed');
  }

  /** An agent serves the tunnel. */
  came(entry: RouteEntry): void {
    entry.lost = null;
    this.#endAll(entry, 'served');
  }

  // ------------------------------------------------------------------ from visitors

  /** Was an agent here within the last `holdMs`, and is it likely to come back? */
  isAwaited({ lost }: RouteEntry): boolean {
    return lost !== null && this.#clock.monotonic() - lost.atMs < this.#limits.holdMs;
  }

  /** Waits until something is known of the tunnel's agent. null: there is no room, nothing waits. */
  wait(entry: RouteEntry, { bytes, from = null, maxMs = Infinity, onEnd }: Wanted): Hold | null {
    if (this.#closed) return null;
    const { orgId, expiresAt } = entry.route;
    let waiting = this.#waiting.get(entry);
    if (waiting !== undefined && waiting.all.size >= this.#limits.perTunnel) this.#makeRoom(waiting, from);
    const isFull = (waiting?.all.size ?? 0) >= this.#limits.perTunnel || !this.#hasRoom(orgId, bytes);
    const givePlace = isFull ? undefined : this.#places.take(orgId);
    if (givePlace === undefined) {
      this.#drops.add('hold_full');
      return null;
    }
    const untilExpiry = expiresAt === null ? Infinity : expiresAt - this.#clock.now();
    const ms = Math.max(0, Math.min(this.#limits.holdMs, maxMs, untilExpiry));
    const wait = new Wait(this, { entry, bytes, from, maxMs, ms, givePlace, onEnd });
    if (waiting === undefined) this.#waiting.set(entry, (waiting = new TunnelWaits()));
    waiting.add(wait);
    this.#add(orgId, bytes);
    return wait;
  }

  /** All places of a tunnel are taken: the address that has most of them gives one up to an address that has fewer. */
  #makeRoom(waiting: TunnelWaits, from: AddressLoad | null): void {
    const displaced = from === null ? undefined : waiting.displacedBy(from);
    if (displaced === undefined) return;
    this.#drops.add('hold_full');
    this.end(displaced, 'full');
  }

  grow(wait: Wait, bytes: number): boolean {
    if (this.#waiting.get(wait.entry)?.all.has(wait) !== true) return false;
    if (!this.#hasRoom(wait.orgId, bytes)) {
      this.#drops.add('hold_full');
      this.end(wait, 'full');
      return false;
    }
    wait.bytes += bytes;
    this.#add(wait.orgId, bytes);
    return true;
  }

  end(wait: Wait, why: HoldEnd): void {
    const waiting = this.#waiting.get(wait.entry);
    if (waiting === undefined || !waiting.delete(wait)) return;
    if (waiting.all.size === 0) this.#waiting.delete(wait.entry);
    wait.stop();
    wait.givePlace();
    this.#add(wait.orgId, -wait.bytes);
    this.#ended[why]++;
    wait.onEnd(why);
    if (this.#places.taken === 0) this.#onIdle?.();
  }

  // ------------------------------------------------------------------ from the routing table

  /**
   * From now on a stop, maintenance, a deletion, and a revoked key end the waits that they concern. To be called once.
   * `awaited`: tunnels that had agents when the last process ended; they count as lost now.
   */
  watch(table: RouteTable, awaited: readonly string[]): void {
    for (const tunnelId of awaited) {
      const entry = table.findById(tunnelId);
      if (entry !== undefined) this.lost(entry, null);
    }
    const forget = (isMeant: (entry: RouteEntry) => boolean): void => {
      for (const entry of table.entries()) if (entry.lost !== null && isMeant(entry)) this.left(entry);
    };
    this.#unwatch = table.subscribe({
      onPut: (entry) => {
        if (isOver(entry) || entry.route.maintenance !== null) this.left(entry);
      },
      onRemove: (entry) => this.left(entry),
      onRevoke: (tokenId) => forget(({ lost }) => lost?.tokenId === tokenId),
      onCutOrg: (orgId) => forget(({ route }) => route.orgId === orgId),
    });
  }

  /** Resolves when no visitor waits, or after `timeoutMs`. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#places.taken === 0 || timeoutMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }

  /** Ends all waits; from then on nothing waits. Returns the tunnels in `table` that were still awaited, at the first call. */
  close(table: RouteTable): string[] {
    if (this.#closed) return [];
    this.#closed = true;
    this.#unwatch?.();
    const awaited = [...table.entries()].filter((entry) => this.isAwaited(entry)).map(({ route }) => route.tunnelId);
    for (const entry of [...this.#waiting.keys()]) this.#endAll(entry, 'changed');
    return awaited;
  }

  // ------------------------------------------------------------------

  #endAll(entry: RouteEntry, why: HoldEnd): void {
    for (const wait of [...(this.#waiting.get(entry)?.all ?? [])]) this.end(wait, why);
  }

  #hasRoom(orgId: string, bytes: number): boolean {
    const { maxBytes } = this.#limits;
    return this.#bytes + bytes <= maxBytes && (this.#bytesOf.get(orgId) ?? 0) + bytes <= maxBytes / 4;
  }

  #add(orgId: string, bytes: number): void {
    this.#bytes += bytes;
    const left = (this.#bytesOf.get(orgId) ?? 0) + bytes;
    if (left > 0) this.#bytesOf.set(orgId, left);
    else this.#bytesOf.delete(orgId);
  }
}
