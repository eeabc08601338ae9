/**
 * One connection's conversation with the server: hello, welcome, questions by number, slots, and how it ended. Knows no timers
 * and takes no decisions: agent.ts does.
 */
import type { Attached, Bound, FromServer, Hello, RequestLine } from '../wire/messages.ts';
import type { Channel, ChannelSink, StreamTaker } from './connect/channel.ts';
import { Relay } from './relay/relay.ts';
import type { Need, Refusal, Wanted } from './wanted.ts';
import type { AdviceCode } from '../wire/advice-codes.ts';
import type { LocalTarget } from './local/target.ts';
import { Tunnel } from './tunnel.ts';

/** Questions without an answer; the others stand in line here. A server takes 256 at a time from one session. */
const MAX_OPEN = 64;

export type Bye = Extract<FromServer, { type: 'bye' }>;
export type Welcome = Extract<FromServer, { type: 'welcome' }>;

export interface SessionOwner {
  onWelcome(session: Session, welcome: Welcome): void;
  onBound(session: Session, tunnel: Tunnel, bound: Bound): void;
  onAttached(session: Session, relay: Relay, attached: Attached): void;
  /** What was asked for was refused, or is taken away. */
  onRefused(session: Session, wanted: Wanted, refusal: Refusal): void;
  onDrain(session: Session, retryAfterMs: number, message: string): void;
  onRequest(tunnel: Tunnel, line: RequestLine): void;
  /** The server ended the session and said why. The session is destroyed already. */
  onBye(session: Session, bye: Bye): void;
  /** The connection was lost. */
  onLost(session: Session, cause: string): void;
  onIdle(session: Session): void;
  onTarget(target: LocalTarget, fault: string | undefined): void;
  onAdvice(target: LocalTarget, code: AdviceCode): void;
}

export class Session implements ChannelSink {
  readonly #owner: SessionOwner;
  readonly #asked = new Map<number, Wanted>();
  /** Asked for as answers come; bounded by the number of tunnels and relays. */
  readonly #line = new Set<Wanted>();
  readonly #slots = new Map<number, Wanted>();
  #channel: Channel | undefined;
  #nextRef = 1;
  /** What the server can do, and its version. */
  #features: ReadonlySet<string> = new Set();
  /** Flags of access control that it applies. */
  #narrows: readonly string[] | undefined;
  #serverVersion = '';
  #ended = false;
  #welcomed = false;

