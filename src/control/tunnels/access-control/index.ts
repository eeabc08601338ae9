/** Access to a tunnel: a password, and maintenance. Also the routes of tunnels, which show both. */
import { inArray } from 'drizzle-orm';
import { certificates } from '../../certificates/index.ts';
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { basicGates as table } from '../../db/schema.ts';
import { agentLeft, tunnelsDeleted } from '../events.ts';
import { tunnels } from '../index.ts';
import { mountTunnels } from '../routes.ts';
import { mountMaintenance } from './maintenance-routes.ts';
import { MaintenanceSwitch } from './maintenance-switch.ts';
import { mountBasicGates } from './password-routes.ts';
import { BasicGates } from './password.ts';

export interface AccessControlServices {
  readonly basicGates: BasicGates;
  readonly maintenance: MaintenanceSwitch;
}

export const accessControl: Slice<AccessControlServices> = {
  name: 'access control',
  service: ({ store, passwords, publisher: routeEvents }, use) => {
    const { tunnelRoutes: routes, inMaintenance: maintenance } = use(tunnels);
    return {
      basicGates: new BasicGates({ store, routeEvents, routes, passwords }),
      maintenance: new MaintenanceSwitch({ store, routeEvents, routes, maintenance }),
    };
  },
  routes: (api, services, { use }) => {
    mountTunnels(api, { ...services, ...use(tunnels), ...use(certificates) });
    mountBasicGates(api, services);
    mountMaintenance(api, services);
  },
  on: ({ maintenance }) => [
    on(
      tunnelsDeleted,
      (tx, { ids }) =>
        void tx.db
          .delete(table)
          .where(inArray(table.tunnelId, [...ids]))
          .run(),
    ),
    on(agentLeft, (tx, { tunnelId }) => maintenance.agentLeft(tx, tunnelId)),
  ],
};
