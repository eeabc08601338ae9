/**
 * One tunnel of an agent: what the user asked for and what the server made of it. Changed by agent.ts only.
 */
import type { Bound, Claim, Protocol } from '../wire/messages.ts';
import { Backoff } from './backoff.ts';
import type { TunnelState, TunnelView } from './events.ts';
import type { Cancel } from './schedule.ts';
import type { LocalTarget } from './target.ts';

export interface TunnelSpec {
  /** Unique within the agent. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly target: LocalTarget;
  readonly subdomain?: string | undefined;
  readonly project?: string | undefined;
  /** false: neither the server nor this agent's own page keeps what passes. */
  readonly inspect?: boolean | undefined;
}

export class Tunnel {
  readonly spec: TunnelSpec;
  readonly backoff: Backoff;
  state: TunnelState = 'waiting';
  reason: string | undefined;
  /** Why the local service could not be reached, the last time somebody asked for it. */
  fault: string | undefined;
  /** Cancels the repeated claim that is due. */
  retry: Cancel | undefined;
  #bound: Bound | undefined;

  constructor(spec: TunnelSpec, random: () => number) {
    this.spec = spec;
    this.backoff = new Backoff(random);
  }

  get url(): string | undefined {
    return this.#bound?.url;
  }

  setBound(bound: Bound): void {
    this.#bound = bound;
    this.state = 'online';
    this.reason = undefined;
    this.backoff.reset();
  }

  setAway(state: 'waiting' | 'ended', reason: string): void {
    this.state = state;
    this.reason = reason;
  }

  cancelRetry(): void {
    this.retry?.();
    this.retry = undefined;
  }

  /** The claim; after the first `bound` it asks for the same tunnel, so that a random name survives a reconnect. */
  claim(ref: number): Claim {
    // A repeated label holds the project's suffix already; the server takes it off. A tcp tunnel has no label.
    const subdomain = this.spec.subdomain ?? (this.#bound?.subdomain || undefined);
    return {
      type: 'claim',
      ref,
      protocol: this.spec.protocol,
      target: this.spec.target.text,
      localPort: this.spec.target.port,
      ...(subdomain === undefined ? {} : { subdomain }),
      ...(this.spec.project === undefined ? {} : { project: this.spec.project }),
      ...(this.spec.inspect === false ? { inspect: false } : {}),
      ...(this.#bound === undefined ? {} : { tunnelId: this.#bound.tunnelId }),
    };
  }

  view(): TunnelView {
    return {
      name: this.spec.name,
      protocol: this.spec.protocol,
      target: this.spec.target.text,
      state: this.state,
      url: this.#bound?.url,
      tunnelId: this.#bound?.tunnelId,
      expiresAt: this.#bound?.expiresAt ?? null,
      reason: this.reason,
      fault: this.fault,
    };
  }
}
