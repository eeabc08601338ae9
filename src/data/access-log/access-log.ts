/**
 * Decides which requests and connections the access log and exports hear of, and where traces begin. One per node, in the edge's context. While all
 * of it is off a request costs two comparisons.
 */
import type { Logger } from '../../base/log.ts';
import { TraceIds } from '../../http1/trace-parent.ts';
import type { AccessStats } from '../../plane/access-log.ts';
import type { Link } from '../../plane/link.ts';
import { RecordIds } from '../inspect/record-ids.ts';
import type { RouteEntry } from '../routing/entry.ts';
import type { TableListener } from '../routing/table.ts';
import { AccessDraft, type AccessOwner } from './access-draft.ts';
import { AccessQueue, type AccessQueueOptions } from './access-queue.ts';

/** A node's settings of the access log. */
export interface AccessLogSettings {
  /** Share of entries that the access log of the server writes, 0 to 1. */
  readonly sample: number;
  /** All requests are wanted, whatever is sampled: the server exports them. */
  readonly isWhole: boolean;
}

/** The longest wait for the last entries, at the end of the node. */
const LAST_MS = 2_000;

export class AccessLog implements AccessOwner, TableListener {
  /** Requests of all tunnels are wanted. */
  readonly isOn: boolean;
  readonly traces = new TraceIds();
  readonly #settings: AccessLogSettings;
  readonly #queue: AccessQueue;
  readonly #ids = new RecordIds();
  /** Organizations that want theirs, whatever the server does. */
  #exporting: ReadonlySet<string> = new Set();

  /** `settings`: null where the server writes none; organizations may want theirs all the same. */
  constructor(
    settings: AccessLogSettings | null,
    deps: { readonly link: Pick<Link, 'logAccess'>; readonly log: Logger; readonly queue?: AccessQueueOptions },
  ) {
    this.#settings = settings ?? { sample: 0, isWhole: false };
    this.isOn = settings !== null;
    this.#queue = new AccessQueue(deps, deps.queue);
  }

  /** Whether traces begin here, and requests are logged. `entry`: of the tunnel; undefined: there is none. */
  wants(entry: RouteEntry | undefined): boolean {
    return this.isOn || (this.#exporting.size > 0 && this.#isExported(entry));
  }

  /** The entry of a request that is wanted; null: it is not sampled. */
  begin(entry: RouteEntry | undefined): AccessDraft | null {
    const { sample, isWhole } = this.#settings;
    const isSampled = sample > 0 && (sample >= 1 || Math.random() < sample);
    if (!isSampled && !isWhole && !this.#isExported(entry)) return null;
    return new AccessDraft(this, entry, isSampled);
  }

  #isExported(entry: RouteEntry | undefined): boolean {
    return entry !== undefined && this.#exporting.has(entry.route.orgId);
  }

  // ------------------------------------------------------------------ from the routing table (TableListener)

  onExportingOrgs(orgIds: readonly string[]): void {
    this.#exporting = new Set(orgIds);
  }

  // ------------------------------------------------------------------ from its drafts (AccessOwner)

  add(entry: AccessDraft): void {
    if (entry.id === '') entry.id = this.#ids.next();
    this.#queue.add(entry);
  }

  stats(): AccessStats {
    return this.#queue.stats();
  }

  close(): Promise<void> {
    return this.#queue.close(LAST_MS);
  }
}
