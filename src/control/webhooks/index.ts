/** The webhook queue: receivers, stored deliveries, and what is sent on to tunnels. */
import { accessKeys } from '../access-keys/index.ts';
import { Waits } from '../../base/limits/waits.ts';
import type { Slice } from '../core/slice.ts';
import { after, on } from '../db/events.ts';
import { agentOnline, tunnelsDeleted } from '../tunnels/events.ts';
import { tunnels } from '../tunnels/index.ts';
import { Redeliveries } from './attempts/redelivery.ts';
import { forgetDeliveries } from './delivery-rows.ts';
import { endForwardsTo } from './forward-rows.ts';
import { Forwarder } from './forwarder.ts';
import { Mailbox, READER_WAITS } from './mailbox.ts';
import { ReaderKeys } from './reader-keys.ts';
import { countTooLarge } from './refusals-schemas.ts';
import { Refusals } from './refusals.ts';
import { mountWebhookReceivers } from './routes.ts';
import { Receivers } from './service.ts';
import { TestEvents } from './test-events/service.ts';
import { ReceiverWarnings } from './warnings/service.ts';

export interface WebhookServices {
  readonly receivers: Receivers;
  readonly mailbox: Mailbox;
  readonly readerKeys: ReaderKeys;
  readonly forwarder: Forwarder;
  readonly refusals: Refusals;
  readonly redeliveries: Redeliveries;
  readonly testEvents: TestEvents;
  readonly warnings: ReceiverWarnings;
}

export const webhooks: Slice<WebhookServices> = {
  name: 'webhooks',
  service: ({ store, sealer, nodes, drains, publisher, log }, use) => {
    const { tunnelRoutes: routes, inMaintenance: maintenance } = use(tunnels);
    const waits = new Waits(READER_WAITS);
    const forwarder = new Forwarder({ store, nodes, routes, maintenance, log });
    const refusals = new Refusals({ store });
    // A pause that is over, or a tunnel that is gone.
    publisher.subscribe((delta) => {
      if (delta.kind === 'put') forwarder.tunnelChanged(delta.route.tunnelId);
      if (delta.kind === 'remove') forwarder.tunnelChanged(delta.tunnelId);
    });
    const deps = { store, sealer, lines: forwarder, refusals, waits };
    return {
      receivers: new Receivers({ ...deps, drains }),
      mailbox: new Mailbox(deps),
      readerKeys: new ReaderKeys({ store, tokens: use(accessKeys).tokens }),
      forwarder,
      refusals,
      redeliveries: new Redeliveries(deps),
      testEvents: new TestEvents(deps),
      warnings: new ReceiverWarnings({ store, nodes, maintenance }),
    };
  },
  before: (api, services) => void api.use('/webhooks/:receiver_id', countTooLarge(services)),
  routes: (api, services, { publicUrl }) => mountWebhookReceivers(api, { ...services, publicUrl }),
  on: ({ forwarder }) => [
    on(tunnelsDeleted, (tx, { ids }) => endForwardsTo(tx, ids)),
    after(agentOnline, ({ tunnelId }) => forwarder.tunnelChanged(tunnelId)),
  ],
  drains: ({ receivers: of }) => [
    { kind: 'organization_deleted', drain: of.drainOrganization.bind(of) },
    { kind: 'receiver_deleted', drain: of.drain.bind(of) },
  ],
  // A crash loses the counts of this long.
  jobs: ({ refusals }) => [{ name: 'refused webhooks', everyMs: 10_000, run: () => refusals.fold() }],
  forget: [forgetDeliveries],
};
