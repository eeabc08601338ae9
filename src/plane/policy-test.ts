/**
 * How a policy would have treated requests that were recorded: asked by the control plane, decided by a data node with the steps that visitors meet.
 * Plain cloneable data. Nothing is sent, counted or fetched for it.
 */
import type { Actions } from './policy.ts';

/** Of one question. */
export const MAX_TESTED = 1_000;

export interface TestedRequest {
  readonly id: string;
  /** When its head came, milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** As the visitor sent it. */
  readonly target: string;
  readonly clientIp: string;
  /** Values of `Authorization`, as many as there were; null: the record does not have what the visitor sent. */
  readonly authorization: readonly string[] | null;
}

export interface PolicyTest {
  /** Whose tunnel it is. */
  readonly orgId: string;
  readonly policy: Actions;
  /** Oldest first, MAX_TESTED at most: what is more is left out, the oldest first. */
  readonly requests: readonly TestedRequest[];
}

/** An action that does not let the request pass. */
export interface TestRefusal {
  /** Place in the policy. */
  readonly index: number;
  /** Error code that the visitor would get. */
  readonly code: string;
}

/**
 * Why the result is unknown. `credentials`: they are not recorded. `keys`: this node does not have the keys that the token may be signed by. `form`: the
 * request is longer than the edge takes now, or the step failed.
 */
export const UNKNOWN_REASONS = ['credentials', 'keys', 'form'] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

export interface TestVerdict {
  readonly id: string;
  /** Null: it passes, or `unknown` gives the reason. */
  readonly refused: TestRefusal | null;
  /** Actions that are only tried and would refuse it, among those that were asked. */
  readonly tried: readonly TestRefusal[];
  readonly unknown: UnknownReason | null;
}

export type PolicyTestAnswer =
  /** Those alone of which there is something to say: the others pass. */
  | { readonly ok: true; readonly verdicts: readonly TestVerdict[] }
  /** Too many of these are under way, or there is no node. */
  | { readonly ok: false; readonly code: 'overloaded' };
