/**
 * Everything that an operator's alarms are made of: the data nodes, this process, and the queues, files, certificates and jobs of the control
 * plane. Called by its routes and by the listener for scrapers (server/metrics/metrics-listener.ts), which make text of it.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { count, min } from 'drizzle-orm';
import { AppError, codeOf } from '../../base/errors.ts';
import type { DescriptorFigures } from '../../base/process/descriptor-watch.ts';
import type { ProcessFigures } from '../../base/process/process-watch.ts';
import type { EdgeStats } from '../../plane/edge-stats.ts';
import type { NodeControl } from '../../plane/link.ts';
import { outgoingMails } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import type { RecordStats, RecordStore } from '../db/usage/records.ts';
import { type Actor, allowOperator } from '../core/rules/actor.ts';
import type { Exporter, ExporterStats } from '../organizations/export/exporter.ts';
import type { Backups, BackupStatus } from '../backups/service.ts';
import type { Certificates, CertificateEnds } from '../certificates/service.ts';
import type { FeedStats, LiveFeed } from '../inspector/live-feed.ts';
import type { Forwarder, ForwardStats } from '../webhooks/forwarder.ts';
import type { Durations, LatencyTotals } from '../metrics/latency/totals.ts';
import type { Mailbox } from '../webhooks/mailbox.ts';
import type { RefusalReason, Refusals } from '../webhooks/refusals.ts';
import type { Drains, DrainStats } from '../core/drains.ts';
import type { Passwords } from '../core/secrets/passwords.ts';
import type { DiskState, DiskWatch } from './disk-watch.ts';
import type { Health, Report } from './health.ts';
import type { JobTime, JobTimes } from '../core/job-times.ts';

/** Certificates that are listed by name, those that end first; of the others only how many there are. */
const MAX_CERTIFICATES = 1_000;
/** Files of the data folder, as metrics name them. The last two are there once something was recorded. */
const FILES = { main: 'culvert.db', main_wal: 'culvert.db-wal', usage: 'usage.db', usage_wal: 'usage.db-wal' } as const;

export interface ServerFigures {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly process: ProcessFigures;
  readonly descriptors: DescriptorFigures;
  readonly edge: EdgeStats;
  /** Of requests since the start. */
  readonly durations: Durations;
  readonly passwordsWaiting: number;
  readonly feed: FeedStats;
  readonly records: RecordStats;
  readonly mail: { readonly waiting: number; readonly oldestMs: number };
  readonly changes: DrainStats;
  readonly webhooks: ForwardStats & {
    readonly readers: number;
    readonly refused: Readonly<Record<RefusalReason, number>>;
  };
  readonly certificates: CertificateEnds;
  /** Bytes; what is not there is left out. */
  readonly files: Readonly<Record<string, number>>;
  readonly jobs: readonly JobTime[];
  readonly health: Report;
  /** Since the start. */
  readonly lostLogLines: number;
  readonly disk: DiskState;
  readonly exports: ExporterStats;
  /** null: it is off. */
  readonly serverExport: ExporterStats | null;
  /** null: it is off. */
  readonly accessLog: AccessLogFigures | null;
  readonly backups: BackupStatus;
}

export interface OperatorMetricsDeps {
  readonly store: Store;
  readonly nodes: Pick<NodeControl, 'stats'>;
  readonly latencyTotals: Pick<LatencyTotals, 'server'>;
  readonly passwords: Pick<Passwords, 'waiting'>;
  readonly certificates: Pick<Certificates, 'endingFirst'>;
  readonly feed: Pick<LiveFeed, 'stats'>;
  readonly records: Pick<RecordStore, 'stats'>;
  readonly drains: Pick<Drains, 'stats'>;
  readonly forwarder: Pick<Forwarder, 'stats'>;
  readonly mailbox: Pick<Mailbox, 'waiting'>;
  readonly refusals: Pick<Refusals, 'stats'>;
  readonly jobTimes: JobTimes;
  readonly health: Pick<Health, 'fullReport' | 'lostLogLines'>;
  readonly disk: Pick<DiskWatch, 'state'>;
  readonly exporter: Pick<Exporter, 'stats'>;
  readonly backups: Pick<Backups, 'status'>;
  readonly dataDir: string;
}

/** Lines of the access log, since the start. */
export interface AccessLogFigures {
  readonly written: number;
  readonly dropped: number;
  readonly failedRotations: number;
}

interface Watches {
  /** null, or left out: it is off. */
  readonly accessLog?: { stats(): AccessLogFigures } | null;
  readonly serverExport?: { stats(): ExporterStats } | null;
  readonly process: { look(): ProcessFigures };
  readonly descriptors: { readonly figures: DescriptorFigures };
}

export class OperatorMetrics {
  readonly #deps: OperatorMetricsDeps;
  #watches: Watches | undefined;

  constructor(deps: OperatorMetricsDeps) {
    this.#deps = deps;
  }

  /** A server runs in this process from now on, and these watch it. Returns the end of that. */
  attach(watches: Watches): () => void {
    this.#watches = watches;
    return () => {
      this.#watches = undefined;
    };
  }

  /** Throws `forbidden`, and `unavailable` when no server runs: `culvert admin` without one. */
  async figures(actor: Actor): Promise<ServerFigures> {
    allowOperator(actor);
    const { store, nodes, passwords, certificates, feed, records, jobTimes, health, disk, dataDir } = this.#deps;
    const { drains, forwarder, mailbox, refusals, backups, exporter } = this.#deps;
    const edge = await nodes.stats();
    const watches = this.#watches;
    if (edge === undefined || watches === undefined)
      throw new AppError(
        'unavailable',
        'The server is not running, so there are no metrics. Start it with `culvert serve`.',
      );
    const now = store.clock.now();
    const mail = store.db
      .select({ waiting: count(), oldest: min(outgoingMails.createdAt) })
      .from(outgoingMails)
      .get();
    const figures = {
      now,
      process: watches.process.look(),
      descriptors: watches.descriptors.figures,
      edge,
      durations: this.#deps.latencyTotals.server,
      passwordsWaiting: passwords.waiting,
      feed: feed.stats(),
      records: records.stats(),
      mail: { waiting: mail?.waiting ?? 0, oldestMs: Math.max(0, now - (mail?.oldest ?? now)) },
      changes: drains.stats(),
      webhooks: { ...forwarder.stats(), readers: mailbox.waiting, refused: refusals.stats() },
      certificates: certificates.endingFirst(actor, MAX_CERTIFICATES),
      jobs: jobTimes.list(),
      health: health.fullReport(actor),
      lostLogLines: health.lostLogLines,
      disk: disk.state,
      exports: exporter.stats(),
      serverExport: watches.serverExport?.stats() ?? null,
      accessLog: watches.accessLog?.stats() ?? null,
      backups: backups.status,
    };
    return { ...figures, files: await sizesIn(dataDir) };
  }
}

async function sizesIn(dataDir: string): Promise<Record<string, number>> {
  const sizes = await Promise.all(
    Object.entries(FILES).map(async ([name, file]) => [name, await sizeOf(join(dataDir, file))] as const),
  );
  return Object.fromEntries(sizes.filter((entry): entry is readonly [string, number] => entry[1] !== undefined));
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
