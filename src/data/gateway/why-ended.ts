/**
 * Why a session of an agent ended, in one word and a sentence, for the people of its organization. One per session, told by agent.ts what
 * happens; the first reason counts: what comes behind it is only the connection falling apart.
 */
import type { MuxError, MuxErrorCode } from '../../mux/types.ts';
import type { EndReason } from '../../plane/events.ts';
import type { RefusalCode } from '../../wire/messages.ts';

export interface SessionEnd {
  readonly reason: EndReason;
  /** For people. */
  readonly message: string;
}

const BY_CODE: Readonly<Partial<Record<RefusalCode, EndReason>>> = {
  unauthorized: 'token_revoked',
  forbidden: 'forbidden',
  superseded: 'superseded',
  disconnected: 'disconnected',
  server_shutdown: 'drained',
  protocol_error: 'protocol_error',
  tunnel_deleted: 'tunnel_deleted',
  tunnel_expired: 'tunnel_expired',
  network_deleted: 'network_deleted',
  overloaded: 'overloaded',
};

const BY_CONNECTION: Readonly<Record<MuxErrorCode, EndReason>> = {
  closed: 'connection_lost',
  transport: 'connection_lost',
  heartbeat: 'heartbeat_lost',
  protocol: 'protocol_error',
  window_overrun: 'protocol_error',
  flood: 'protocol_error',
  go_away: 'protocol_error',
  destroyed: 'connection_lost',
};

const LEFT: SessionEnd = { reason: 'agent_left', message: 'The agent was stopped.' };
const CLOSED =
  'The connection closed unexpectedly: the agent was killed, its machine stopped, or the network dropped it.';
const REPLACED = 'The agent reconnected: its network or address changed.';
const SILENT = 'The agent stopped responding: its machine is asleep, or the network is down.';

export class WhyEnded {
  readonly #tell: (end: SessionEnd) => void;
  #told = false;
  /** What the agent leaves for, once it does. */
  #leaves = LEFT;
  #leaving = false;

  /** `tell` is called once. */
  constructor(tell: (end: SessionEnd) => void) {
    this.#tell = tell;
  }

  /** The agent has a tunnel or a private network to serve. */
  serves(): void {
    this.#leaves = LEFT;
  }

  /** The server took the last of them away; an agent without one leaves. One that was stopped is waited for. */
  servesNothing(code: RefusalCode, message: string): void {
    const reason = BY_CODE[code];
    if (reason !== undefined) this.#leaves = { reason, message };
  }

  /** The server asked the agent to finish and come back. */
  askedToLeave(message: string): void {
    this.#leaves = { reason: 'drained', message };
  }

  /** The agent said that it leaves; its connection goes on for what is in flight. */
  leaves(): void {
    this.#leaving = true;
  }

  /** The agent has left. */
  left(): void {
    this.#end(this.#leaves);
  }

  /** The same agent has come again. */
  replaced(): void {
    this.#end({ reason: 'connection_lost', message: REPLACED });
  }

  /** The server ends it. `isExpired`: the token has run out by now. */
  byServer(code: RefusalCode, message: string, isExpired: boolean): void {
    const reason = BY_CODE[code] ?? 'internal';
    this.#end({ reason: reason === 'token_revoked' && isExpired ? 'token_expired' : reason, message });
  }

  /** The connection is over. */
  byConnection({ code, message }: MuxError): void {
    if (this.#leaving && (code === 'closed' || code === 'transport')) return this.#end(this.#leaves);
    const words = code === 'closed' ? CLOSED : code === 'heartbeat' ? SILENT : `The connection ended: ${message}.`;
    this.#end({ reason: BY_CONNECTION[code], message: words });
  }

  #end(end: SessionEnd): void {
    if (this.#told) return;
    this.#told = true;
    this.#tell(end);
  }
}
