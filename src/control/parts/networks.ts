/**
 * The services by which people handle private networks. Opened by control/open.ts. What stands between them and the data nodes is relays.ts's.
 */
import { NetworkDevices } from '../services/networks/network-devices.ts';
import { Networks } from '../services/networks/networks.ts';
import type { Ground } from './ground.ts';

export interface NetworkServices {
  readonly networks: Networks;
  readonly networkDevices: NetworkDevices;
}

export function openNetworks({ store, publisher, options: { names, udpPorts, apiUrl } }: Ground): NetworkServices {
  const deps = { store, news: publisher.networks, names, udpPorts };
  return { networks: new Networks({ ...deps, apiUrl }), networkDevices: new NetworkDevices(deps) };
}
