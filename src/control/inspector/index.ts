/** Recorded requests: lists, live feed, exports, replay, and how long they are kept. */
import { and, eq, inArray, lt } from 'drizzle-orm';
import { DAY_MS } from '../../base/clock.ts';
import { forgetRows, type ForgetStep } from '../core/retention.ts';
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import {
  inspectorSettings as settingsTable,
  inspectorShares as sharesTable,
  tunnels as tunnelsTable,
} from '../db/schema.ts';
import { orgDeleted, orgForgotten } from '../organizations/events.ts';
import { tunnels } from '../tunnels/index.ts';
import type { Tx } from '../db/tx.ts';
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
import { mountShares } from './shares/routes.ts';
import { Shares } from './shares/service.ts';

export interface InspectorOptions {
  /** Are requests recorded at all (`inspector.enabled`)? */
  readonly recordsRequests: boolean;
  /** Are frames of WebSockets recorded where a tunnel says nothing (`inspector.websocket_frames`)? */
  readonly websocketFrames: boolean;
  /** Whose recorded requests may be sent again (`inspector.replay`, `inspector.replay_allow`). */
  readonly replay: ReplayRules;
}

export interface InspectorServices {
  readonly inspector: Inspector;
  readonly inspectorSettings: InspectorSettings;
  readonly liveFeed: LiveFeed;
  readonly recordMasks: RecordMasks;
  readonly recordSweep: RecordSweep;
  readonly shares: Shares;
  readonly replays: Replays;
  /** Of an organization that was deleted. What fails is done by the next sweep. */
  readonly forgetRecords: (orgId: string) => void;
}

export const inspector: Slice<InspectorServices, InspectorOptions> = {
  name: 'inspector',
  service: (
    { store, records, nodes, edgeDomain, log, publisher },
    use,
    { recordsRequests, replay: rules, websocketFrames },
  ) => ({
    inspector: new Inspector({ store, records, nodes, isOn: recordsRequests }),
    inspectorSettings: new InspectorSettings({
      ...{ store, websocketFrames },
      routeEvents: publisher,
      routes: use(tunnels).tunnelRoutes,
    }),
    liveFeed: new LiveFeed({ store }),
    recordMasks: new RecordMasks({ store, log }),
    recordSweep: new RecordSweep({ store, records, log }),
    shares: new Shares({ store, records, nodes }),
    replays: new Replays({ store, nodes, routes: use(tunnels).tunnelRoutes, records, rules, edgeDomain }),
    forgetRecords: (orgId) => void records.forgetOrganization(orgId).catch(() => {}),
  }),
  routes: (api, services, http) => {
    // Its paths are read before those of the others, where `har` would be an id.
    mountInspectorExports(api, { ...services, version: http.version });
    mountShares(api, { ...services, ...http });
    mountInspector(api, services);
    mountInspectorReplay(api, services);
    mountInspectorSettings(api, services);
  },
  on: ({ forgetRecords }) => [
    on(orgDeleted, (tx, { id }) => {
      forgetShares(tx, [id]);
      tx.onCommit(() => forgetRecords(id));
    }),
    on(orgForgotten, (tx, { orgIds }) => forgetShares(tx, orgIds)),
  ],
  forget: [forgetSettings, forgetRows(sharesTable, sharesTable.id, (now) => lt(sharesTable.expiresAt, now))],
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

function forgetShares(tx: Tx, orgIds: readonly string[]): void {
  tx.db
    .delete(sharesTable)
    .where(inArray(sharesTable.orgId, [...orgIds]))
    .run();
}
