/** What goes with what: for each large change the owners of tables that carry it out, in their order. Registered by control/open.ts. */
import { renewing } from '../billing/plan-change.ts';
import { drainInvitations } from '../organizations/invitation-rows.ts';
import type { Organizations } from '../organizations/service.ts';
import type { Drain } from '../core/drains.ts';
import type { Core } from './core.ts';
import type { NetworkServices } from './networks.ts';
import type { TokenServices } from './tokens.ts';
import type { TunnelServices } from './tunnels.ts';

type Owners = Pick<TokenServices, 'tokenEnds'> &
  Pick<TunnelServices, 'tunnels' | 'reservedSubdomains' | 'receivers' | 'domains'> &
  Pick<NetworkServices, 'networks'> & { readonly organizations: Organizations };

export function registerDrains({ drains, publisher: routeEvents, routes }: Core, owners: Owners): void {
  const { tokenEnds, tunnels, reservedSubdomains, receivers, domains, networks, organizations } = owners;
  const keys: Drain = (tx, work, limit) => tokenEnds.drain(tx, work, limit);
  const ownTunnels: Drain = (tx, work, limit) => tunnels.drain(tx, work, limit);
  // Members first: their sessions go on elsewhere. Keys before tunnels, in the order of messages to agents.
  drains.register(
    'organization_deleted',
    (tx, work, limit) => organizations.drainMembers(tx, work, limit),
    keys,
    ownTunnels,
    (tx, work, limit) => reservedSubdomains.drain(tx, work, limit),
    (tx, work, limit) => receivers.drainOrganization(tx, work, limit),
    (tx, work, limit) => networks.drainOrganization(tx, work, limit),
    (tx, work, limit) => domains.drain(tx, work, limit),
    drainInvitations,
  );
  drains.register('project_deleted', keys, ownTunnels);
  for (const kind of ['master_key_ended', 'member_keys_ended', 'user_keys_ended', 'user_logins_ended'] as const)
    drains.register(kind, keys);
  drains.register('master_key_rotated', (tx, work, limit) => tokenEnds.drainRotated(tx, work, limit));
  drains.register('receiver_deleted', (tx, work, limit) => receivers.drain(tx, work, limit));
  drains.register('network_deleted', (tx, work, limit) => networks.drain(tx, work, limit));
  drains.register('plan_changed', renewing({ routeEvents, routes }));
}
