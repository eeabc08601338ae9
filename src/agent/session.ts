/**
 * One connection's conversation with the server: hello, welcome, claims by number, slots, and how it ended. Knows no timers
 * and takes no decisions: agent.ts does.
 */
import type { Bound, FromServer, Hello, RefusalCode, RequestLine } from '../wire/messages.ts';
import type { Channel, ChannelSink } from './channel.ts';
import type { LocalTarget } from './target.ts';
import type { Tunnel } from './tunnel.ts';

/** Claims without an answer; the others stand in line here. A server takes 256 at a time from one session. */
const MAX_OPEN_CLAIMS = 64;

export type Bye = Extract<FromServer, { type: 'bye' }>;
export type Welcome = Extract<FromServer, { type: 'welcome' }>;

export interface SessionOwner {
  onWelcome(session: Session, welcome: Welcome): void;
  onBound(session: Session, tunnel: Tunnel, bound: Bound): void;
  /** A claim was refused, or a bound tunnel taken away. */
  onRefused(session: Session, tunnel: Tunnel, refusal: { code: RefusalCode; message: string }): void;
  onDrain(session: Session, retryAfterMs: number, message: string): void;
  onRequest(tunnel: Tunnel, line: RequestLine): void;
  /** The server ended the session and said why. The session is destroyed already. */
  onBye(session: Session, bye: Bye): void;
  /** The connection was lost. */
  onLost(session: Session, cause: string): void;
  onIdle(session: Session): void;
  onTarget(target: LocalTarget, fault: string | undefined): void;
}

export class Session implements ChannelSink {
  readonly #owner: SessionOwner;
  readonly #claims = new Map<number, Tunnel>();
  /** Claimed as answers come; bounded by the number of tunnels. */
  readonly #line = new Set<Tunnel>();
  readonly #slots = new Map<number, Tunnel>();
  #channel: Channel | undefined;
  #nextRef = 1;
  #ended = false;
  #welcomed = false;

  constructor(owner: SessionOwner) {
    this.#owner = owner;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** Says hello on a connection that is open. The token is not kept. */
  greet(channel: Channel, hello: Hello): void {
    this.#channel = channel;
    channel.send(hello);
  }

  /** Asks for the tunnel, unless an answer about it is due already. */
  claim(tunnel: Tunnel): void {
    for (const claimed of this.#claims.values()) if (claimed === tunnel) return;
    this.#line.add(tunnel);
    this.#claimNext();
  }

  watch(requests: boolean): void {
    this.#channel?.send({ type: 'watch', requests });
  }

  /** Tells the server that this agent leaves, and takes no new streams. */
  drain(): void {
    this.#channel?.send({ type: 'drain' });
    this.#channel?.refuseStreams();
  }

  get inFlight(): number {
    return this.#channel?.inFlight ?? 0;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#channel?.close();
  }

  destroy(): void {
    this.#ended = true;
    this.#channel?.destroy();
  }

  targetOf(slot: number): LocalTarget | undefined {
    return this.#slots.get(slot)?.spec.target;
  }

  onIdle(): void {
    if (!this.#ended) this.#owner.onIdle(this);
  }

  onTarget(target: LocalTarget, fault: string | undefined): void {
    this.#owner.onTarget(target, fault);
  }

  onClosed(cause: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#owner.onLost(this, cause);
  }

  onMessage(message: FromServer): void {
    if (this.#ended) return;
    if (message.type === 'bye') return this.#bye(message);
    if (!this.#welcomed && message.type !== 'welcome') return this.#broken(`it said ${message.type} before welcome`);
    switch (message.type) {
      case 'welcome':
        if (this.#welcomed) return this.#broken('it said welcome twice');
        this.#welcomed = true;
        if (message.bandwidthLimitMbps !== undefined) this.#channel?.holdBack(message.bandwidthLimitMbps);
        return this.#owner.onWelcome(this, message);
      case 'bound':
        return this.#bound(message);
      case 'refused': {
        const tunnel = this.#takeClaim(message.ref);
        if (tunnel === undefined) return this.#broken('it refused what was not claimed');
        return this.#owner.onRefused(this, tunnel, message);
      }
      case 'unbound': {
        const tunnel = this.#slots.get(message.slot);
        this.#slots.delete(message.slot);
        // Unbound may cross with something that ended the tunnel on this side: then there is nothing left to do.
        if (tunnel !== undefined) this.#owner.onRefused(this, tunnel, message);
        return;
      }
      case 'attached':
        return this.#broken('it attached what was not asked for');
      case 'drain':
        return this.#owner.onDrain(this, message.retryAfterMs, message.message);
      case 'requests':
        for (const line of message.items) {
          const tunnel = this.#slots.get(line.slot);
          if (tunnel !== undefined) this.#owner.onRequest(tunnel, line);
        }
        return;
      default:
        return message satisfies never;
    }
  }

  #bound(bound: Bound): void {
    const tunnel = this.#takeClaim(bound.ref);
    if (tunnel === undefined) return this.#broken('it bound what was not claimed');
    this.#slots.set(bound.slot, tunnel);
    this.#owner.onBound(this, tunnel, bound);
  }

  #claimNext(): void {
    for (const tunnel of this.#line) {
      if (this.#claims.size >= MAX_OPEN_CLAIMS) return;
      this.#line.delete(tunnel);
      const ref = this.#nextRef++;
      this.#claims.set(ref, tunnel);
      this.#channel?.send(tunnel.claim(ref));
    }
  }

  #takeClaim(ref: number): Tunnel | undefined {
    const tunnel = this.#claims.get(ref);
    this.#claims.delete(ref);
    this.#claimNext();
    return tunnel;
  }

  #bye(bye: Bye): void {
    this.destroy();
    this.#owner.onBye(this, bye);
  }

  #broken(what: string): void {
    this.destroy();
    this.#owner.onLost(this, `the server broke the protocol: ${what}`);
  }
}
