/**
 * One step of a tunnel's chain, and its view of a request. A step decides at once or later; while it decides the visitor's
 * connection waits and is not read.
 */
import type { FaultCode } from '../../base/codes/edge-faults.ts';
import type { EdgeRefusal } from '../faults/fault.ts';
import type { Head } from '../../http1/head.ts';
import type { TraceStep } from '../../plane/inspection.ts';
import type { ShownBefore } from './password/shown-before.ts';

/** One object per visitor connection, filled anew for each request: a step that decides later copies what it needs first. */
export interface PolicyRequest {
  bytes: Buffer;
  /** Where the head starts and ends in `bytes`. */
  start: number;
  end: number;
  head: Head;
  /** True address: the socket's, or what a trusted proxy says; `unknown` where that is none. */
  clientIp: string;
  /** What that address counts as: IPv4 itself, IPv6 as its /64. */
  clientKey: string;
  /** Over TLS, or so says a trusted proxy. */
  isHttps: boolean;
  /** Sent by the control plane: gates, which ask visitors who they are, are not asked. */
  readonly passesGates: boolean;
  /** Monotonic, coarse. */
  nowMs: number;
  /** What an action that is only tried would have refused it with; the first one counts. */
  wouldRefuse: FaultCode | null;
  /** Records the result of each step; null: the request is not recorded. */
  trace: StepTrace | null;
  /** The connection's. */
  readonly shown: ShownBefore;
  /** Whether its bearer token is one to this server itself, as far as a step has found out; null: not checked. */
  ownToken: boolean | null;
  /** The identity header for the service, with its CR LF: set by a visitor gate that allows the visitor. */
  visitorLine: Buffer | null;
  /** For a step whose verdict depends on the body. */
  readonly body: RequestBodyReader;
}

/** Gets the body of the request at hand, which is forwarded only then. */
export interface RequestBodyReader {
  /** All of it, or why it can't be had. `party`: whose tunnel it is, and the address that sends. */
  read(party: readonly [orgId: string, address: string]): Promise<Buffer | EdgeRefusal>;
}

/** The record of a request: data/inspect/draft.ts. */
export interface StepTrace {
  note(step: TraceStep): void;
}

/** null: the request may pass. */
export type Verdict = EdgeRefusal | null;

export interface Step {
  /** It may decide later, by what it must ask others for. */
  readonly decidesLater?: true;
  /** Throws nothing and rejects with nothing that it expects; what does so all the same refuses the request (chain.ts). */
  decide(request: PolicyRequest): Verdict | Promise<Verdict>;
}
