/**
 * Sends what organizations export: finished requests as data nodes tell of them, and the audit log behind a cursor. A queue per destination; nothing
 * waits for a receiver but the queue. Called by a job every second.
 */
import { uuidv7 } from 'uuidv7';
import { within } from '../../../base/limits/within.ts';
import type { PostRules } from '../../../base/net/outbound/guarded-post.ts';
import type { AccessEntry } from '../../../plane/access-log.ts';
import { asShown } from '../../audit/service.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import type { Store } from '../../db/tx.ts';
import { itemOfAudit, itemOfRequest } from './export-items.ts';
import { ExportQueue, type ExportQueueStats, type Send } from './export-queue.ts';
import { ExportRoom, type ExportShare } from './export-room.ts';
import { AuditTail } from './audit-tail.ts';
import { allExports, type ExportRow, moveAuditCursor } from './rows.ts';
import { openHeaders, openSecret } from './secrets.ts';
import { sendByOtlp, sendByWebhook } from './senders.ts';

/** Items of all organizations: some hundred megabytes at the very most. */
const MAX_ITEMS = 50_000;
/** Cursors of organizations with nothing new are written down so rarely. */
const CURSORS_MS = 60_000;
/** At the end of the server. */
const LAST_MS = 1_000;

export interface ExporterDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly postRules: PostRules;
}

/** The queues of one organization; undefined: there is no such destination. */
interface Outlets {
  readonly row: ExportRow;
  readonly share: ExportShare;
  readonly otlp: ExportQueue | undefined;
  readonly webhook: ExportQueue | undefined;
}

export interface ExportStatus {
  readonly otlp: ExportQueueStats | null;
  readonly webhook: ExportQueueStats | null;
}

export interface ExporterStats {
  readonly sent: number;
  readonly dropped: number;
  readonly waiting: number;
}

export class Exporter {
  readonly #deps: ExporterDeps;
  readonly #room = new ExportRoom(MAX_ITEMS);
  readonly #outlets = new Map<string, Outlets>();
  /** Of queues that were replaced or removed. */
  #gone = { sent: 0, dropped: 0 };
  readonly #audit: AuditTail;
  #savedMs = 0;

  constructor(deps: ExporterDeps) {
    this.#deps = deps;
    const rows = allExports(deps.store.db);
    for (const row of rows) this.set(row);
    const [first] = rows.map(({ auditCursor }) => auditCursor).sort();
    this.#audit = new AuditTail(deps.store.db, first);
  }

