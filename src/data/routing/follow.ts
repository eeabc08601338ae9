/**
 * Keeps a RouteTable in step with the control plane: snapshot first, then deltas in order; a gap asks for a snapshot again.
 * Made by data/node.ts. The table goes on serving while the control plane is away.
 */
import type { Logger } from '../../base/log.ts';
import { messageOf } from '../../base/errors.ts';
import type { Link } from '../../plane/link.ts';
import type { Delta } from '../../plane/routes.ts';
import type { RouteTable } from './table.ts';

/** Deltas kept while a snapshot is under way; beyond it they are dropped, and the next snapshot brings them. */
const MAX_HELD = 10_000;
const RETRY_MS = 1_000;

export class TableFollower {
  readonly #table: RouteTable;
  readonly #link: Link;
  readonly #log: Logger;
  readonly #unsubscribe: () => void;
  #held: Delta[] = [];
  #asking = true;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  /** Listens from now on: no delta between here and the first snapshot is lost. */
  constructor(table: RouteTable, deps: { link: Link; log: Logger }) {
    this.#table = table;
    this.#link = deps.link;
    this.#log = deps.log;
    this.#unsubscribe = deps.link.onDelta((delta) => this.#take(delta));
  }

  /** Loads the first snapshot. Rejects when the control plane has none: a node that knows no routes must not open its doors. */
  async start(): Promise<void> {
    this.#asking = true;
    try {
      this.#table.load(await this.#link.snapshot());
    } finally {
      this.#asking = false;
    }
    this.#catchUp();
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    clearTimeout(this.#retry);
    this.#held = [];
  }

  #take(delta: Delta): void {
    if (this.#closed) return;
    if (this.#table.apply(delta)) return;
    if (this.#held.length < MAX_HELD) this.#held.push(delta);
    if (!this.#asking && this.#retry === undefined) this.#resync(delta.version);
  }

  #resync(seen: number): void {
    this.#log.warn({ have: this.#table.planeVersion, seen }, 'route changes are missing: asking for a snapshot');
    this.#asking = true;
    this.#link.snapshot().then(
      (snapshot) => {
        this.#asking = false;
        if (this.#closed) return;
        if (!this.#table.load(snapshot))
          this.#log.debug({ version: snapshot.version }, 'an older snapshot was dropped');
        this.#catchUp();
      },
      (error: unknown) => {
        this.#asking = false;
        if (this.#closed) return;
        this.#log.warn({ error: messageOf(error) }, 'no snapshot of the routes: trying again');
        this.#later(seen);
      },
    );
  }

  #catchUp(): void {
    const held = this.#held;
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
