/**
 * Which agents are connected and what they serve, as a data node tells it: one event for each change, in order, so that the control plane can
 * answer from memory who is online. Plain cloneable data.
 */
import type { AdviceCode } from '../wire/advice-codes.ts';
import type { ConnectionInfo } from './link.ts';
import type { ShownNarrowing } from './narrowing.ts';

/** A session as it begins: it serves nothing yet. */
export type SessionInfo = Omit<ConnectionInfo, 'tunnelIds' | 'uninspectedIds' | 'networkIds'>;

export type PresenceEvent =
  | { readonly kind: 'entered'; readonly session: SessionInfo }
  | { readonly kind: 'left'; readonly agentId: string }
  /** `inspected: false`: the agent wants its requests recorded nowhere. */
  | {
      readonly kind: 'serves';
      readonly agentId: string;
      readonly tunnelId: string;
      readonly inspected: boolean;
      /** What the agent's flags add in front of it. */
      readonly narrowing?: ShownNarrowing;
    }
  | { readonly kind: 'serves_no_more'; readonly agentId: string; readonly tunnelId: string }
  /** Its service refuses requests, and says why; of a tunnel that the agent serves. */
  | { readonly kind: 'advises'; readonly agentId: string; readonly tunnelId: string; readonly code: AdviceCode }
  | { readonly kind: 'carries'; readonly agentId: string; readonly networkId: string }
  | { readonly kind: 'carries_no_more'; readonly agentId: string; readonly networkId: string };
