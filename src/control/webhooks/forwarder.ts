/**
 * Sends stored deliveries on to tunnels: one at a time and in order per receiver, several receivers at once. Woken by mailbox.ts
 * and service.ts after their commits, by events when an agent comes or a route changes; started by server/parts/background.ts.
 * The queue is in the tables; each delivery comes at least once: docs/decisions/0017-webhook-queue.md.
 */
import { HOUR_MS } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { Shares } from '../../base/limits/shares.ts';
import type { NodeControl } from '../../plane/link.ts';
import type { Store } from '../db/tx.ts';
import type { Maintenance } from '../tunnels/maintenance.ts';
import type { RouteMaker } from '../tunnels/plane/route-maker.ts';
import { anyById, isExpired, type TunnelRow } from '../tunnels/rows.ts';
import { type Head, headOf, type Line, updateForward, waitingDelivery, waitingLines } from './forward-rows.ts';
import { addAttempt } from './attempts/rows.ts';
import { attemptOf, type Outcome, outcomeOf, requestOf, waitAfter, waitForPlace } from './forward-try.ts';
import { ForwardQueue } from './forward-queue.ts';

/** Tries under way at once: each holds a body of up to a megabyte, and most of its time it waits for a service. */
const MAX_AT_ONCE = 32;
/** Of one organization, and never more than are free: services that never answer leave the others their places. */
const MAX_OF_ORG = 4;
/** The lines that wait for an agent or for their time are looked at once in this time, in memory, in case an event was missed. */
const LOOK_MS = 30_000;
/** After a fault of this server (a full disk) the line rests. */
const REST_MS = 30_000;

interface Trying extends Line {
  readonly sequence: number;
  /** When it began. */
  readonly at: number;
  /** False: it was put in line again, or goes elsewhere by now; how this try ends says nothing. */
  counts: boolean;
  /** Gives its place back. */
  readonly leave: () => void;
}

/** For the operator: lines by what they wait for, and what became of tries since the start. */
export interface ForwardStats {
  readonly lines: Readonly<Record<'ready' | 'delayed' | 'parked' | 'sending', number>>;
  readonly tries: Readonly<Record<'delivered' | 'refused' | 'given_up', number>>;
}

/** What the rest of webhooks/ tells. */
export interface Lines {
  /** A delivery waits in this queue, or its target changed. */
  ready(line: Line): void;
  /** How the try that is under way ends says nothing any more: of this delivery, or of whichever it is. */
  disregard(receiverId: string, sequence?: number): void;
}

export interface ForwarderDeps {
  readonly store: Store;
  readonly nodes: Pick<NodeControl, 'send' | 'isOnline'>;
  readonly routes: Pick<RouteMaker, 'publicUrl'>;
  readonly maintenance: Pick<Maintenance, 'messageOf'>;
  readonly log: Logger;
}

export class Forwarder implements Lines {
  readonly #deps: ForwarderDeps;
  /** As many as there are receivers, at most; so are the next three. */
  readonly #ready = new ForwardQueue();
  readonly #delayed = new Map<string, { readonly orgId: string; readonly at: number }>();
  /** Those whose tunnel has no agent or is paused. */
  readonly #parked = new Map<string, { readonly orgId: string; readonly tunnelId: string }>();
  readonly #parkedAt = new Map<string, Set<string>>();
  /** How often in a row there was no place for the first of the line. */
  readonly #crowded = new Map<string, number>();
  /** Those that a fault of this server holds up, since when. In memory: on a full disk nothing is written down. */
  readonly #resting = new Map<string, { readonly orgId: string; readonly since: number }>();
  readonly #trying = new Map<string, Trying>();
  readonly #places = new Shares({ places: MAX_AT_ONCE, each: MAX_OF_ORG });
  readonly #tries = { delivered: 0, refused: 0, given_up: 0 };
  #isRunning = false;
  /** When the lines that wait are looked at next; null: none does. */
  #lookAt: number | null = null;
  #isLookDue = false;
  #pass: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Those who wait in `stop`. */
  readonly #stopping = new Set<() => void>();

  constructor(deps: ForwarderDeps) {
    this.#deps = deps;
  }

