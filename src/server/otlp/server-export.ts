/**
 * `[export.otlp]`: what the server sends to the operator's collector. Log records of all finished requests and of the audit log as it grows, and
 * its metrics once a minute. No visitor waits for it.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/limits/within.ts';
import { guardedPost } from '../../base/net/outbound/guarded-post.ts';
import type { AccessEntry } from '../../plane/access-log.ts';
import type { SheetMetric } from '../../control/core/http/metric-sheet.ts';
import { type ExportItem, itemOfRequest } from '../../control/organizations/export/export-items.ts';
import { ExportQueue, type ExportQueueStats } from '../../control/organizations/export/export-queue.ts';
import { ExportRoom } from '../../control/organizations/export/export-room.ts';
import type { Resource } from '../../control/organizations/export/otlp.ts';
import { ofOtlp, sendByOtlp, signalUrl } from '../../control/organizations/export/senders.ts';
import { metricsRequest } from './metrics-request.ts';

const PUMP_MS = 1_000;
/** As OpenTelemetry's own exporters (OTEL_METRIC_EXPORT_INTERVAL). */
const METRICS_MS = 60_000;
const MAX_ITEMS = 20_000;
const LAST_MS = 1_000;
/** The operator's own collector: it is on this machine or beside it, mostly. */
const ANYWHERE = { allowPrivate: true };

export interface ServerExportOptions {
  readonly endpoint: string;
  readonly signals: ReadonlyArray<'logs' | 'metrics'>;
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly resource: Resource;
}

export interface ServerExportDeps {
  /** Audit events behind those that it gave before, as items. */
  readonly nextAudit: () => readonly ExportItem[];
  readonly metrics: () => Promise<readonly SheetMetric[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ServerExport {
  readonly #options: ServerExportOptions;
  readonly #deps: ServerExportDeps;
  readonly #queue: ExportQueue;
  readonly #startedAt: number;
  readonly #timers: NodeJS.Timeout[] = [];
  #auditError: string | null = null;
  #logsError: string | null = null;
  #metricsError: string | null = null;
  #isFailing = false;

  constructor(options: ServerExportOptions, deps: ServerExportDeps) {
    const { clock } = deps;
    this.#options = options;
    this.#deps = deps;
    this.#startedAt = clock.now();
    const send = sendByOtlp(options, ANYWHERE, () => clock.now());
    const share = new ExportRoom(MAX_ITEMS).share();
    this.#queue = new ExportQueue({ send, newId: randomUUID, share, maxWaiting: MAX_ITEMS, clock });
  }

  start(): void {
    const { signals } = this.#options;
    if (signals.includes('logs')) this.#timers.push(setInterval(() => this.pump(), PUMP_MS));
    if (signals.includes('metrics')) this.#timers.push(setInterval(() => void this.sendMetrics(), METRICS_MS));
    for (const timer of this.#timers) timer.unref();
  }

  take(entries: readonly AccessEntry[]): void {
    if (!this.#options.signals.includes('logs')) return;
    for (const entry of entries) {
      const item = itemOfRequest(entry, ['requests']);
      if (item !== null) this.#queue.add(item);
    }
  }

  /** Sends what is due. Never throws: a timer calls it. */
  pump(): void {
    this.#readAudit();
    this.#queue.pump();
    this.#logsError = this.#queue.stats().lastError;
    this.#say();
  }

  /** Values are cumulative: the next ones make up for those that are lost. Never rejects. */
  async sendMetrics(): Promise<void> {
    try {
      const { endpoint, headers, resource } = this.#options;
      const span = { startedAt: this.#startedAt, now: this.#deps.clock.now() };
      const body = metricsRequest(await this.#deps.metrics(), resource, span);
      const all = { ...(await headers()), 'Content-Type': 'application/json' };
      const sent = ofOtlp(await guardedPost(signalUrl(endpoint, 'metrics'), { headers: all, body }, ANYWHERE));
      this.#metricsError = sent.ok ? null : sent.error;
    } catch (error) {
      this.#metricsError = messageOf(error);
    }
    this.#say();
  }

  stats(): ExportQueueStats {
    return this.#queue.stats();
  }

  /** Resolves when no log records are under way. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Tries once more to send what waits, for a second. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#options.signals.includes('logs')) this.pump();
    await within(this.idle(), LAST_MS, { holdsProcess: true });
    this.#queue.close();
  }

  #readAudit(): void {
    try {
      for (const item of this.#deps.nextAudit()) this.#queue.add(item);
      this.#auditError = null;
    } catch (error) {
      const text = messageOf(error);
      if (this.#auditError === null)
        this.#deps.log.error({ error: text }, 'could not read the audit log for the export; retrying');
      this.#auditError = text;
    }
  }

  /** Changes are logged, single failures are not. */
  #say(): void {
    const error = this.#logsError ?? this.#metricsError;
    if ((error !== null) === this.#isFailing) return;
    this.#isFailing = error !== null;
    const { endpoint } = this.#options;
    if (error !== null) this.#deps.log.warn({ endpoint, error }, 'could not export to the collector; retrying');
    else this.#deps.log.info({ endpoint }, 'exporting to the collector again');
  }
}
