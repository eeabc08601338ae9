/** The core of the control plane: database, keys, mail and the link to the data nodes. control/open.ts opens it before all features. */
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { migrate } from '../db/migrate.ts';
import { MIGRATIONS } from '../db/migrations.gen.ts';
import { isEmpty, openDatabase, openStore } from '../db/open.ts';
import { refuseRemains, refuseRemainsBeside } from '../db/remains.ts';
import { Store } from '../db/tx.ts';
import type { RecordStore } from '../db/usage/records.ts';
import { UsageStore } from '../db/usage/usage-store.ts';
import { AccessFeed } from './link/access-feed.ts';
import { Nodes } from './link/nodes.ts';
import { Publisher } from './link/publisher.ts';
import { nextEpoch } from '../db/epoch.ts';
import { type Keys, loadKeys } from './secrets/keys.ts';
import { type Sealer, makeSealKey, openSealer } from './secrets/sealing.ts';
import { loadServerId } from './secrets/server-id.ts';
import { Outbox } from './mail/outbox.ts';
import { type PasswordHasher, Passwords } from './secrets/passwords.ts';
import { EmailLimit } from './mail/email-limit.ts';
import type { PublicNames } from './link/route-events.ts';
import type { MinFree } from '../db/disk/floor.ts';
import { Drains } from './drains.ts';
import { Instance, type InstanceOptions } from './instance.ts';
import { JobTimes } from './job-times.ts';

/** Options that concern more than one feature. */
export interface CoreOptions extends InstanceOptions {
  readonly dataDir: string;
  readonly names: PublicNames;
  /** `edge.domain`. */
  readonly edgeDomain: string;
  /** What recorded requests may take on the disk (`inspector.max_stored_mb`). */
  readonly maxRecordedBytes: number;
  /** So much of the disk stays free of them, bytes (`inspector.min_free_mb`). */
  readonly minFree: MinFree;
  /** Public URL of the API; asked at each use, for a listener on port 0 learns its own late. */
  readonly apiUrl: () => string;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Computes argon2id; threads of its own unless it is given. Called once, and closed with all else. */
  readonly makeHasher?: (() => PasswordHasher) | undefined;
}

/** What the services of all features need. */
export interface Core {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly keys: Keys;
  readonly serverId: string;
  /** Requests that were recorded. */
  readonly records: RecordStore;
  /** Finished requests, where they are logged or exported. */
  readonly accessFeed: AccessFeed;
  readonly outbox: Outbox;
  /** One for all emails that strangers can cause. */
  readonly emailLimit: EmailLimit;
  readonly nodes: Nodes;
  readonly publisher: Publisher;
  readonly passwords: Passwords;
  /** Large changes in slices. */
  readonly drains: Drains;
  readonly jobTimes: JobTimes;
  readonly dataDir: string;
  /** Settings that may change while the server runs. */
  readonly instance: Instance;
  readonly names: PublicNames;
  readonly edgeDomain: string;
  readonly apiUrl: () => string;
  /** Names that this server has for itself. */
  readonly ownHosts: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the data folder's database and migrates it. Throws with what to do when the folder is not usable. */
export function openCore(options: CoreOptions): Core {
  const { log, clock = systemClock, names, apiUrl, edgeDomain } = options;
  refuseRemains(options.dataDir);
  const sqlite = openDatabase(options.dataDir);
  try {
    // Before the first table: from then on a key that is missing is a key that was lost, and a folder without it is left as it is.
    if (isEmpty(sqlite)) {
      refuseRemainsBeside(options.dataDir);
      makeSealKey(options.dataDir);
    }
    const sealer = openSealer(options.dataDir);
    migrate(sqlite, {
      dataDir: options.dataDir,
      migrations: MIGRATIONS,
      nowMs: clock.now(),
      log,
    });
    const records = new UsageStore({
      dataDir: options.dataDir,
      maxBytes: options.maxRecordedBytes,
      minFree: options.minFree,
      clock,
      log,
    });
    const store = new Store(openStore(sqlite, options.dataDir), { clock, log, onFull: () => records.giveWay() });
    const keys = loadKeys(store, sealer);
    const publisher = new Publisher(nextEpoch(store), log);
    keys.onChange(() => publisher.setAccessKeys(keys.accessKeys()));
    const drains = new Drains({ store, log });
    return {
      store,
      sealer,
      keys,
      serverId: loadServerId(store),
      records,
      accessFeed: new AccessFeed(log),
      outbox: new Outbox({ sealer, log }),
      emailLimit: new EmailLimit(clock),
      nodes: new Nodes(),
      publisher,
      passwords: new Passwords(options.makeHasher),
      drains,
      jobTimes: new JobTimes({ clock }),
      dataDir: options.dataDir,
      instance: new Instance(options, { store, sealer, clock, log }),
      names,
      edgeDomain,
      apiUrl,
      ownHosts: () => [edgeDomain.toLowerCase(), new URL(apiUrl()).hostname],
      clock,
      log,
    };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}
