/** The core of the control plane: database, keys, mail and the link to the data nodes. control/open.ts opens it before all services. */
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { migrate } from '../db/migrate.ts';
import { MIGRATIONS } from '../db/migrations.gen.ts';
import { isEmpty, openDatabase, openStore } from '../db/open.ts';
import { refuseRemains, refuseRemainsBeside } from '../db/remains.ts';
import { Store } from '../db/tx.ts';
import type { RecordStore } from '../db/usage/records.ts';
import { UsageStore } from '../db/usage/usage-store.ts';
import { Nodes } from '../core/link/nodes.ts';
import type { ControlOptions } from '../options.ts';
import { GithubProvider } from '../providers/github.ts';
import { OidcProvider } from '../providers/oidc.ts';
import { Publisher } from '../core/link/publisher.ts';
import { nextEpoch } from '../db/epoch.ts';
import type { Billing } from '../billing/service.ts';
import { openBilling } from '../billing/open-billing.ts';
import { type Keys, loadKeys } from '../core/secrets/keys.ts';
import { type Sealer, makeSealKey, openSealer } from '../core/secrets/sealing.ts';
import { loadServerId } from '../core/secrets/server-id.ts';
import { Outbox } from '../core/mail/outbox.ts';
import { Passwords } from '../core/secrets/passwords.ts';
import { Drains } from '../core/drains.ts';
import { Challenges } from '../auth/sessions/challenges.ts';
import { Spend } from '../access-keys/spend.ts';
import { Maintenance } from '../tunnels/maintenance.ts';
import { OwnLabels } from '../subdomains/own-labels.ts';
import { RouteMaker } from '../tunnels/route-maker.ts';

/** What all services of the control plane need. */
export interface Core {
  readonly options: ControlOptions;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly keys: Keys;
  readonly serverId: string;
  /** Requests that were recorded. */
  readonly records: RecordStore;
  readonly outbox: Outbox;
  readonly nodes: Nodes;
  readonly publisher: Publisher;
  readonly passwords: Passwords;
  readonly challenges: Challenges;
  /** Large changes in slices. */
  readonly drains: Drains;
  readonly maintenance: Maintenance;
  readonly ownLabels: OwnLabels;
  readonly routes: RouteMaker;
  readonly spend: Spend;
  readonly billing: Billing;
  /** Identity providers that are set up. */
  readonly providers: { readonly google: OidcProvider | null; readonly github: GithubProvider | null };
  /** Names that this server has for itself. */
  readonly ownHosts: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the data folder's database and migrates it. Throws with what to do when the folder is not usable. */
export function openCore(options: ControlOptions): Core {
  const { log, clock = systemClock, names, apiUrl, edgeDomain, agentsHost, oauth } = options;
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
    const maintenance = new Maintenance();
    const ownHosts = () => [edgeDomain.toLowerCase(), new URL(apiUrl()).hostname];
    const ownUrls = () => [apiUrl(), oauth.google?.issuer, oauth.github?.authorizeUrl];
    const ownLabels = new OwnLabels({ edgeDomain, agentsHost, urls: ownUrls });
    const routes = new RouteMaker({ names, maintenance, apiUrl, ownLabels, ownHosts });
    return {
      options,
      store,
      sealer,
      keys,
      serverId: loadServerId(store),
      records,
      outbox: new Outbox({ sealer, log }),
      nodes: new Nodes(),
      publisher,
      passwords: new Passwords(options.makeHasher),
      challenges: new Challenges({ keys, clock, issuer: apiUrl, sealer }),
      drains,
      maintenance,
      ownLabels,
      routes,
      spend: new Spend({ prices: options.prices }),
      billing: openBilling(options.billing, {
        store,
        keys,
        clock,
        issuer: apiUrl,
        apiUrl,
        routeEvents: publisher,
        routes,
        drains,
        log,
      }),
      providers: {
        google: oauth.google === null ? null : new OidcProvider(oauth.google, clock),
        github: oauth.github === null ? null : new GithubProvider(oauth.github),
      },
      ownHosts,
      clock,
      log,
    };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}
