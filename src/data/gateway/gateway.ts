/**
 * The agents' side of a data node, put together: listener, sessions, registry. Made by data/node-parts.ts.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { type Clock, systemClock, type Sweeper } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { ListenAt } from '../../base/net/listen.ts';
import type { SlabPool } from '../../base/bytes/slab.ts';
import { attachSession } from '../../mux/attach.ts';
import { Shaper } from '../../mux/shaper.ts';
import { plainAddress } from '../../base/net/address-key.ts';
import type { Drops } from '../faults/drops.ts';
import type { HandshakeLimits } from '../../base/net/handshake-rate.ts';
import type { Holds } from '../edge/exchange/holds.ts';
import type { MuxSession } from '../../mux/session.ts';
import { DEAD_AFTER_MS, HEARTBEAT_MS } from '../../wire/messages.ts';
import type { WindowBudget } from '../../mux/window.ts';
import type { Link } from '../../plane/link.ts';
import type { PresenceEvent } from '../../plane/presence.ts';
import type { Prices } from '../../plane/spend.ts';
import type { UsageMeter } from '../report/meter.ts';
import type { RelayRegistry } from '../relay/relay-registry.ts';
import type { Outbox } from '../report/outbox.ts';
import type { RouteTable } from '../routing/table.ts';
import { type AgentDeps, AgentSession } from './agent.ts';
import { AttachDesk } from './claims/attaches.ts';
import { Budgets } from './budgets.ts';
import { ClaimDesk, type PublicPorts } from './claims/claims.ts';
import { AgentListener, type AgentTls } from './handshakes/listener.ts';
import { AgentRegistry } from './registry.ts';
import { ServingRegistry } from './serving.ts';
import { TokenQueues } from './claims/token-queues.ts';

/** `drain` goes in a faster lane than requests, and an agent that has it refuses new ones: those that were just sent get a head start. */
const OVERTAKE_MS = 50;

/** As the agents' side has it (agent/connect/connect.ts). */
const ALIVE = { heartbeatMs: HEARTBEAT_MS, deadAfterMs: DEAD_AFTER_MS };

export interface GatewayLimits {
  readonly maxSessions: number;
  readonly maxStreamsPerSession: number;
  /** For TLS and hello together, up to `welcome`. */
  readonly handshakeTimeoutSeconds: number;
  /** Sockets without a good token yet, in all and per address. */
  readonly maxAnonymous: number;
  readonly maxAnonymousPerIp: number;
  /** Handshakes of one address that lead to no good token. */
  readonly unknownHandshakes: HandshakeLimits;
}

export interface GatewayOptions {
  /** null: agents come by `adopt` alone. */
  readonly listen: ListenAt | null;
  readonly tls: AgentTls;
  readonly limits: GatewayLimits;
  /** What budgets are counted in. */
  readonly prices: Prices;
  readonly serverVersion: string;
  readonly serverId: string;
}

export interface GatewayDeps {
  readonly link: Link;
  readonly table: RouteTable;
  readonly ports: PublicPorts;
  /** Of private networks. */
  readonly relays: RelayRegistry;
  readonly meter: UsageMeter;
  /** Told of sessions that are lost, and of agents that come. */
  readonly holds: Holds;
  readonly outbox: Outbox;
  readonly slabs: SlabPool;
  readonly budget: WindowBudget;
  readonly sweeper: Sweeper<MuxSession>;
  readonly drops: Pick<Drops, 'add'>;
  readonly log: Logger;
  readonly onPresence: (event: PresenceEvent) => void;
  readonly clock?: Clock;
}

export class Gateway {
  readonly registry: AgentRegistry;
  readonly #listener: AgentListener;
  readonly #agentDeps: AgentDeps;
  readonly #options: GatewayOptions;
  readonly #deps: GatewayDeps;
  /** What frees the anonymous place of a session, until it is known or over. */
  readonly #unknown = new Map<AgentSession, (isGood: boolean) => void>();

  constructor(options: GatewayOptions, deps: GatewayDeps) {
    this.#options = options;
    this.#deps = deps;
    const { link, table, ports, relays, log, onPresence } = deps;
    const queues = new TokenQueues();
    const now = (): number => (deps.clock ?? systemClock).now();
    const { limits, prices } = options;
    const budgets = new Budgets({ prices, now, isReported: () => deps.outbox.idle });
    this.registry = new AgentRegistry({
      link,
      table,
      budgets,
      log,
      now,
      maxSessions: limits.maxSessions,
      onPresence,
      onEnd: (event) => deps.outbox.addEnd({ kind: 'session_end', ...event }),
      onKnown: (agent, isGood) => {
        this.#unknown.get(agent)?.(isGood);
        this.#unknown.delete(agent);
      },
    });
    this.#agentDeps = {
      link,
      servings: new ServingRegistry({
        ...{ meter: deps.meter, outbox: deps.outbox, holds: deps.holds, onPresence, now },
        onServed: (entry) => table.servedAnew(entry),
      }),
      desk: new ClaimDesk({ link, table, ports, queues, log, now }),
      attachDesk: new AttachDesk({ link, table, relays, queues, log }),
      relays,
      onPresence,
      host: this.registry,
      drops: deps.drops,
      log,
      serverVersion: options.serverVersion,
      serverId: options.serverId,
      now,
    };
    this.#listener = new AgentListener(
      {
        listen: options.listen,
        tls: options.tls,
        anonymous: {
          total: limits.maxAnonymous,
          perAddress: limits.maxAnonymousPerIp,
          handshakes: limits.unknownHandshakes,
          deadlineMs: limits.handshakeTimeoutSeconds * 1_000,
        },
      },
      (socket, ip, known) => this.#start(socket, ip, known),
      log,
    );
  }

  /** Sockets without a good token yet. */
  get anonymous(): { readonly size: number; readonly queued: number; readonly refused: number } {
    return this.#listener.anonymous;
  }

  /** null: it has no listener of its own. */
  listen(): Promise<AddressInfo | null> {
    return this.#listener.listen();
  }

  /** Takes an agent at `ip` after its TLS handshake on another listener. The limits of this one hold for it. */
  adopt(socket: TLSSocket, ip: string): void {
    this.#listener.adopt(socket, ip);
  }

  /** For agents that connect from now on; sessions go on. Throws, with nothing changed, when the two do not fit. */
  setCertificate(tls: AgentTls): void {
    this.#listener.setCertificate(tls);
  }

  /** Takes no more agents and asks those connected to finish and come back. Their streams go on until `close`. */
  async drain(): Promise<void> {
    this.#listener.close();
    await pause(OVERTAKE_MS);
    this.registry.drain();
  }

  /** Says goodbye to all agents and ends their sessions. */
  close(): Promise<void> {
    this.#listener.close();
    return this.registry.close();
  }

  #start(socket: TLSSocket, ip: string, known: (isGood: boolean) => void): () => void {
    const { slabs, budget, sweeper } = this.#deps;
    const maxStreams = this.#options.limits.maxStreamsPerSession;
    const shaper = new Shaper();
    const agent = new AgentSession(
      {
        remoteIp: plainAddress(ip),
        shaper,
        attach: (handler) =>
          attachSession(socket, handler, { role: 'server', slabs, budget, sweeper, maxStreams, shaper, ...ALIVE }),
      },
      this.#agentDeps,
    );
    this.#unknown.set(agent, known);
    return () => agent.expire();
  }
}
