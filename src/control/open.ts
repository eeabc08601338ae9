/**
 * Puts the control plane together: slices, and what is no slice yet part by part (control/parts/). Called by server/start.ts, by server/admin.ts and by tests.
 * Opens no socket and starts no timer.
 */
import type { Link } from '../plane/link.ts';
import { Slices } from './core/slice.ts';
import type { Store } from './db/tx.ts';
import type { RecordStore } from './db/usage/records.ts';
import { inProcessLink } from './link.ts';
import type { Nodes } from './core/link/nodes.ts';
import type { ControlOptions } from './options.ts';
import { registerDrains } from './parts/drains.ts';
import { openCore } from './parts/core.ts';
import { partHandlers } from './parts/handlers.ts';
import { type NetworkServices, openNetworks } from './parts/networks.ts';
import { type PeopleServices, openPeople } from './parts/people.ts';
import { openRelays, type RelayServices } from './parts/relays.ts';
import { type TokenServices, openTokens } from './parts/tokens.ts';
import { type TunnelServices, openTunnels } from './parts/tunnels.ts';
import { projects } from './projects/index.ts';
import type { Billing } from './billing/service.ts';
import { Inspector } from './inspector/service.ts';
import { LiveFeed } from './inspector/live-feed.ts';
import { RecordSweep } from './inspector/record-sweep.ts';
import type { Keys } from './core/secrets/keys.ts';
import type { Sealer } from './core/secrets/sealing.ts';
import type { Outbox } from './core/mail/outbox.ts';
import { DiskWatch } from './operator/disk-watch.ts';
import { Health } from './operator/health.ts';
import { JobTimes } from './core/job-times.ts';
import { OperatorMetrics } from './operator/metrics.ts';
import type { Drains } from './core/drains.ts';
import { Retention } from './core/retention.ts';

export type { ControlOptions } from './options.ts';

/** All slices, from the ground up. */
const SLICES = [projects];

export interface ControlPlane
  extends TokenServices,
    Omit<TunnelServices, 'claims' | 'usage' | 'visitorKey'>,
    Omit<RelayServices, 'attachments' | 'relaySlices'>,
    NetworkServices,
    PeopleServices {
  readonly store: Store;
  readonly slices: Slices;
  /** Large changes in slices: woken by a start. */
  readonly drains: Drains;
  /** Closed with all else, or earlier to store records that wait. */
  readonly records: RecordStore;
  readonly sealer: Sealer;
  readonly keys: Keys;
  readonly serverId: string;
  readonly outbox: Outbox;
  readonly billing: Billing;
  readonly retention: Retention;
  readonly jobTimes: JobTimes;
  readonly disk: DiskWatch;
  readonly health: Health;
  readonly operatorMetrics: OperatorMetrics;
  readonly recordSweep: RecordSweep;
  readonly inspector: Inspector;
  readonly liveFeed: LiveFeed;
  readonly nodes: Nodes;
  readonly link: Link;
  close(): void;
}

/** Opens the data folder's database, migrates it, and builds the services. Throws with what to do when the folder is not usable. */
export function openControl(options: ControlOptions): ControlPlane {
  const core = openCore(options);
  const { store, records, sealer, keys, serverId, outbox, billing, nodes, publisher, log } = core;
  try {
    const tokens = openTokens(core);
    const { clock } = core;
    const disk = new DiskWatch({ dataDir: options.dataDir, minFree: options.minFree, clock, log });
    const liveFeed = new LiveFeed({ store });
    const jobTimes = new JobTimes({ clock: core.clock });
    const { claims, usage, visitorKey, ...tunnels } = openTunnels(core, tokens);
    const networks = openNetworks(core);
    const { attachments, relaySlices, ...ofRelays } = openRelays(core);
    const people = openPeople(core, { tokenEnds: tokens.tokenEnds, owned: { ...tunnels, ...networks } });
    const slices = new Slices(core, SLICES);
    store.handleEvents([...slices.handlers(), ...partHandlers({ ...tokens, ...tunnels })]);
    registerDrains(core, { ...tokens, ...tunnels, ...networks, ...people });
    const health = new Health({
      store,
      disk,
      records,
      recordsRequests: options.recordsRequests,
      nodes,
      certificates: tunnels.certificates,
      keys,
      jobTimes,
      dataDir: options.dataDir,
      log,
    });
    return {
      store,
      slices,
      drains: core.drains,
      records,
      sealer,
      keys,
      serverId,
      outbox,
      billing,
      ...tokens,
      ...tunnels,
      ...ofRelays,
      ...networks,
      ...people,
      retention: new Retention({ store }),
      jobTimes,
      disk,
      health,
      operatorMetrics: new OperatorMetrics({
        store,
        nodes,
        passwords: core.passwords,
        certificates: tunnels.certificates,
        feed: liveFeed,
        records,
        drains: core.drains,
        forwarder: tunnels.forwarder,
        mailbox: tunnels.mailbox,
        refusals: tunnels.refusals,
        jobTimes,
        health,
        disk,
        dataDir: options.dataDir,
      }),
      recordSweep: new RecordSweep({ store, records, log }),
      inspector: new Inspector({ store, records, nodes, isOn: options.recordsRequests }),
      liveFeed,
      nodes,
      link: inProcessLink({
        publisher,
        tunnels: tunnels.tunnels,
        keys,
        claims,
        attachments,
        relaySlices,
        usage,
        records,
        liveFeed,
        certificates: tunnels.certificates,
        visitorKey,
        log,
      }),
      close: () => {
        core.drains.close();
        core.passwords.close();
        void records.close();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
