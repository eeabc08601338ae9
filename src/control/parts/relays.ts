/**
 * The services of private networks that stand between their tables and the data nodes: who may carry one, what devices run out, what relays do now. Opened by
 * control/open.ts.
 */
import type { RelayRoute } from '../../plane/relays.ts';
import { Attachments } from '../networks/relay/attach.ts';
import { DeviceExpiry } from '../networks/device-expiry.ts';
import { relaySlices } from '../networks/relay/relay-routes.ts';
import { RelayStatus } from '../networks/relay/status.ts';
import type { Core } from './core.ts';

export interface RelayServices {
  readonly attachments: Attachments;
  readonly deviceExpiry: DeviceExpiry;
  readonly relayStatus: RelayStatus;
  /** Every relay, for a snapshot, a slice at a time. */
  readonly relaySlices: () => Iterable<readonly RelayRoute[]>;
}

export function openRelays({ store, spend, nodes, publisher, options: { names, udpPorts } }: Core): RelayServices {
  return {
    attachments: new Attachments({ store, spend, udpPorts }),
    deviceExpiry: new DeviceExpiry({ store, networkEvents: publisher.networks }),
    relayStatus: new RelayStatus({ store, nodes }),
    relaySlices: () => relaySlices(store.db, { names, now: store.clock.now() }),
  };
}
