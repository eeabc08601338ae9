/**
 * What the data plane tells the control plane, in batches that are numbered per node so that a repeat is dropped.
 */

/** Traffic that one token carried for one tunnel since the last batch. */
export interface UsageEvent {
  readonly kind: 'usage';
  readonly tunnelId: string;
  readonly tokenId: string;
  readonly requests: number;
  /** Bytes from visitors towards the local service. */
  readonly bytesIn: number;
  /** Bytes from the local service towards visitors. */
  readonly bytesOut: number;
}

/** An agent came to serve a tunnel, or left it. */
export interface AgentEvent {
  readonly kind: 'agent';
  readonly agentId: string;
  readonly tunnelId: string;
  readonly online: boolean;
  readonly at: number;
}

export type PlaneEvent = UsageEvent | AgentEvent;

export interface EventBatch {
  /** Names the node and its start (`edge-1/8f3c…`), so that counting from 1 after a restart repeats nothing. */
  readonly node: string;
  /** Counts up from 1 per node and start; with `node` it identifies the batch. */
  readonly sequence: number;
  readonly events: readonly PlaneEvent[];
}
