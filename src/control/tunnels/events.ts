/** Events of tunnels: handled by owners of what is on a tunnel. */
import type { PlaneEvent } from '../../plane/events.ts';
import { event } from '../db/events.ts';

/** Their rows were deleted: a bounded number at once. Handlers delete or unbind what belonged to them. */
export const tunnelsDeleted = event<{ readonly ids: readonly string[] }>('tunnelsDeleted');

/** An agent has come to serve the tunnel. */
export const agentOnline = event<{ readonly tunnelId: string }>('agentOnline');

/** The last agent of the tunnel has gone. */
export const agentLeft = event<{ readonly tunnelId: string }>('agentLeft');

/** A batch of a data node, in the transaction that stores it. */
export const nodeReported = event<{ readonly events: readonly PlaneEvent[] }>('nodeReported');
