/**
 * What the agent does about each code that the server can say (wire/messages.ts). The whole decision table, on one screen.
 *
 *   retry   come back, by back-off or after the given time; the agent never ends because of it
 *   end     this tunnel is over (said in `bye`: all of them); other tunnels go on, and the agent ends with the last
 *   stop    the agent is over at once: trying again can't help
 */
import type { RefusalCode } from '../wire/messages.ts';

/** Contract §9. 0 clean stop, 1 failure, 3 not authorized, 4 name, quota or plan refused, or the name taken over by another agent. */
export type AgentExitCode = 0 | 1 | 3 | 4;

export type Fate =
  | { readonly kind: 'retry'; readonly afterMs?: number }
  | { readonly kind: 'end'; readonly exit: AgentExitCode }
  | { readonly kind: 'stop'; readonly exit: AgentExitCode };

/** Contract §9: after a forced disconnect in about 5 s. */
const DISCONNECTED_MS = 5_000;
/** A stopped tunnel waits for a person to start it: look every 10 s, not by back-off. */
const STOPPED_MS = 10_000;

const FATES: Readonly<Record<RefusalCode, Fate>> = {
  unauthorized: { kind: 'stop', exit: 3 },
  forbidden: { kind: 'end', exit: 3 },
  subdomain_not_allowed: { kind: 'end', exit: 4 },
  duplicate_name: { kind: 'end', exit: 4 },
  invalid_name: { kind: 'end', exit: 4 },
  invalid_request: { kind: 'end', exit: 4 },
  quota_exceeded: { kind: 'end', exit: 4 },
  budget_exhausted: { kind: 'end', exit: 4 },
  upgrade_required: { kind: 'end', exit: 4 },
  no_port_free: { kind: 'end', exit: 4 },
  network_not_found: { kind: 'end', exit: 4 },
  network_not_ready: { kind: 'retry', afterMs: STOPPED_MS },
  network_deleted: { kind: 'end', exit: 4 },
  tunnel_stopped: { kind: 'retry', afterMs: STOPPED_MS },
  tunnel_expired: { kind: 'end', exit: 4 },
  tunnel_deleted: { kind: 'end', exit: 4 },
  superseded: { kind: 'end', exit: 4 },
  disconnected: { kind: 'retry', afterMs: DISCONNECTED_MS },
  server_shutdown: { kind: 'retry' },
  protocol_error: { kind: 'retry' },
  version_unsupported: { kind: 'stop', exit: 1 },
  overloaded: { kind: 'retry' },
  internal: { kind: 'retry' },
};

/** Of a relay. Its port is reserved: another program on it, such as a server that is shutting down, is not the customer's mistake. */
const FATES_OF_RELAYS: Readonly<Partial<Record<RefusalCode, Fate>>> = {
  no_port_free: { kind: 'retry' },
};

/** What to do about `code`, said of a tunnel, a relay or the whole agent. */
export function fateOf(code: RefusalCode, of: 'tunnel' | 'relay' | 'agent'): Fate {
  return (of === 'relay' ? FATES_OF_RELAYS[code] : undefined) ?? FATES[code];
}
