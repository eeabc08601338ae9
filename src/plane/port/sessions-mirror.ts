/** Which agents are connected to a data node and what they serve, kept by the events that it tells (presence.ts). Answers from memory. */
import { RecentMap } from '../../base/limits/recent-map.ts';
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { ConnectionInfo } from '../link.ts';
import type { ShownNarrowing } from '../narrowing.ts';
import type { PresenceEvent, SessionInfo } from '../presence.ts';

/** An agent that has been allowed to serve a tunnel does so by then, or not at all. */
const COMING_MS = 10_000;
const MAX_COMING = 100_000;

interface Mirrored {
  readonly session: SessionInfo;
  /** By tunnel: whether its requests may be recorded. */
  readonly tunnels: Map<string, boolean>;
  /** By tunnel: what its flags add in front of it. */
  readonly narrowings: Map<string, ShownNarrowing>;
  /** By tunnel: what its agent says of its service. */
  readonly advice: Map<string, AdviceCode>;
  readonly networks: Set<string>;
}

export class SessionsMirror {
  readonly #sessions = new Map<string, Mirrored>();
  /** By tunnel and by network, the agent that has it. */
  readonly #servedBy = new Map<string, string>();
  readonly #carriedBy = new Map<string, string>();
  /** By tunnel, the agent that has just been allowed to serve it. */
  readonly #coming = new RecentMap<string, string>({ max: MAX_COMING, ttlMs: COMING_MS });

  /** Takes the next event. One about a session that is not there is of no use and left out. */
  take(event: PresenceEvent): void {
    if (event.kind === 'entered') {
      const { session } = event;
      this.#sessions.set(session.agentId, {
        session,
        tunnels: new Map(),
        narrowings: new Map(),
        advice: new Map(),
        networks: new Set(),
      });
      return;
    }
    const mirrored = this.#sessions.get(event.agentId);
    if (mirrored === undefined) return;
    switch (event.kind) {
      case 'left':
        return this.#leave(event.agentId, mirrored);
      case 'serves':
        this.#coming.delete(event.tunnelId);
        mirrored.tunnels.set(event.tunnelId, event.inspected);
        if (event.narrowing === undefined) mirrored.narrowings.delete(event.tunnelId);
        else mirrored.narrowings.set(event.tunnelId, event.narrowing);
        mirrored.advice.delete(event.tunnelId);
        return void this.#servedBy.set(event.tunnelId, event.agentId);
      case 'serves_no_more':
        mirrored.tunnels.delete(event.tunnelId);
        mirrored.narrowings.delete(event.tunnelId);
        mirrored.advice.delete(event.tunnelId);
        return release(this.#servedBy, event.tunnelId, event.agentId);
      case 'advises':
        if (mirrored.tunnels.has(event.tunnelId)) mirrored.advice.set(event.tunnelId, event.code);
        return;
      case 'carries':
        mirrored.networks.add(event.networkId);
        return void this.#carriedBy.set(event.networkId, event.agentId);
      case 'carries_no_more':
        mirrored.networks.delete(event.networkId);
        return release(this.#carriedBy, event.networkId, event.agentId);
      default:
        return event satisfies never;
    }
  }

  has(agentId: string): boolean {
    return this.#sessions.has(agentId);
  }

  isOnline(tunnelId: string): boolean {
    return this.#servedBy.has(tunnelId);
  }

  /** What the agent that serves it says of its service. */
  adviceOf(tunnelId: string): AdviceCode | null {
    const agentId = this.#servedBy.get(tunnelId);
    return agentId === undefined ? null : (this.#sessions.get(agentId)?.advice.get(tunnelId) ?? null);
  }

  /** Online, or its session has just been allowed to serve it and may be about to. */
  isTaken(tunnelId: string): boolean {
    const agentId = this.#coming.get(tunnelId);
    return this.isOnline(tunnelId) || (agentId !== undefined && this.#sessions.has(agentId));
  }

  /** Of the agent that serves the tunnel. */
  narrowingOf(tunnelId: string): ShownNarrowing | undefined {
    const agentId = this.#servedBy.get(tunnelId);
    return agentId === undefined ? undefined : this.#sessions.get(agentId)?.narrowings.get(tunnelId);
  }

  expect(agentId: string, tunnelId: string): void {
    if (this.#sessions.has(agentId)) this.#coming.set(tunnelId, agentId);
  }

  isCarried(networkId: string): boolean {
    return this.#carriedBy.has(networkId);
  }

  connections(): ConnectionInfo[] {
    return [...this.#sessions.values()].map(({ session, tunnels, networks }) => ({
      ...session,
      tunnelIds: [...tunnels.keys()],
      uninspectedIds: [...tunnels].flatMap(([tunnelId, inspected]) => (inspected ? [] : [tunnelId])),
      networkIds: [...networks],
    }));
  }

  #leave(agentId: string, { tunnels, networks }: Mirrored): void {
    for (const tunnelId of tunnels.keys()) release(this.#servedBy, tunnelId, agentId);
    for (const networkId of networks) release(this.#carriedBy, networkId, agentId);
    this.#sessions.delete(agentId);
  }
}

/** What another agent has by now stays with it. */
function release(heldBy: Map<string, string>, id: string, agentId: string): void {
  if (heldBy.get(id) === agentId) heldBy.delete(id);
}
