/**
 * Recorded requests for the people of an organization: lists, one with everything, what was not recorded, and forgetting.
 * What a data node has recorded and not told yet is fetched first, so that a request that was answered before the call is found.
 */
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import type { NodeControl } from '../../plane/link.ts';
import { tunnels } from '../db/schema.ts';
import type { Db, Store } from '../db/tx.ts';
import type {
  RecordFilter,
  RecordItem,
  RecordPage,
  RecordStore,
  UnrecordedFilter,
  UnrecordedRequests,
} from '../db/usage/records.ts';
import { type Actor, allow, hasRole, type UserActor } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import { callerNow } from '../core/rules/caller.ts';
import { type Archive, archiveOfMany, type FoundRequest } from './export/archive.ts';
import { ArchivePlaces } from './export/archive-places.ts';
import { isSecret, masked, readHead, type RecordedHead } from '../core/rules/recorded-head.ts';
import type { ShownRequest } from './views.ts';

// For routes, which have no road to the tables of its own.
export {
  type HeaderMatch,
  MAX_LIST,
  type RecordFilter,
  type RecordPage,
  type StatusRange,
} from '../db/usage/records.ts';

/** `by_role`: credentials are shown to those who may change tunnels. The others are for exports, which are passed on. */
export type Secrets = 'by_role' | 'masked' | 'wanted';

export interface ExportFilter extends RecordFilter {
  readonly secrets: 'masked' | 'wanted';
}

/** The reader of an archive. */
export interface ArchiveReader {
  /** Of the server. */
  readonly version: string;
  /** Once the reader is gone the rest is not made. */
  readonly gone: AbortSignal;
}

/** An archive, and the place that it has until it is read. */
export interface HeldArchive extends Archive {
  /** Gives the place back. May be called twice. */
  readonly leave: () => void;
}

export interface InspectorDeps {
  readonly store: Store;
  readonly records: Pick<RecordStore, 'list' | 'find' | 'heads' | 'unrecorded' | 'forgetTunnel'>;
  readonly nodes: Pick<NodeControl, 'connections' | 'flushInspections'>;
  /** Are requests recorded at all? */
  readonly isOn: boolean;
}

/** Of what there will be records. */
export interface Recording {
  readonly isOn: boolean;
  /** Served now, by agents that want nothing of it recorded. */
  readonly leftOut: readonly string[];
}

export class Inspector {
  readonly #store: Store;
  readonly #records: InspectorDeps['records'];
  readonly #nodes: InspectorDeps['nodes'];
  readonly #isOn: boolean;
  readonly #places = new ArchivePlaces();

  constructor(deps: InspectorDeps) {
    this.#store = deps.store;
    this.#records = deps.records;
    this.#nodes = deps.nodes;
    this.#isOn = deps.isOn;
  }

