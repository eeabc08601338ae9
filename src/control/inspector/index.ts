/** Recorded requests: lists, live feed, exports, replay, and how long they are kept. */
import type { Slice } from '../core/slice.ts';
import { after } from '../db/events.ts';
import { orgDeleted } from '../organizations/events.ts';
import { tunnels } from '../tunnels/index.ts';
import { mountInspectorExports } from './export/routes.ts';
import { LiveFeed } from './live-feed.ts';
import { RecordSweep } from './record-sweep.ts';
import { mountInspectorReplay } from './replay/routes.ts';
import { type ReplayRules, Replays } from './replay/service.ts';
import { mountInspector } from './routes.ts';
import { Inspector } from './service.ts';

export interface InspectorOptions {
  /** Are requests recorded at all (`inspector.enabled`)? */
  readonly recordsRequests: boolean;
  /** Whose recorded requests may be sent again (`inspector.replay`, `inspector.replay_allow`). */
  readonly replay: ReplayRules;
}

export interface InspectorServices {
  readonly inspector: Inspector;
  readonly liveFeed: LiveFeed;
  readonly recordSweep: RecordSweep;
  readonly replays: Replays;
  /** Of an organization that was deleted. What fails is done by the next sweep. */
  readonly forgetRecords: (orgId: string) => void;
}

export const inspector: Slice<InspectorServices, InspectorOptions> = {
  name: 'inspector',
  service: ({ store, records, nodes, edgeDomain, log }, use, { recordsRequests, replay: rules }) => ({
    inspector: new Inspector({ store, records, nodes, isOn: recordsRequests }),
    liveFeed: new LiveFeed({ store }),
    recordSweep: new RecordSweep({ store, records, log }),
    replays: new Replays({ store, nodes, routes: use(tunnels).tunnelRoutes, records, rules, edgeDomain }),
    forgetRecords: (orgId) => void records.forgetOrganization(orgId).catch(() => {}),
  }),
  routes: (api, services, { version }) => {
    // Its paths are read before those of the others, where `har` would be an id.
    mountInspectorExports(api, { ...services, version });
    mountInspector(api, services);
    mountInspectorReplay(api, services);
  },
  on: ({ forgetRecords }) => [after(orgDeleted, ({ id }) => forgetRecords(id))],
  jobs: ({ recordSweep }) => [
    { name: 'retention of records', everyMs: 60_000, run: (stopping) => recordSweep.run(stopping) },
  ],
};
