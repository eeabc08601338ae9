/**
 * The state of the server as probes and operators see it: a list of checks. What must be asked for is asked for here every two seconds, so that
 * a probe costs no query and waits for nothing. Started by server/start.ts; read by its routes.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { DescriptorFigures } from '../../base/process/descriptor-watch.ts';
import type { Logger } from '../../base/log.ts';
import type { NodeControl, NodePulse } from '../../plane/link.ts';
import { count, min } from 'drizzle-orm';
import { outgoingMails } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import type { RecordStore } from '../db/usage/records.ts';
import { type Actor, allowOperator } from '../core/rules/actor.ts';
import type { Backups } from '../backups/service.ts';
import type { Certificates } from '../certificates/service.ts';
import type { Instance } from '../core/instance.ts';
import type { Keys } from '../core/secrets/keys.ts';
import type { DiskWatch } from './disk-watch.ts';
import * as checks from './health-checks.ts';
import type { JobTimes } from '../core/job-times.ts';

const LOOK_MS = 2_000;
/** Certificates that end first: more than one that has ended is no other news. */
const MAX_CERTIFICATES = 10;

/** Without these the server is not ready: nothing can be changed, or no visitor can be served. */
const NEEDED: ReadonlySet<string> = new Set(['database', 'keys', 'data_node']);

export interface Report {
  readonly checks: readonly checks.Check[];
  /** All checks are `ok`. */
  readonly isWell: boolean;
  readonly isReady: boolean;
}

export interface HealthDeps {
  readonly store: Pick<Store, 'clock' | 'db' | 'look' | 'state'>;
  readonly disk: Pick<DiskWatch, 'state'>;
  readonly records: Pick<RecordStore, 'stats'>;
  readonly recordsRequests: boolean;
  readonly nodes: Pick<NodeControl, 'connections' | 'pulse'>;
  readonly certificates: Pick<Certificates, 'ends'>;
  readonly keys: Pick<Keys, 'signing'>;
  readonly instance: Pick<Instance, 'unreadable'>;
  readonly jobTimes: JobTimes;
  readonly backups: Pick<Backups, 'status'>;
  readonly dataDir: string;
  /** Of this program; older agents are reported. */
  readonly version: string;
  readonly log: Logger;
}

/** What the last look has found out. */
interface Found {
  readonly pulse: NodePulse | undefined;
  readonly mail: { readonly waiting: number; readonly oldestMs: number };
  readonly acme: ReturnType<Certificates['ends']>['first'];
}

export class Health {
  readonly #deps: HealthDeps;
  readonly #clock: Clock;
  #found: Found = { pulse: undefined, mail: { waiting: 0, oldestMs: 0 }, acme: [] };
  #looking: Promise<void> | undefined;
  #descriptors: { readonly figures: DescriptorFigures } | undefined;
  #logLines: { readonly lost: number; readonly isLosing: boolean } = { lost: 0, isLosing: false };

  constructor(deps: HealthDeps) {
    this.#deps = deps;
    this.#clock = deps.store.clock;
  }

  /** Looks now and every two seconds; returns the stop. `logLines`: how many lines of the log are lost, kept up to date by its writer. */
  start(logLines = this.#logLines): () => void {
    this.#logLines = logLines;
    void this.look();
    const timer = setInterval(() => void this.look(), LOOK_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** A server runs in this process, and these descriptors are its own. Returns the end of that. */
  watch(descriptors: { readonly figures: DescriptorFigures }): () => void {
    this.#descriptors = descriptors;
    return () => {
      this.#descriptors = undefined;
    };
  }

  /** Never rejects. One that is under way is waited for in place of another. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** As of the last look. */
  report(): Report {
    const { store, disk, records, recordsRequests, keys, instance, jobTimes, backups, dataDir, nodes, version } =
      this.#deps;
    const { pulse, mail, acme } = this.#found;
    const list = [
      checks.database(store.state, dataDir),
      checks.diskSpace(disk.state, dataDir),
      checks.dataNode(pulse),
      checks.keys(keys),
      checks.settings(instance.unreadable),
      checks.recording(recordsRequests, records.stats()),
      checks.certificates(pulse, acme, this.#clock.now()),
      checks.mail(mail),
      checks.jobs(jobTimes.list()),
      checks.backups(backups.status, this.#clock.now()),
      checks.log(this.#logLines),
      checks.fileDescriptors(this.#descriptors?.figures),
      checks.agents(
        nodes.connections().map((one) => one.version),
        version,
      ),
    ];
    return {
      checks: list,
      isWell: list.every(({ status }) => status === 'ok'),
      isReady: list.every(({ name, status }) => status !== 'fail' || !NEEDED.has(name)),
    };
  }

  /** The same for those who run the server. Throws `forbidden`. */
  fullReport(actor: Actor): Report {
    allowOperator(actor);
    return this.report();
  }

  /** Lines of the log that were lost since the start. */
  get lostLogLines(): number {
    return this.#logLines.lost;
  }

  async #look(): Promise<void> {
    const { store, nodes, certificates, log } = this.#deps;
    store.look();
    const pulse = await nodes.pulse();
    this.#found = { ...this.#found, pulse };
    if (store.state.kind === 'failed') return;
    try {
      this.#found = { pulse, mail: this.#mail(), acme: certificates.ends(MAX_CERTIFICATES).first };
    } catch (error) {
      log.debug({ cause: messageOf(error) }, 'could not read the email queue and the certificates');
    }
  }

  #mail(): Found['mail'] {
    const { db } = this.#deps.store;
    const row = db
      .select({ waiting: count(), oldest: min(outgoingMails.createdAt) })
      .from(outgoingMails)
      .get();
    const now = this.#clock.now();
    return { waiting: row?.waiting ?? 0, oldestMs: Math.max(0, now - (row?.oldest ?? now)) };
  }
}
