/**
 * The private networks that one agent session carries. Owned by agent.ts, which shares its numbers (slots) with it; attaches.ts decides, and
 * data/relay moves the datagrams.
 */
import type { MuxSession } from '../../mux/session.ts';
import type { Shaper } from '../../mux/shaper.ts';
import type { PresenceEvent } from '../../plane/presence.ts';
import type { RelayDevice, RelayRoute } from '../../plane/relays.ts';
import type { TokenGrant } from '../../plane/routes.ts';
import {
  type Attach,
  type Attached,
  type FromServer,
  type PeerItem,
  PEERS_AT_ONCE,
  type RefusalCode,
} from '../../wire/messages.ts';
import type { Carrier } from '../relay/carrier.ts';
import type { RelayRegistry } from '../relay/relay-registry.ts';
import type { Payer } from '../routing/entry.ts';
import type { AttachDesk, AttachOutcome } from './claims/attaches.ts';
import type { Serving, ServingRegistry } from './serving.ts';
import type { SlotMap } from './claims/slots.ts';

/** One network that one session carries. */
export interface Carrying extends Carrier {
  readonly networkId: string;
}

/** The session, as far as its relays need it. */
export interface RelayingSession {
  readonly agentId: string;
  readonly shaper: Shaper;
  readonly whence: string;
  readonly session: MuxSession;
  /** Authenticated and not over. */
  readonly isLive: boolean;
  /** As `isLive`, and the agent is not about to leave. */
  readonly takesMore: boolean;
  send(message: FromServer): void;
  payerOf(tokenId: string): Payer;
  /** It carries a network. */
  onAttached(): void;
  /** It lost one, whose slot is free: tells the agent. */
  onUnbound(slot: number, code: RefusalCode, message: string): void;
}

interface AgentRelaysDeps {
  readonly attachDesk: AttachDesk;
  readonly relays: RelayRegistry;
  readonly servings: ServingRegistry;
  readonly onPresence: (event: PresenceEvent) => void;
}

/** To which words an answer was given. */
interface Answer extends Pick<Attach, 'network' | 'target' | 'peers'> {
  readonly attached: Attached;
}

export class AgentRelays {
  readonly #session: RelayingSession;
  readonly #slots: SlotMap<Serving | Carrying>;
  readonly #deps: AgentRelaysDeps;
  /** What it carries, and how that was answered. */
  readonly #carried = new Map<Carrying, Answer | null>();

  constructor(session: RelayingSession, slots: SlotMap<Serving | Carrying>, deps: AgentRelaysDeps) {
    this.#session = session;
    this.#slots = slots;
    this.#deps = deps;
  }

  get size(): number {
    return this.#carried.size;
  }

  get networkIds(): string[] {
    return [...this.#carried.keys()].map(({ networkId }) => networkId);
  }

  /** Resolves once the agent has its answer, or is gone. Never rejects. */
  async ask(asked: Attach, { tokenId }: TokenGrant): Promise<void> {
    const { network } = asked;
    const { attachDesk, relays, servings } = this.#deps;
    // As the control plane reads it: an id before a name.
    const isAsked = ({ networkId, name }: { networkId: string; name: string }): boolean =>
      relays.routeOf(network) === undefined ? name === network : networkId === network;
    await attachDesk.attach(
      { tokenId, agentId: this.#session.agentId, network },
      {
        gone: () => !this.#session.takesMore,
        isAnswered: () => this.repeats(asked),
        serving: () =>
          servings.tunnelsOf(tokenId).length + relays.carriedBy(tokenId).filter((carried) => !isAsked(carried)).length,
        settle: (outcome) => this.#settle(asked, tokenId, outcome),
      },
    );
  }

  /** Whether it is carried already, by the same words: then the answer is given once more, and no one else is asked. */
  repeats({ ref, network, target, peers }: Attach): boolean {
    for (const answer of this.#carried.values()) {
      if (answer === null || answer.network !== network || answer.target !== target || answer.peers !== peers) continue;
      this.#session.send({ ...answer.attached, ref });
      return true;
    }
    return false;
  }

  /** The agent carries it no more, by its own word. */
  release(carrying: Carrying): void {
    this.#deps.relays.detach(carrying.networkId, carrying);
    this.#free(carrying);
  }

  /** All of them: the session is over, or its agent leaves. */
  releaseAll(): void {
    for (const carrying of [...this.#carried.keys()]) this.release(carrying);
  }

  #settle(asked: Attach, tokenId: string, outcome: AttachOutcome): void {
    if (outcome.ok) this.#attach(asked, tokenId, outcome.route);
    else this.#session.send({ type: 'refused', ref: asked.ref, code: outcome.code, message: outcome.message });
  }

  #attach({ ref, network, target, peers }: Attach, tokenId: string, route: RelayRoute): void {
    const session = this.#session;
    const carrying = this.#slots.take(
      (slot): Carrying => ({
        agentId: session.agentId,
        payer: session.payerOf(tokenId),
        session: session.session,
        shaper: session.shaper,
        whence: session.whence,
        networkId: route.networkId,
        slot,
        ended: (code, message) => this.#unbind(carrying, code, message),
        onDevices: peers === true ? (...some) => this.#tellPeers(carrying, ...some) : null,
      }),
    );
    this.#carried.set(carrying, null);
    this.#tell('carries', carrying);
    const attachment = this.#deps.relays.attach(route.networkId, carrying);
    const attached: Attached = {
      type: 'attached',
      ref,
      slot: carrying.slot,
      networkId: route.networkId,
      name: route.name,
      endpoint: route.endpoint,
      port: route.port,
      token: attachment.token.toString('base64url'),
      key: attachment.key.toString('base64url'),
      epoch: attachment.epoch,
    };
    if (this.#carried.has(carrying)) this.#carried.set(carrying, { network, target, peers, attached });
    session.send(attached);
    // An agent that does not read may just have been cut off by that message.
    if (!session.isLive) return;
    session.onAttached();
    attachment.begin();
  }

  /** Of some devices, in messages of a bounded length. */
  #tellPeers({ slot }: Carrying, some: readonly RelayDevice[], isFirst: boolean, isLast: boolean): void {
    let from = 0;
    do {
      const items = some.slice(from, from + PEERS_AT_ONCE).map(peerOf);
      const begins = isFirst && from === 0;
      from += PEERS_AT_ONCE;
      this.#session.send({ type: 'peers', slot, items, isFirst: begins, isLast: isLast && from >= some.length });
    } while (from < some.length && this.#session.isLive);
  }

  #unbind(carrying: Carrying, code: RefusalCode, message: string): void {
    if (this.#free(carrying)) this.#session.onUnbound(carrying.slot, code, message);
  }

  #free(carrying: Carrying): boolean {
    if (this.#carried.delete(carrying)) this.#tell('carries_no_more', carrying);
    return this.#slots.free(carrying.slot, carrying);
  }

  #tell(kind: 'carries' | 'carries_no_more', { networkId }: Carrying): void {
    this.#deps.onPresence({ kind, agentId: this.#session.agentId, networkId });
  }
}

function peerOf({ publicKey, allowedIps }: RelayDevice): PeerItem {
  return { key: publicKey, ips: [...allowedIps] };
}
