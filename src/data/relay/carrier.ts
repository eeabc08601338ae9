/**
 * What carries the datagrams of a network, as its relay sees it: an agent's session that was allowed to. Made by
 * data/gateway/agent-relays.ts, given to relay-registry.ts; a newer one takes its place.
 */
import type { MuxSession } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { RelayDevice } from '../../plane/relays.ts';
import type { RefusalCode } from '../../wire/messages.ts';
import type { Payer } from '../routing/entry.ts';

export interface Carrier {
  readonly agentId: string;
  /** The token that pays for what passes. */
  readonly payer: Payer;
  readonly session: MuxSession;
  /** The agent's number for this network, as in the preamble. */
  readonly slot: number;
  /** Whence the agent speaks, for people. */
  readonly whence: string;
  /** Has the bucket of the key's bandwidth limit; asked per datagram, for a limit may come and go. */
  readonly shaper: Pick<Shaper, 'bucket'>;
  /** The relay has let go of it; its agent gets the reason. Not called after `RelayRegistry.detach`. */
  ended(code: RefusalCode, message: string): void;
  /** It wants to know the network's devices: called with all of them, in parts, soon after each change. Null: it does not. */
  readonly onDevices: ((some: readonly RelayDevice[], isFirst: boolean, isLast: boolean) => void) | null;
}
