/** The connection of an agent as its session (agent.ts) takes it over, and the details of its end. */
import type { MuxSession, SessionHandler } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { RefusalCode } from '../../wire/messages.ts';

/** The message to an agent with the end of its session. */
export interface EndDetails {
  readonly retryAfterMs?: number | undefined;
  /** As in Refusal. */
  readonly expiredAt?: number | undefined;
}

const COMES_BACK: ReadonlySet<RefusalCode> = new Set(['server_shutdown', 'protocol_error', 'internal', 'overloaded']);

/** An agent whose session the server ends so opens another one at once: visitors of its tunnels may wait for it. */
export function comesBack(code: RefusalCode): boolean {
  return COMES_BACK.has(code);
}

/** The connection of an agent, as gateway.ts made it. */
export interface AgentWire {
  readonly remoteIp: string;
  /** Limits the session's bandwidth once it is known what its token may use. */
  readonly shaper: Shaper;
  /** Starts the mux session with this handler. */
  attach(handler: SessionHandler): MuxSession;
}