  /** From now on deliveries are sent on, those of an earlier run first. */
  start(): void {
    this.#isRunning = true;
    for (const line of waitingLines(this.#deps.store.db)) this.ready(line);
  }

  /** Begins no try any more, and resolves once those under way have ended, or after `patienceMs`: then how they end is not written down. May be called again. */
  async stop(patienceMs: number): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    clearImmediate(this.#pass);
    if (this.#trying.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopping.add(resolve);
    const patience = setTimeout(resolve, patienceMs);
    await promise;
    clearTimeout(patience);
    this.#stopping.delete(resolve);
    for (const trying of this.#trying.values()) trying.counts = false;
  }

  ready({ receiverId, orgId }: Line): void {
    // Before the start the tables know all that this would.
    if (!this.#isRunning || this.#trying.has(receiverId)) return;
    this.#delayed.delete(receiverId);
    this.#unpark(receiverId);
    this.#ready.add({ receiverId, orgId });
    this.#soon();
  }

  disregard(receiverId: string, sequence?: number): void {
    const trying = this.#trying.get(receiverId);
    if (trying !== undefined && (sequence ?? trying.sequence) === trying.sequence) trying.counts = false;
  }

  /** An agent has come, a pause is over, or the tunnel is gone: those who wait for it are looked at. */
  tunnelChanged(tunnelId: string): void {
    for (const receiverId of [...(this.#parkedAt.get(tunnelId) ?? [])]) {
      const parked = this.#parked.get(receiverId);
      if (parked !== undefined) this.ready({ receiverId, orgId: parked.orgId });
    }
  }

  /** Is it under way now? */
  isSending(sequence: number): boolean {
    for (const trying of this.#trying.values()) if (trying.sequence === sequence && trying.counts) return true;
    return false;
  }

  /** Receivers of an organization whose results this server can't store, or whose queue it can't read. */
  resting(orgId: string): ReadonlyArray<{ readonly receiverId: string; readonly since: number }> {
    return [...this.#resting].flatMap(([receiverId, one]) =>
      one.orgId === orgId ? [{ receiverId, since: one.since }] : [],
    );
  }

  stats(): ForwardStats {
    const [ready, delayed, parked] = [this.#ready.size, this.#delayed.size, this.#parked.size];
    return { lines: { ready, delayed, parked, sending: this.#trying.size }, tries: { ...this.#tries } };
  }

  /** Looks at the lines that wait, whether or not their time has come: the clock was moved. */
  wake(): void {
    this.#isLookDue = true;
    this.#soon();
  }

  #soon(): void {
    if (this.#isRunning) this.#pass ??= setImmediate(() => this.#go());
  }

  #go(): void {
    this.#pass = undefined;
    const now = this.#deps.store.clock.now();
    if (this.#isLookDue) this.#look(now);
    // Who is ready and finds no place needs no timer: the end of each try begins the next.
    for (const line of this.#ready.take((orgId) => this.#places.hasPlace(orgId))) this.#consider(line, now);
    clearTimeout(this.#timer);
    if (this.#lookAt === null) return;
    this.#timer = setTimeout(() => this.wake(), Math.min(this.#lookAt - now, LOOK_MS));
    this.#timer.unref();
  }

  /** Makes those ready whose time, or whose tunnel, has come. */
  #look(now: number): void {
    this.#isLookDue = false;
    this.#lookAt = null;
    for (const [receiverId, { orgId, at }] of this.#delayed) {
      if (isDue(at, now)) this.#toReady(receiverId, orgId);
      else this.#lookBy(at);
    }
    for (const [receiverId, { orgId, tunnelId }] of this.#parked)
      if (this.#mayServe(tunnelId)) this.#toReady(receiverId, orgId);
    if (this.#parked.size > 0) this.#lookBy(now + LOOK_MS);
  }

  #lookBy(at: number): void {
    this.#lookAt = Math.min(this.#lookAt ?? at, at);
  }

  #toReady(receiverId: string, orgId: string): void {
    this.#delayed.delete(receiverId);
    this.#unpark(receiverId);
    this.#ready.add({ receiverId, orgId });
  }

  #consider(line: Line, now: number): void {
    try {
      const head = headOf(this.#deps.store.db, line.receiverId);
      if (head === undefined) {
        this.#crowded.delete(line.receiverId);
        this.#resting.delete(line.receiverId);
        return;
      }
      const tunnel = anyById(this.#deps.store.db, head.tunnelId);
      if (!isDue(head.nextAt, now)) this.#delay(line, head.nextAt);
      else if (tunnel === undefined || !this.#isServed(tunnel, now)) this.#park(line, head.tunnelId);
      else this.#begin(line, head, tunnel);
    } catch (error) {
      this.#rest(line, error);
    }
  }

  #begin(line: Line, head: Head, tunnel: TunnelRow): void {
    const found = waitingDelivery(this.#deps.store.db, head.sequence);
    if (found === undefined) return;
    const { delivery, forward } = found;
    const { path, tunnelId } = head;
    const publicUrl = this.#deps.routes.publicUrl(tunnel);
    const request = requestOf({ delivery, attempt: forward.attempts + 1, tunnelId, path, publicUrl });
    const leave = this.#places.take(line.orgId);
    // Its turn came because there was one.
    if (leave === undefined) return this.#ready.add(line);
    const trying: Trying = { ...line, sequence: head.sequence, at: this.#deps.store.clock.now(), counts: true, leave };
    this.#trying.set(line.receiverId, trying);
    void this.#deps.nodes
      .send(request)
      .then(outcomeOf)
      .then((outcome) => this.#ended(trying, outcome, tunnelId))
      .catch((error: unknown) => {
        this.#left(trying);
        this.#rest(line, error);
      })
      .finally(() => {
        if (this.#trying.size === 0) for (const resolve of this.#stopping) resolve();
        this.#soon();
      });
  }

  #ended(trying: Trying, outcome: Outcome, tunnelId: string): void {
    this.#left(trying);
    if (outcome.kind !== 'crowded') this.#crowded.delete(trying.receiverId);
    if (!trying.counts) return this.ready(trying);
    if (outcome.kind === 'later') return this.#park(trying, tunnelId);
    if (outcome.kind === 'crowded') return this.#waitForPlace(trying);
    this.#writeDown(trying, outcome);
    this.#resting.delete(trying.receiverId);
    this.ready(trying);
  }

  #left(trying: Trying): void {
    if (this.#trying.delete(trying.receiverId)) trying.leave();
  }

  /** Nothing was sent: soon again, and less often while it goes on. */
  #waitForPlace(line: Line): void {
    const times = (this.#crowded.get(line.receiverId) ?? 0) + 1;
    this.#crowded.set(line.receiverId, times);
    this.#delay(line, this.#deps.store.clock.now() + waitForPlace(times));
  }

  #writeDown({ receiverId, sequence, at }: Trying, outcome: Exclude<Outcome, { kind: 'later' | 'crowded' }>): void {
    // Relaxed: what a power cut takes is sent once more.
    this.#deps.store.inTx(
      (tx) => {
        const found = waitingDelivery(tx.db, sequence);
        if (found === undefined) return;
        const attempts = found.forward.attempts + 1;
        const last = { attempts, lastStatus: outcome.status };
        addAttempt(tx, { receiverId, sequence, at, attempt: attempts, ...attemptOf(outcome) });
        if (outcome.kind === 'delivered') {
          this.#tries.delivered += 1;
          updateForward(tx, sequence, { ...last, state: 'delivered', lastError: null, deliveredAt: tx.now, nextAt: 0 });
          return;
        }
        // A test that fails has told what it was to tell, and holds up the real ones.
        const waitMs = outcome.isFinal || found.delivery.isTest ? null : waitAfter(attempts);
        this.#tries[waitMs === null ? 'given_up' : 'refused'] += 1;
        const next = waitMs === null ? ({ state: 'failed', nextAt: 0 } as const) : { nextAt: tx.now + waitMs };
        updateForward(tx, sequence, { ...last, ...next, lastError: outcome.error });
      },
      { relaxed: true },
    );
  }

  /** A fault of this server's own: it is looked at again, later. */
  #rest({ receiverId, orgId }: Line, error: unknown): void {
    this.#deps.log.error({ err: error, receiver: receiverId }, 'internal error while forwarding a webhook: retrying');
    const now = this.#deps.store.clock.now();
    this.#resting.set(receiverId, { orgId, since: this.#resting.get(receiverId)?.since ?? now });
    this.#delay({ receiverId, orgId }, now + REST_MS);
  }

  #delay({ receiverId, orgId }: Line, at: number): void {
    if (!this.#isRunning) return;
    this.#delayed.set(receiverId, { orgId, at });
    this.#lookBy(at);
  }

  #mayServe(tunnelId: string): boolean {
    return this.#deps.nodes.isOnline(tunnelId) && this.#deps.maintenance.messageOf(tunnelId) === null;
  }

  #isServed(tunnel: TunnelRow, now: number): boolean {
    const mayBe = tunnel.deletedAt === null && !tunnel.stopped && !isExpired(tunnel, now);
    return mayBe && this.#mayServe(tunnel.id);
  }

  #park({ receiverId, orgId }: Line, tunnelId: string): void {
    if (!this.#isRunning) return;
    this.#unpark(receiverId);
    this.#parked.set(receiverId, { orgId, tunnelId });
    this.#lookBy(this.#deps.store.clock.now() + LOOK_MS);
    const there = this.#parkedAt.get(tunnelId);
    if (there === undefined) this.#parkedAt.set(tunnelId, new Set([receiverId]));
    else there.add(receiverId);
  }

  #unpark(receiverId: string): void {
    const tunnelId = this.#parked.get(receiverId)?.tunnelId;
    if (tunnelId === undefined) return;
    this.#parked.delete(receiverId);
    const there = this.#parkedAt.get(tunnelId);
    there?.delete(receiverId);
    if (there?.size === 0) this.#parkedAt.delete(tunnelId);
  }
}

/** Also what is further away than any wait: the clock was set back. */
function isDue(at: number, now: number): boolean {
  return at <= now || at - now > 2 * HOUR_MS;
}
