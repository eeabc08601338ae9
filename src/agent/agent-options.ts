/**
 * Options that start an agent (agent.ts), and the handle that its caller gets.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Hello } from '../wire/messages.ts';
import type { OpenChannel } from './connect/channel.ts';
import type { AgentEvent, AgentView, ExitReason } from './events.ts';
import type { Reach } from './connect/reachability.ts';
import type { RelaySpec } from './relay/spec.ts';
import type { Schedule } from './schedule.ts';
import type { PinStore } from './connect/server-pin.ts';
import type { TunnelSpec } from './tunnel.ts';

export interface AgentOptions {
  /** For display. */
  readonly server: string;
  readonly tunnels: readonly TunnelSpec[];
  /** Private networks whose datagrams it carries. None: an agent of tunnels alone. */
  readonly relays?: readonly RelaySpec[];
  readonly identity: Hello['agent'];
  /** Called before each connect, so that a key file that was replaced is read again. May reject. */
  readonly token: () => Promise<string>;
  readonly open: OpenChannel;
  /** Opens another connection and closes it: where given, a live session is watched, and so are the addresses of this computer. */
  readonly tryAnother?: (signal: AbortSignal) => Promise<void>;
  /** In place of this computer's. */
  readonly addresses?: (() => string[]) | undefined;
  /** Ends the wait after an outage early, where given. */
  readonly reach?: Reach;
  /** Remembers the server between runs, where given; else this process alone does. */
  readonly pins?: PinStore;
  readonly log: Logger;
  /** Called before the same is logged: a reader of the log finds what this has written. */
  readonly onEvent: (event: AgentEvent) => void;
  /** Ask the server for a line per request. */
  readonly watch?: boolean;
  readonly clock?: Clock;
  readonly schedule?: Schedule;
  /** Numbers in [0, 1). */
  readonly random?: () => number;
}

/** What an agent is to serve. */
export interface Wants {
  readonly tunnels: readonly TunnelSpec[];
  readonly relays: readonly RelaySpec[];
}

export interface Agent {
  /** Resolves once, when the agent is over; it never rejects. */
  readonly done: Promise<ExitReason>;
  view(): AgentView;
  /** Connects and claims now instead of at the end of a wait. */
  retryNow(): void;
  /**
   * Serves these from now on. One whose very spec it has already is not touched. What is missing gets no new streams, and those in
   * flight end by themselves. A tunnel of the same name replaces the one before. Throws RangeError for none, or too many.
   */
  reload(wants: Wants): void;
  /** No new streams; those in flight get `graceMs`; then the agent is over with exit code 0. */
  drain(graceMs?: number): void;
  /** Cuts everything at once. */
  destroy(): void;
}
