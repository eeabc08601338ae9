/** Recorded requests: lists, live feed, exports, replay, and how long they are kept. */
import { and, eq, inArray, lt } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import type { ForgetStep } from '../core/retention.ts';
import type { Slice } from '../core/slice.ts';
import { after } from '../db/events.ts';
import { inspectorSettings as settingsTable, tunnels as tunnelsTable } from '../db/schema.ts';
import { orgDeleted } from '../organizations/events.ts';
import { tunnels } from '../tunnels/index.ts';
import { mountInspectorExports } from './export/routes.ts';
import { LiveFeed } from './live-feed.ts';
import { RecordSweep } from './record-sweep.ts';
import { mountInspectorReplay } from './replay/routes.ts';
import { type ReplayRules, Replays } from './replay/service.ts';
import { RecordMasks } from './masking/record-masks.ts';
import { mountInspector } from './routes.ts';
import { Inspector } from './service.ts';
import { mountInspectorSettings } from './settings/routes.ts';
import { InspectorSettings } from './settings/service.ts';

export interface InspectorOptions {
  /** Are requests recorded at all (`inspector.enabled`)? */
  readonly recordsRequests: boolean;
  /** Whose recorded requests may be sent again (`inspector.replay`, `inspector.replay_allow`). */
  readonly replay: ReplayRules;
}

export interface InspectorServices {
  readonly inspector: Inspector;
  readonly inspectorSettings: InspectorSettings;
  readonly liveFeed: LiveFeed;
  readonly recordMasks: RecordMasks;
  readonly recordSweep: RecordSweep;
  readonly replays: Replays;
  /** Of an organization that was deleted. What fails is done by the next sweep. */
  readonly forgetRecords: (orgId: string) => void;
}

export const inspector: Slice<InspectorServices, InspectorOptions> = {
  name: 'inspector',
  service: ({ store, records, nodes, edgeDomain, log }, use, { recordsRequests, replay: rules }) => ({
    inspector: new Inspector({ store, records, nodes, isOn: recordsRequests }),
    inspectorSettings: new InspectorSettings({ store }),
    liveFeed: new LiveFeed({ store }),
    recordMasks: new RecordMasks({ store, log }),
    recordSweep: new RecordSweep({ store, records, log }),
    replays: new Replays({ store, nodes, routes: use(tunnels).tunnelRoutes, records, rules, edgeDomain }),
    forgetRecords: (orgId) => void records.forgetOrganization(orgId).catch(() => {}),
  }),
  routes: (api, services, { version }) => {
    // Its paths are read before those of the others, where `har` would be an id.
    mountInspectorExports(api, { ...services, version });
    mountInspector(api, services);
    mountInspectorReplay(api, services);
    mountInspectorSettings(api, services);
  },
  on: ({ forgetRecords }) => [after(orgDeleted, ({ id }) => forgetRecords(id))],
  forget: [forgetSettings],
  jobs: ({ recordSweep }) => [
    { name: 'retention of records', everyMs: 60_000, run: (stopping) => recordSweep.run(stopping) },
  ],
};

/** Records that were under way when their tunnel was deleted are still masked. */
const SETTINGS_MS = DAY_MS;
const BATCH = 1_000;

function forgetSettings({ db, now }: Parameters<ForgetStep>[0]): void {
  const dead = db
    .select({ id: settingsTable.tunnelId })
    .from(settingsTable)
    .innerJoin(
      tunnelsTable,
      and(eq(tunnelsTable.id, settingsTable.tunnelId), lt(tunnelsTable.deletedAt, now - SETTINGS_MS)),
    )
    .limit(BATCH);
  db.delete(settingsTable).where(inArray(settingsTable.tunnelId, dead)).run();
}
