/**
 * The services of private networks that stand between their tables and the data nodes: who may carry one, what devices run out, what relays do now. Opened by
 * control/open.ts.
 */
import type { Snapshot } from '../../plane/routes.ts';
import { Attachments } from '../services/networks/attach.ts';
import { allRelays } from '../services/networks/relay-routes.ts';
import type { Ground } from './ground.ts';

export interface RelayServices {
  readonly attachments: Attachments;
  /** Every relay, for a snapshot. */
  readonly relays: () => Snapshot['relays'];
}

export function openRelays({ store, spend, options: { names } }: Ground): RelayServices {
  return {
    attachments: new Attachments({ store, spend }),
    relays: () => allRelays(store.db, { names, now: store.clock.now() }),
  };
}