  /** This is what the organization exports from now on. A destination that is as it was keeps its queue. */
  set(row: ExportRow): void {
    const before = this.#outlets.get(row.orgId);
    const isSameOtlp = before?.row.otlpEndpoint === row.otlpEndpoint && before.row.sealedHeaders === row.sealedHeaders;
    const isSameWebhook = before?.row.webhookUrl === row.webhookUrl && before.row.sealedSecret === row.sealedSecret;
    if (!isSameOtlp) this.#retire(before?.otlp);
    if (!isSameWebhook) this.#retire(before?.webhook);
    const share = before?.share ?? this.#room.share();
    this.#outlets.set(row.orgId, {
      row,
      share,
      otlp: isSameOtlp ? before.otlp : this.#queue(this.#otlpOf(row), share),
      webhook: isSameWebhook ? before.webhook : this.#queue(this.#webhookOf(row), share),
    });
  }

  remove(orgId: string): void {
    const before = this.#outlets.get(orgId);
    this.#outlets.delete(orgId);
    this.#retire(before?.otlp);
    this.#retire(before?.webhook);
  }

  /** Organizations whose requests are wanted. */
  exportingOrgs(): readonly string[] {
    const wanted = [...this.#outlets.values()].filter(
      ({ row, otlp, webhook }) =>
        (otlp !== undefined || webhook !== undefined) &&
        (row.events.includes('requests') || row.events.includes('security')),
    );
    return wanted.map(({ row }) => row.orgId);
  }

  /** Finished requests, of all organizations. */
  take(entries: readonly AccessEntry[]): void {
    if (this.#outlets.size === 0) return;
    for (const entry of entries) {
      const to = entry.orgId === null ? undefined : this.#outlets.get(entry.orgId);
      const item = to === undefined ? null : itemOfRequest(entry, to.row.events);
      if (item === null) continue;
      to?.otlp?.add(item);
      to?.webhook?.add(item);
    }
  }

  /** What has come into audit logs, and what is due. Waits for no receiver. */
  run(): void {
    this.#readAudit();
    for (const queue of this.#queues()) queue.pump();
  }

  status(orgId: string): ExportStatus {
    const outlets = this.#outlets.get(orgId);
    return { otlp: outlets?.otlp?.stats() ?? null, webhook: outlets?.webhook?.stats() ?? null };
  }

  stats(): ExporterStats {
    let { sent, dropped } = this.#gone;
    let waiting = 0;
    for (const queue of this.#queues()) {
      const of = queue.stats();
      sent += of.sent;
      dropped += of.dropped;
      waiting += of.waiting;
    }
    return { sent, dropped, waiting };
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#queues().map((queue) => queue.idle()));
  }

  /** Tries once more to send what waits, for a second. */
  async close(): Promise<void> {
    for (const queue of this.#queues()) queue.pump();
    await within(this.idle(), LAST_MS, { holdsProcess: true });
    for (const queue of this.#queues()) queue.close();
  }

  #readAudit(): void {
    const { store } = this.#deps;
    const moved = new Set<string>();
    for (const event of this.#audit.next()) {
      const to = event.orgId === null ? undefined : this.#outlets.get(event.orgId);
      if (to === undefined || event.id <= to.row.auditCursor) continue;
      const item = itemOfAudit(asShown(event), to.row.events);
      if (item === null) continue;
      to.otlp?.add(item);
      to.webhook?.add(item);
      moved.add(to.row.orgId);
    }
    const isDue = store.clock.monotonic() - this.#savedMs >= CURSORS_MS;
    if (isDue) this.#save([...this.#outlets.keys()]);
    else if (moved.size > 0) this.#save([...moved]);
    if (isDue) this.#savedMs = store.clock.monotonic();
  }

  /** What was handed on is done with: a crash loses what waits, and repeats nothing. */
  #save(orgIds: readonly string[]): void {
    if (orgIds.length > 0) this.#deps.store.inTx((tx) => moveAuditCursor(tx, orgIds, this.#audit.cursor));
  }

  #queues(): ExportQueue[] {
    return [...this.#outlets.values()].flatMap(({ otlp, webhook }) =>
      [otlp, webhook].filter((queue) => queue !== undefined),
    );
  }

  #queue(send: Send | undefined, share: ExportShare): ExportQueue | undefined {
    if (send === undefined) return undefined;
    return new ExportQueue({ send, newId: uuidv7, share, clock: this.#deps.store.clock });
  }

  #retire(queue: ExportQueue | undefined): void {
    if (queue === undefined) return;
    queue.close();
    const { sent, dropped } = queue.stats();
    this.#gone = { sent: this.#gone.sent + sent, dropped: this.#gone.dropped + dropped };
  }

  #otlpOf(row: ExportRow): Send | undefined {
    const { store, sealer, postRules } = this.#deps;
    if (row.otlpEndpoint === null) return undefined;
    const resource = { 'service.name': 'culvert', 'culvert.org_id': row.orgId };
    const target = { endpoint: row.otlpEndpoint, headers: () => openHeaders(sealer, row), resource };
    return sendByOtlp(target, postRules, () => store.clock.now());
  }

  #webhookOf(row: ExportRow): Send | undefined {
    const { store, sealer, postRules } = this.#deps;
    const { webhookUrl: url, sealedSecret } = row;
    if (url === null || sealedSecret === null) return undefined;
    // Opened at each attempt: a secret that can't be read fails there, and stops no start.
    return async (items, id) => {
      const secret = openSecret(sealer, row) ?? '';
      return sendByWebhook({ url, secret }, postRules, () => store.clock.now())(items, id);
    };
  }
}
