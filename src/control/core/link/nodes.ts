/**
 * The data nodes that the control plane can ask, as one. Made before any of them is there: the services need it first, and a node needs
 * the link that the services make.
 */
import { type EdgeStats, sumOfStats } from '../../../plane/edge-stats.ts';
import type { TunnelAnswer, TunnelRequest } from '../../../plane/inspection.ts';
import type { ConnectionInfo, NodeControl, NodePulse } from '../../../plane/link.ts';
import type { ShownNarrowing } from '../../../plane/narrowing.ts';
import type { AdviceCode } from '../../../wire/advice-codes.ts';
import type { PolicyTest, PolicyTestAnswer } from '../../../plane/policy-test.ts';
import type { RelayInfo } from '../../../plane/relays.ts';

export class Nodes implements NodeControl {
  readonly #attached = new Set<NodeControl>();

  /** Returns the detacher. */
  attach(node: NodeControl): () => void {
    this.#attached.add(node);
    return () => void this.#attached.delete(node);
  }

  connections(): readonly ConnectionInfo[] {
    return [...this.#attached].flatMap((node) => node.connections());
  }

  disconnect(agentId: string, reason?: string): boolean {
    return [...this.#attached].some((node) => node.disconnect(agentId, reason));
  }

  isOnline(tunnelId: string): boolean {
    for (const node of this.#attached) if (node.isOnline(tunnelId)) return true;
    return false;
  }

  adviceOf(tunnelId: string): AdviceCode | null {
    for (const node of this.#attached) if (node.isOnline(tunnelId)) return node.adviceOf(tunnelId);
    return null;
  }

  isTaken(tunnelId: string): boolean {
    for (const node of this.#attached) if (node.isTaken(tunnelId)) return true;
    return false;
  }

  narrowingOf(tunnelId: string): ShownNarrowing | undefined {
    for (const node of this.#attached) if (node.isOnline(tunnelId)) return node.narrowingOf(tunnelId);
    return undefined;
  }

  isCarried(networkId: string): boolean {
    for (const node of this.#attached) if (node.isCarried(networkId)) return true;
    return false;
  }

  async relay(networkId: string): Promise<RelayInfo | undefined> {
    for (const node of this.#attached) {
      const relay = await node.relay(networkId);
      if (relay !== undefined) return relay;
    }
    return undefined;
  }

  async stats(): Promise<EdgeStats | undefined> {
    const all = await Promise.all([...this.#attached].map((node) => node.stats()));
    return sumOfStats(all.filter((stats) => stats !== undefined));
  }

  async pulse(): Promise<NodePulse | undefined> {
    const all = await Promise.all([...this.#attached].map((node) => node.pulse()));
    const known = all.filter((pulse) => pulse !== undefined);
    if (known.length === 0 || known.length < all.length) return undefined;
    return {
      edgeEndsAt: soonest(known.map(({ edgeEndsAt }) => edgeEndsAt)),
      agentsEndsAt: soonest(known.map(({ agentsEndsAt }) => agentsEndsAt)),
    };
  }

  async send(request: TunnelRequest): Promise<TunnelAnswer> {
    for (const node of this.#attached) if (node.isOnline(request.tunnelId)) return node.send(request);
    return { ok: false, code: 'tunnel_offline' };
  }

  /** By any of them that has room: all have the same steps. */
  async testPolicy(question: PolicyTest): Promise<PolicyTestAnswer> {
    for (const node of this.#attached) {
      const answer = await node.testPolicy(question);
      if (answer.ok) return answer;
    }
    return { ok: false, code: 'overloaded' };
  }

  async flushInspections(): Promise<void> {
    await Promise.all([...this.#attached].map((node) => node.flushInspections()));
  }
}

function soonest(ends: ReadonlyArray<number | null>): number | null {
  const set = ends.filter((at) => at !== null);
  return set.length === 0 ? null : Math.min(...set);
}