  /** Newest first. Throws `forbidden`, `not_found` (the tunnel), `rate_limited`, `unavailable`. */
  async list(actor: Actor, filter: RecordFilter): Promise<RecordPage> {
    allow(actor, 'read', 'record');
    knowTunnel(this.#store.db, actor, filter.tunnelId);
    checkHeader(actor, filter);
    await this.#nodes.flushInspections();
    return this.#records.list(actor.orgId, filter);
  }

  /** Throws `forbidden` (also: a viewer wants secrets), `not_found`, `rate_limited`, `unavailable`. */
  async find(actor: Actor, id: string, secrets: Secrets = 'by_role'): Promise<ShownRequest> {
    allow(actor, 'read', 'record');
    const isMasked = masksFor(actor, secrets);
    const { orgId } = actor;
    let record = await this.#records.find(orgId, id);
    if (record === undefined) {
      await this.#nodes.flushInspections();
      record = await this.#records.find(orgId, id);
    }
    if (record === undefined)
      throw new AppError(
        'not_found',
        'Your organization has no record with this id, or your plan no longer keeps it. Check the id.',
      );
    return { ...shown(record, isMasked), wasBlocked: await this.#wasBlocked(orgId, record.replayOf) };
  }

  /** Of the record that was replayed. */
  async #wasBlocked(orgId: string, replayOf: string | null): Promise<boolean> {
    if (replayOf === null) return false;
    const [original] = await this.#records.heads(orgId, [replayOf]);
    return original?.trace?.outcome === 'refused';
  }

  /**
   * The newest with everything, as many as an archive holds. One at a time of an organization and of a person, a few in all: who called
   * gives the place back. Throws as `find` and `list`.
   */
  async archive(actor: Actor, filter: ExportFilter, { version, gone }: ArchiveReader): Promise<HeldArchive> {
    allow(actor, 'read', 'record');
    const isMasked = masksFor(actor, filter.secrets);
    knowTunnel(this.#store.db, actor, filter.tunnelId);
    const leave = this.#places.enter(actor);
    try {
      const newest = this.#newest(actor, filter, { isMasked, gone });
      return { ...(await archiveOfMany(newest, version)), leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async *#newest(
    actor: UserActor,
    { secrets: _secrets, ...filter }: ExportFilter,
    { isMasked, gone }: { readonly isMasked: boolean; readonly gone: AbortSignal },
  ): AsyncGenerator<FoundRequest> {
    const items = await this.#whole(actor, filter, gone);
    for (const [i, { id }] of items.entries()) {
      if (gone.aborted) return;
      // Undefined: the sweep, or a user who clears the tunnel, was faster.
      const record = await this.#records.find(actor.orgId, id);
      if (record !== undefined) yield { shown: shown(record, isMasked), older: items.length - i - 1 };
    }
  }

  /** A list that goes on where its time was up: what does not fit, or was forgotten, and lies in the way must not make an archive short. */
  async #whole(actor: UserActor, filter: RecordFilter, gone: AbortSignal): Promise<RecordItem[]> {
    const first = await this.list(actor, filter);
    const items = [...first.items];
    for (let before = first.stoppedAt; before !== null && !gone.aborted; ) {
      const page = await this.#records.list(actor.orgId, { ...filter, limit: filter.limit - items.length, before });
      items.push(...page.items);
      before = page.stoppedAt;
    }
    return items;
  }

  /** Tunnels with requests that were not recorded, the most first. Throws as `list`. */
  async unrecorded(actor: Actor, filter: UnrecordedFilter): Promise<readonly UnrecordedRequests[]> {
    allow(actor, 'read', 'record');
    knowTunnel(this.#store.db, actor, filter.tunnelId);
    await this.#nodes.flushInspections();
    return this.#records.unrecorded(actor.orgId, filter);
  }

  /** Why there may be no records where requests were served. Throws `forbidden`. */
  recording(actor: Actor): Recording {
    allow(actor, 'read', 'record');
    const own = this.#nodes.connections().filter(({ orgId }) => orgId === actor.orgId);
    return { isOn: this.#isOn, leftOut: own.flatMap(({ uninspectedIds }) => uninspectedIds) };
  }

  /** Forgets what was recorded of a tunnel until now. Throws `forbidden`, `not_found`, `rate_limited`, `unavailable`. */
  async clear(actor: Actor, tunnelId: string): Promise<void> {
    allow(actor, 'delete', 'record');
    knowTunnel(this.#store.db, actor, tunnelId);
    await this.#nodes.flushInspections();
    this.#store.inTx((tx) => {
      const now = callerNow(tx, actor);
      allow(now, 'delete', 'record');
      recordAudit(tx, now, { action: 'inspector.clear', resourceType: 'tunnel', resourceId: tunnelId });
    });
    await this.#records.forgetTunnel(actor.orgId, tunnelId);
  }
}

/** Deleted ones too: their records stay for a while. Throws `not_found` for a tunnel of another organization. */
export function knowTunnel(db: Db, { orgId }: UserActor, tunnelId: string | undefined): void {
  if (tunnelId === undefined) return;
  const own = and(eq(tunnels.id, tunnelId), eq(tunnels.orgId, orgId));
  if (db.select({ id: tunnels.id }).from(tunnels).where(own).get() !== undefined) return;
  throw new AppError('not_found', 'Your organization has no tunnel with this id. Check the id.');
}

/** To search for a value is to learn it, a character at a time. */
function checkHeader(actor: UserActor, { header }: RecordFilter): void {
  if (header?.value === undefined || !isSecret(header.name) || hasRole(actor, 'member')) return;
  throw new AppError(
    'forbidden',
    'Your role does not include credentials and cookies of visitors. Search for the header by its name alone.',
  );
}

function masksFor(actor: UserActor, secrets: Secrets): boolean {
  const mayKnow = hasRole(actor, 'member');
  if (secrets === 'wanted' && !mayKnow)
    throw new AppError(
      'forbidden',
      'Your role does not include credentials and cookies of visitors. Leave `secrets` out.',
    );
  return secrets === 'masked' || !mayKnow;
}

function shown(record: InspectedRequest, isMasked: boolean): ShownRequest {
  const show = (head: Uint8Array): RecordedHead => {
    const read = readHead(head);
    return isMasked ? { ...read, fields: masked(read.fields) } : read;
  };
  return {
    record,
    request: show(record.requestHead),
    response: record.responseHead === null ? null : show(record.responseHead),
  };
}
