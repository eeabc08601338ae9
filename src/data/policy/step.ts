/**
 * What one step of a tunnel's chain is, and what it is told of a request. A step decides at once or later; while it decides the visitor's
 * connection waits and is not read.
 */
import type { EdgeRefusal } from '../edge/refusal.ts';
import type { Head } from '../edge/head.ts';

/** One object per visitor connection, filled anew for each request: a step that decides later copies what it needs first. */
export interface PolicyRequest {
  bytes: Buffer;
  /** Where the head starts and ends in `bytes`. */
  start: number;
  end: number;
  head: Head;
  /** True address: the socket's, or what a trusted proxy says. */
  clientIp: string;
  /** Monotonic, coarse. */
  nowMs: number;
}

/** null: the request may pass. */
export type Verdict = EdgeRefusal | null;

export interface Step {
  /** Throws nothing and rejects with nothing that it expects; what does so all the same refuses the request (chain.ts). */
  decide(request: PolicyRequest): Verdict | Promise<Verdict>;
}
