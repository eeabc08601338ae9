/**
 * What a tunnel and a relay of an agent have in common: the user wants it, the server has granted it or not, and the agent asks again. Changed by
 * agent.ts only.
 */
import type { Feature } from '../wire/features.ts';
import type { Attach, Claim, RefusalCode } from '../wire/messages.ts';
import { Backoff } from './backoff.ts';
import type { AgentEvent, TunnelState } from './events.ts';
import type { Cancel } from './schedule.ts';
import type { DatagramTarget } from './relay/spec.ts';

/** A server that can't grant it now (its disk is full, say) is asked again within this: on a session that stands, one message. */
const ASK_AGAIN_MS = 5_000;

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}

/** A feature that the server must have, and the options that ask for it, for the message to the user. */
export interface Need {
  readonly feature: Feature;
  readonly options: string;
}

export abstract class Wanted {
  /** What it is called in logs. */
  abstract readonly noun: 'tunnel' | 'relay';
  abstract readonly spec: { readonly name: string; readonly target: DatagramTarget };
  readonly backoff: Backoff;
  state: TunnelState = 'waiting';
  reason: string | undefined;
  /** Why the service could not be reached at the last request. */
  fault: string | undefined;
  /** The user wants it no more: what the server still says of it has no effect. */
  dropped = false;
  /** Cancels the repeated question that is due. */
  retry: Cancel | undefined;

  constructor(random: () => number) {
    this.backoff = new Backoff(random, ASK_AGAIN_MS);
  }

  /** What it must not go without: it is not asked for at a server that lacks one of these. */
  readonly needs: readonly Need[] = [];

  /** The message that asks the server for it. */
  abstract ask(ref: number): Claim | Attach;
  abstract targetEvent(): AgentEvent;
  abstract offlineEvent(reason: string): AgentEvent;
  abstract refusedEvent(refusal: Refusal, final: boolean): AgentEvent;

  /** Why this agent must not be served by a server that applies no more than `applied`. */
  lacking(_applied: readonly string[] | undefined): Refusal | undefined {
    return undefined;
  }

  setAway(state: 'waiting' | 'ended', reason: string): void {
    this.state = state;
    this.reason = reason;
  }

  cancelRetry(): void {
    this.retry?.();
    this.retry = undefined;
  }

  protected setOnline(): void {
    this.state = 'online';
    this.reason = undefined;
    this.backoff.reset();
  }
}
