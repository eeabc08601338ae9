/** Handlers of events for what is no slice yet, in their order. Registered by control/open.ts behind those of the slices. */
import { type Handler, on } from '../db/events.ts';
import type { Tx } from '../db/tx.ts';
import { projectDeleted } from '../projects/events.ts';
import type { TokenServices } from './tokens.ts';
import type { TunnelServices } from './tunnels.ts';

type Owners = Pick<TokenServices, 'tokenEnds'> & Pick<TunnelServices, 'tunnels'>;

export function partHandlers({ tokenEnds, tunnels }: Owners): ReadonlyArray<Handler<Tx>> {
  return [
    // Keys before tunnels: an agent acts on the first message, and a deleted tunnel is not why it must go.
    on(projectDeleted, (tx, project) => ({ revokedTokens: tokenEnds.announceProjectEnd(tx, project) })),
    on(projectDeleted, (tx, project) => ({ deletedTunnels: tunnels.announceProjectGone(tx, project) })),
  ];
}
