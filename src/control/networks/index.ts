/** Private networks: their server, devices and configs, and the relay that carries their datagrams. */
import { accessKeys } from '../access-keys/index.ts';
import type { PortRange } from '../../base/net/addr.ts';
import type { RelayRoute } from '../../plane/relays.ts';
import { inBatches } from '../core/jobs.ts';
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { orgDeleted } from '../organizations/events.ts';
import { nodeReported } from '../tunnels/events.ts';
import { DeviceExpiry } from './device-expiry.ts';
import { mountNetworkDevices } from './devices-routes.ts';
import { NetworkDevices } from './devices.ts';
import { Attachments } from './relay/attach.ts';
import { relaySlices } from './relay/snapshot.ts';
import { mountNetworkRelay } from './relay/routes.ts';
import { RelayStatus } from './relay/status.ts';
import { RelayUsage } from './relay/usage.ts';
import { mountNetworks } from './routes.ts';
import { Networks } from './service.ts';

export interface NetworkOptions {
  /** Relay ports of private networks (`edge.udp_ports`). */
  readonly udpPorts: PortRange | null;
}

export interface NetworkServices {
  readonly networks: Networks;
  readonly networkDevices: NetworkDevices;
  readonly attachments: Attachments;
  readonly deviceExpiry: DeviceExpiry;
  readonly relayStatus: RelayStatus;
  readonly relayUsage: RelayUsage;
  /** Every relay, for a snapshot, a slice at a time. */
  readonly relaySlices: () => Iterable<readonly RelayRoute[]>;
}

export const networks: Slice<NetworkServices, NetworkOptions> = {
  name: 'networks',
  service: ({ store, drains, nodes, names, apiUrl, publisher: { networks: networkEvents } }, use, { udpPorts }) => {
    const { spend } = use(accessKeys);
    const deps = { store, networkEvents, names, udpPorts };
    return {
      networks: new Networks({ ...deps, drains, apiUrl }),
      networkDevices: new NetworkDevices(deps),
      attachments: new Attachments({ store, spend, udpPorts }),
      deviceExpiry: new DeviceExpiry({ store, networkEvents }),
      relayStatus: new RelayStatus({ store, nodes }),
      relayUsage: new RelayUsage(store.db),
      relaySlices: () => relaySlices(store.db, { names, now: store.clock.now() }),
    };
  },
  routes: (api, services) => {
    mountNetworks(api, services);
    mountNetworkDevices(api, services);
    mountNetworkRelay(api, services);
  },
  on: ({ networks: of, relayUsage }) => [
    on(orgDeleted, (tx, { id }) => of.announceGone(tx, id)),
    on(nodeReported, (_tx, { events }) => {
      for (const event of events) {
        if (event.kind === 'relay_usage') relayUsage.count(event);
        if (event.kind === 'device') relayUsage.mark(event);
      }
    }),
  ],
  drains: ({ networks: of }) => [
    { kind: 'organization_deleted', drain: of.drainOrganization.bind(of) },
    { kind: 'network_deleted', drain: of.drain.bind(of) },
  ],
  // The peer of a device may outlive its time in its network's server config; its datagrams end at the instant itself.
  jobs: ({ deviceExpiry }) => [inBatches('expire devices', 1_000, () => deviceExpiry.expireDue())],
};
