/** What the session of an agent (agent.ts) needs around it, and tells. */
import type { Logger } from '../../base/log.ts';
import type { MuxSession, SessionHandler } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { Link, Refusal } from '../../plane/link.ts';
import type { PresenceEvent } from '../../plane/presence.ts';
import type { TokenGrant } from '../../plane/routes.ts';
import type { Payer } from '../routing/entry.ts';
import type { Drops } from '../edge/drops.ts';
import type { RelayBook } from '../relay/relay-book.ts';
import type { AgentSession } from './agent.ts';
import type { AttachDesk } from './attaches.ts';
import type { ClaimDesk } from './claims.ts';
import type { GrantChanges } from './grant-changes.ts';
import type { RefusalCode } from '../../wire/messages.ts';
import type { ServingBook } from './serving.ts';
import type { SessionEnd } from './why-ended.ts';

/** What a session tells its surroundings. */
export interface AgentHost {
  /** The token is good: takes the session in, or says why not. */
  enter(agent: AgentSession, grant: TokenGrant): Refusal | undefined;
  /** Who pays for what a session serves that was taken in and is not over. */
  payerOf(tokenId: string): Payer;
  /** The session is over; called once, for sessions that never entered too. */
  left(agent: AgentSession): void;
  /** Why; called once, at the end or right behind it. */
  ended(agent: AgentSession, end: SessionEnd): void;
  /** An answer to a token may be out of date when it comes. */
  readonly changes: Pick<GrantChanges, 'count' | 'concern'>;
}

export interface AgentDeps {
  readonly link: Link;
  readonly book: ServingBook;
  readonly desk: ClaimDesk;
  readonly attachDesk: AttachDesk;
  readonly relays: RelayBook;
  readonly onPresence: (event: PresenceEvent) => void;
  readonly host: AgentHost;
  readonly drops: Pick<Drops, 'add'>;
  readonly log: Logger;
  readonly serverVersion: string;
  readonly serverId: string;
  readonly now: () => number;
}

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
