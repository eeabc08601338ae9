/**
 * Keeps a RouteTable in step with the control plane: snapshot first, then deltas in the order of their numbers, however they come; one that is lost
 * asks for a snapshot again.
 * Made by data/node-parts.ts. The table goes on serving while the control plane is away.
 */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { messageOf } from '../../base/errors.ts';
import type { Link } from '../../plane/link.ts';
import { type Delta, endsSessions, type Snapshot } from '../../plane/routes.ts';
import type { RouteTable } from './table.ts';

/** Deltas kept while a snapshot is under way; beyond it they are dropped, and the next snapshot brings them. */
const MAX_HELD = 10_000;
const RETRY_MS = 1_000;
/** A delta that is missing for this long is lost. */
const GAP_MS = 500;
/** Further ahead is no matter of order. */
const MAX_EARLY = 1_000;
/** Numbers of one start of the control plane (control/core/link/publisher.ts). */
const EPOCH = 2 ** 32;

export class TableFollower {
  readonly #table: RouteTable;
  readonly #link: Link;
  readonly #log: Logger;
  readonly #unsubscribe: () => void;
  #held: Delta[] = [];
  #asking = true;
  #retry: NodeJS.Timeout | undefined;
  /** Runs while one is missing in front of some that have come. */
  #gap: NodeJS.Timeout | undefined;
  #closed = false;

  /** Listens from now on: no delta between here and the first snapshot is lost. */
  constructor(table: RouteTable, deps: { link: Link; log: Logger }) {
    this.#table = table;
    this.#link = deps.link;
    this.#log = deps.log;
    this.#unsubscribe = deps.link.onDelta((delta) => this.#take(delta));
  }

  /** Loads the first snapshot. Rejects when the control plane has none: a node that knows no routes must not open its listeners. */
  async start(): Promise<void> {
    this.#asking = true;
    try {
      await this.#load(await this.#link.snapshot());
    } finally {
      this.#asking = false;
    }
    this.#catchUp();
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    clearTimeout(this.#retry);
    clearTimeout(this.#gap);
    this.#held = [];
  }

  #take(delta: Delta): void {
    if (this.#closed) return;
    if (this.#isEarly(delta)) return this.#wait(delta);
    if (this.#table.apply(delta)) return this.#closeGap();
    this.#keep(delta);
    if (!this.#asking && this.#retry === undefined) this.#resync(delta.version);
  }

  /** Until what is missing before it has come. What ends sessions does not wait: a key that is revoked is so at once. */
  #keep(delta: Delta): void {
    if (endsSessions(delta)) this.#table.end(delta);
    if (this.#held.length < MAX_HELD) this.#held.push(delta);
  }

  /** Ahead of one that may be on its way: of this start of the control plane, and not far. */
  #isEarly({ version }: Delta): boolean {
    const { needsSnapshot, planeVersion } = this.#table;
    const ahead = version - planeVersion;
    return !needsSnapshot && ahead > 1 && ahead <= MAX_EARLY && epochOf(version) === epochOf(planeVersion);
  }

  /** A way that keeps no order brings the missing one in a moment. */
  #wait(delta: Delta): void {
    this.#keep(delta);
    if (this.#gap !== undefined) return;
    this.#gap = setTimeout(() => {
      this.#gap = undefined;
      if (!this.#asking && this.#retry === undefined) this.#resync(delta.version);
    }, GAP_MS);
    this.#gap.unref();
  }

  /** Those that were early come after the one that was missing. */
  #closeGap(): void {
    if (this.#gap === undefined) return;
    this.#applyHeld();
    if (this.#held.length > 0) return;
    clearTimeout(this.#gap);
    this.#gap = undefined;
  }

  /** In the order of their numbers, up to the next gap. */
  #applyHeld(): void {
    const held = this.#held.sort((a, b) => a.version - b.version);
    this.#held = held.filter((delta) => this.#isEarly(delta) || !this.#table.apply(delta));
  }

  /** A slice per turn of the loop: the table has visitors. */
  async #load(snapshot: Snapshot): Promise<boolean> {
    const slices = this.#table.loading(snapshot);
    for (;;) {
      const { done, value } = slices.next();
      if (done === true) return value;
      await setImmediate();
      if (this.#closed) return false;
    }
  }

  #resync(seen: number): void {
    this.#log.warn({ have: this.#table.planeVersion, seen }, 'route changes are missing: requesting a snapshot');
    this.#asking = true;
    void this.#reload(seen);
  }

  async #reload(seen: number): Promise<void> {
    try {
      const snapshot = await this.#link.snapshot();
      if (this.#closed) return;
      if (!(await this.#load(snapshot)))
        this.#log.debug({ version: snapshot.version }, 'discarded an older route snapshot');
    } catch (error) {
      this.#asking = false;
      if (this.#closed) return;
      this.#log.warn({ error: messageOf(error) }, 'could not load the route snapshot: retrying');
      return this.#later(seen);
    }
    this.#asking = false;
    if (!this.#closed) this.#catchUp();
  }

  #catchUp(): void {
    clearTimeout(this.#gap);
    this.#gap = undefined;
    const held = this.#held.sort((a, b) => a.version - b.version);
    this.#held = [];
    for (const delta of held) this.#table.apply(delta);
    // Still behind: the snapshot was older than a gap, or deltas were dropped at the bound. Not at once, for the next may be as old.
    if (this.#table.needsSnapshot) this.#later(this.#table.planeVersion);
  }

  #later(seen: number): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#resync(seen);
    }, RETRY_MS);
    this.#retry.unref();
  }
}

function epochOf(version: number): number {
  return Math.floor(version / EPOCH);
}
