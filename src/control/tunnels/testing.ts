/** A data node for tests of what the control plane sends down tunnels: it keeps each request until the test answers it. */
import assert from 'node:assert/strict';
import type { KeptResponse, TunnelAnswer, TunnelRequest } from '../../plane/inspection.ts';
import type { NodeControl } from '../../plane/link.ts';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import type { Plane } from '../core/testing/plane.ts';

/** Longer than anything here takes. */
const PATIENCE_MS = 30_000;

interface Held {
  readonly request: TunnelRequest;
  readonly answer: (said: TunnelAnswer) => void;
  readonly fail: (error: Error) => void;
}

export class TunnelNode {
  /** Tunnels that an agent serves. */
  readonly online = new Set<string>();
  /** Asked and not answered yet, oldest first. */
  readonly held: Held[] = [];
  /** All that were ever asked. */
  readonly asked: TunnelRequest[] = [];
  readonly #plane: Plane;
  #sequence = 0;

  constructor(plane: Plane) {
    this.#plane = plane;
    const node: NodeControl = {
      ...IDLE_NODE,
      isOnline: (id) => this.online.has(id),
      isTaken: (id) => this.online.has(id),
      send: (request) => {
        const { promise, resolve, reject } = Promise.withResolvers<TunnelAnswer>();
        this.asked.push(request);
        this.held.push({ request, answer: resolve, fail: reject });
        return promise;
      },
    };
    plane.control.nodes.attach(node);
  }

  /** An agent comes to serve the tunnel, and the control plane gets it. */
  async come(tunnelId: string): Promise<void> {
    this.online.add(tunnelId);
    const event = { kind: 'agent', agentId: 'a', tunnelId, online: true, at: this.#plane.now } as const;
    await this.#plane.control.link.report({ node: 'n/1', sequence: ++this.#sequence, events: [event] });
  }

  /** The next request, once it has come. */
  async next(): Promise<Held> {
    await until(() => this.held.length > 0, 'a request');
    const first = this.held.shift();
    assert.ok(first !== undefined);
    return first;
  }

  /** Answers the next request as the service would, or the edge with a code. Says what it was. */
  async answer(status: number, code: string | null = null, response?: KeptResponse): Promise<TunnelRequest> {
    const { request, answer } = await this.next();
    answer({ ok: true, id: '', status, code, latencyMs: 1, ...(response === undefined ? {} : { response }) });
    return request;
  }
}

/** Turns of the loop until it holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(performance.now() < end, `${what} did not come`);
    await turn();
  }
}

/** Lets all that is due happen: what does not happen now won't. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
