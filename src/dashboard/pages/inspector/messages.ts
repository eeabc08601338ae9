/** Decisions of the edge in words. Pure: tested without a browser. */
import { explain } from '../../../base/codes/code-text.ts';
import { edgeFault } from '../../../base/codes/edge-faults.ts';
import type { Schemas } from '../../api/types.ts';
import { entryOf } from '../policy/kinds.ts';
import type { Item } from './filters/filter.ts';

export type Detail = Schemas['InspectedRequestDetail'];
export type Step = Schemas['InspectedTrace']['steps'][number];

/** Of parts/state-badge.tsx. */
type Tone = 'good' | 'bad' | 'warn' | 'quiet';

interface Said {
  readonly short: string;
  readonly long: string;
}

const OUTCOMES: Readonly<Record<Item['outcome'], Said>> = {
  forwarded: { short: 'Forwarded', long: "The visitor got the service's response." },
  refused: { short: 'Blocked', long: 'The edge did not forward it.' },
  failed: { short: 'Failed', long: 'It was forwarded, but no full response came back.' },
};

/** For a row: two or three words. */
export function decisionText({ outcome, code }: Pick<Item, 'outcome' | 'code'>): string {
  if (code === null) return OUTCOMES[outcome].short;
  return edgeFault(code)?.label ?? code;
}

/** For the request's own page: what happened, and what to do. */
export function reasonText({ outcome, code }: Pick<Item, 'outcome' | 'code'>): string {
  if (code === null) return OUTCOMES[outcome].long;
  const fault = edgeFault(code);
  return fault === undefined ? `${OUTCOMES[outcome].long} Code: ${code}.` : explain(fault);
}

export function toneOf(outcome: Item['outcome']): Tone {
  return outcome === 'forwarded' ? 'good' : outcome === 'refused' ? 'warn' : 'bad';
}

/** 0 stands for "the visitor got nothing". */
export function statusText(status: number): string {
  return status === 0 ? 'none' : String(status);
}

/** What a status is coloured after; its digits say the same. */
export function statusClass(status: number): string {
  return status === 0 ? 'cut' : String(Math.floor(status / 100));
}

/** Beside the actions of a policy, which are called as their form calls them. */
const STEPS: Readonly<Record<string, string>> = {
  basic_gate: 'Password',
  visitor_gate: 'Visitor login',
  webhook_verify: 'Webhook signature',
  visitor_sign_in: 'Login path',
  agent_wait: 'Wait for agent',
};

/** What was asked: "Block a path, action 1 of the policy". */
export function stepText({ step, index }: Step): string {
  const name = entryOf(step)?.title ?? (Object.hasOwn(STEPS, step) ? STEPS[step] : undefined) ?? step;
  return index === null ? name : `${name}, action ${index + 1} of the policy`;
}

/** What it answered. */
export function verdictText({ step, verdict, code, rule }: Step): string {
  if (step === 'agent_wait') return `${verdict === 'passed' ? 'agent reconnected' : 'no agent'} after ${rule ?? '?'}`;
  const why = rule ?? (code === null ? undefined : decisionText({ outcome: 'refused', code }));
  const because = why === undefined ? '' : `: ${why}`;
  switch (verdict) {
    case 'passed':
      return 'allowed it';
    case 'refused':
      return `blocked it${because}`;
    case 'would_refuse':
      return `is log only, and would have blocked it${because}`;
    case 'beside':
      return 'is log only, and ran in parallel';
    default:
      return verdict satisfies never;
  }
}

export function verdictTone(verdict: Step['verdict']): Tone {
  return verdict === 'passed' ? 'good' : verdict === 'refused' ? 'bad' : verdict === 'would_refuse' ? 'warn' : 'quiet';
}

/** The step that refused it. */
export function refuserOf({ trace }: Detail): Step | undefined {
  return trace.steps.find(({ verdict }) => verdict === 'refused');
}

/** The part of the tunnel's page where what refused it is changed. */
export function partOf(detail: Detail): { readonly tab: string; readonly words: string } | undefined {
  const step = refuserOf(detail);
  if (detail.code === 'maintenance') return { tab: 'maintenance', words: 'Open maintenance' };
  if (step === undefined || step.step === 'agent_wait') return undefined;
  return step.index === null
    ? { tab: 'access-control', words: 'Open access control' }
    : { tab: 'policy', words: 'Open policy' };
}

export interface Part {
  readonly key: 'edge' | 'service' | 'answer';
  readonly title: string;
  readonly ms: number;
}

/** Where the time went, in the order in which it did; parts that did not happen are left out. */
export function timingOf({ latency_ms: all, trace }: Detail): Part[] {
  const decided = Math.min(trace.policy_ms, all);
  const edge: Part = { key: 'edge', title: 'Edge decision', ms: decided };
  if (trace.first_byte_ms === null) {
    const rest = all - decided;
    return rest > 0.05
      ? [
          edge,
          {
            key: 'service',
            title: trace.agent_id === null ? 'Edge response' : 'Agent and service, no response',
            ms: rest,
          },
        ]
      : [edge];
  }
  const first = Math.min(Math.max(trace.first_byte_ms, decided), all);
  return [
    edge,
    { key: 'service', title: 'Agent and service, to first byte', ms: first - decided },
    { key: 'answer', title: 'Response', ms: all - first },
  ];
}
