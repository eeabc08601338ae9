/**
 * The services by which people handle private networks. Opened by control/open.ts. What stands between them and the data nodes is relays.ts's.
 */
import { NetworkDevices } from '../networks/devices.ts';
import { Networks } from '../networks/service.ts';
import type { Core } from './core.ts';

export interface NetworkServices {
  readonly networks: Networks;
  readonly networkDevices: NetworkDevices;
}

export function openNetworks(core: Core): NetworkServices {
  const { store, drains, publisher } = core;
  const { names, udpPorts, apiUrl } = core.options;
  const deps = { store, networkEvents: publisher.networks, names, udpPorts };
  return { networks: new Networks({ ...deps, drains, apiUrl }), networkDevices: new NetworkDevices(deps) };
}