  constructor(owner: SessionOwner) {
    this.#owner = owner;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** The server took the key. */
  get welcomed(): boolean {
    return this.#welcomed;
  }

  /** Says hello on a connection that is open. The token is not kept. */
  greet(channel: Channel, hello: Hello): void {
    this.#channel = channel;
    channel.send(hello);
  }

  /** Asks for it, unless an answer about it is due already. */
  ask(wanted: Wanted): void {
    for (const asked of this.#asked.values()) if (asked === wanted) return;
    const missing = wanted.needs.find(({ feature }) => !this.#features.has(feature));
    const lacking = missing === undefined ? wanted.lacking(this.#narrows) : this.#tooOld(missing);
    if (lacking !== undefined) return this.#refuse(wanted, lacking);
    this.#line.add(wanted);
    this.#askNext();
  }

  /** Serves it no more: no new streams come, those in flight go on. What is asked for already is given back when it is granted. */
  release(wanted: Wanted): void {
    this.#line.delete(wanted);
    for (const [slot, served] of this.#slots) if (served === wanted) this.#giveBack(slot);
  }

  #giveBack(slot: number): void {
    this.#slots.delete(slot);
    this.#channel?.send({ type: 'unbind', slot });
  }

  watch(requests: boolean): void {
    this.#channel?.send({ type: 'watch', requests });
  }

  /** For the tunnel's page in the dashboard. An older server has no place for it. */
  advise(tunnel: Tunnel, code: AdviceCode): void {
    if (this.#ended || !this.#features.has('advice')) return;
    for (const [slot, held] of this.#slots) if (held === tunnel) this.#channel?.send({ type: 'advice', slot, code });
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

  targetOf(slot: number, route?: number): LocalTarget | undefined {
    const tunnel = this.#slots.get(slot);
    return tunnel instanceof Tunnel ? tunnel.serviceOf(route) : undefined;
  }

  takerOf(slot: number): StreamTaker | undefined {
    const relay = this.#slots.get(slot);
    return relay instanceof Relay ? relay : undefined;
  }

  onIdle(): void {
    if (!this.#ended) this.#owner.onIdle(this);
  }

  onTarget(target: LocalTarget, fault: string | undefined): void {
    this.#owner.onTarget(target, fault);
  }

  onAdvice(target: LocalTarget, code: AdviceCode): void {
    this.#owner.onAdvice(target, code);
  }

  onClosed(cause: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#owner.onLost(this, cause);
  }

  onMessage(message: FromServer): void {
    if (this.#ended) return;
    if (message.type === 'bye') return this.#bye(message);
    if (!this.#welcomed && message.type !== 'welcome') return this.#broken(`it sent ${message.type} before welcome`);
    switch (message.type) {
      case 'welcome':
        if (this.#welcomed) return this.#broken('it sent welcome twice');
        this.#welcomed = true;
        this.#features = new Set(message.features);
        this.#narrows = message.narrows;
        this.#serverVersion = message.serverVersion;
        if (message.bandwidthLimitMbps !== undefined) this.#channel?.holdBack(message.bandwidthLimitMbps);
        if (message.clear === true) this.#channel?.sayClear();
        if (message.serverId !== undefined) this.#channel?.answerSoon();
        return this.#owner.onWelcome(this, message);
      case 'bound':
        return this.#bound(message);
      case 'refused': {
        const wanted = this.#takeAsked(message.ref);
        if (wanted === undefined) return this.#broken('it refused a tunnel or network that was not requested');
        return this.#owner.onRefused(this, wanted, message);
      }
      case 'unbound': {
        const served = this.#slots.get(message.slot);
        this.#slots.delete(message.slot);
        // Unbound may cross with something that ended it on this side: then there is nothing left to do.
        if (served !== undefined) this.#owner.onRefused(this, served, message);
        return;
      }
      case 'attached':
        return this.#attached(message);
      case 'peers': {
        const relay = this.#slots.get(message.slot);
        if (relay instanceof Relay) relay.takePeers(message);
        return;
      }
      case 'drain':
        return this.#owner.onDrain(this, message.retryAfterMs, message.message);
      case 'requests':
        for (const line of message.items) {
          const tunnel = this.#slots.get(line.slot);
          if (tunnel instanceof Tunnel) this.#owner.onRequest(tunnel, line);
        }
        return;
      default:
        return message satisfies never;
    }
  }

  #bound(bound: Bound): void {
    const tunnel = this.#takeAsked(bound.ref);
    if (!(tunnel instanceof Tunnel)) return this.#broken('it bound a tunnel that was not claimed');
    if (tunnel.dropped) return this.#giveBack(bound.slot);
    const lacking = tunnel.lacking(bound.narrowed);
    if (lacking !== undefined) {
      // Without a slot its streams are refused.
      this.#giveBack(bound.slot);
      return this.#owner.onRefused(this, tunnel, lacking);
    }
    this.#slots.set(bound.slot, tunnel);
    this.#owner.onBound(this, tunnel, bound);
    if (tunnel.advice !== undefined) this.advise(tunnel, tunnel.advice);
  }

  #attached(attached: Attached): void {
    const relay = this.#takeAsked(attached.ref);
    if (!(relay instanceof Relay)) return this.#broken('it attached a network that was not requested');
    if (relay.dropped) return this.#giveBack(attached.slot);
    this.#slots.set(attached.slot, relay);
    this.#owner.onAttached(this, relay, attached);
  }

  /** As if the server had: it would leave out of account what it does not know. Later, as answers come. */
  #refuse(wanted: Wanted, refusal: Refusal): void {
    queueMicrotask(() => {
      if (!this.#ended) this.#owner.onRefused(this, wanted, refusal);
    });
  }

  #tooOld({ options }: Need): Refusal {
    const message = `the server (version ${this.#serverVersion}) is too old for ${options}. Upgrade the server, or leave the option out`;
    return { code: 'invalid_request', message };
  }

  #askNext(): void {
    for (const wanted of this.#line) {
      if (this.#asked.size >= MAX_OPEN) return;
      this.#line.delete(wanted);
      const ref = this.#nextRef++;
      this.#asked.set(ref, wanted);
      this.#channel?.send(wanted.ask(ref));
    }
  }

  #takeAsked(ref: number): Wanted | undefined {
    const wanted = this.#asked.get(ref);
    this.#asked.delete(ref);
    this.#askNext();
    return wanted;
  }

  #bye(bye: Bye): void {
    this.destroy();
    this.#owner.onBye(this, bye);
  }

  #broken(what: string): void {
    this.destroy();
    this.#owner.onLost(this, `the server violated the protocol: ${what}`);
  }
}
