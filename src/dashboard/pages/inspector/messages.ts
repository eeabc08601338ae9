/** What the edge decided, in words for people. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { entryOf } from '../policy/kinds.ts';
import type { Item } from './filter.ts';

export type Detail = Schemas['InspectedRequestDetail'];
export type Step = Schemas['InspectedTrace']['steps'][number];

/** Of parts/state-badge.tsx. */
type Tone = 'good' | 'bad' | 'warn' | 'quiet';

interface Said {
  /** For a row: two or three words. */
  readonly short: string;
  /** For the request's own page: what happened, and what can be done. */
  readonly long: string;
}

/** By `culvert-error`. What is not here is said by its code. */
const CODES: Readonly<Record<string, Said>> = {
  bad_request: {
    short: 'Not well-formed',
    long: 'The request was not well-formed HTTP, or could be read in more than one way.',
  },
  request_timeout: { short: 'Came too slowly', long: 'The request did not arrive completely in time.' },
  uri_too_long: { short: 'Address too long', long: 'The address is longer than this server takes.' },
  head_too_large: {
    short: 'Head too large',
    long: 'The request has more header fields, or more bytes of them, than this server takes.',
  },
  https_redirect: {
    short: 'Sent to https',
    long: 'The visitor came by http and was sent to the same address with https.',
  },
  https_required: { short: 'Needs https', long: 'The visitor came by http. This tunnel is served over https only.' },
  misdirected_request: {
    short: 'Wrong connection',
    long: 'The connection was made for another name than the request asks for.',
  },
  maintenance: {
    short: 'Maintenance',
    long: 'The tunnel is in maintenance: visitors get its message. Turn maintenance off to let them in.',
  },
  tunnel_offline: { short: 'No agent', long: 'No agent served the tunnel. Start one.' },
  budget_exhausted: {
    short: 'Budget spent',
    long: 'The key behind this tunnel has spent its budget of the month. Raise the budget of the key.',
  },
  unauthorized: {
    short: 'Password asked',
    long: 'The tunnel asks for a user name and a password, and the visitor gave none that fit.',
  },
  sign_in: { short: 'Sent to sign in', long: 'Visitors of this tunnel sign in first: this one was sent to do so.' },
  signed_in: { short: 'Signed in', long: 'The visitor has signed in, and was sent to where they wanted to go.' },
  sign_in_failed: {
    short: 'Login failed',
    long: 'The visitor did not complete the login, or is not on the list of the tunnel.',
  },
  sign_out: { short: 'Asked to sign out', long: 'The visitor was asked whether to sign out.' },
  signed_out: { short: 'Signed out', long: 'The visitor has signed out.' },
  invalid_token: {
    short: 'No valid token',
    long: 'The policy asks for a bearer token: there was none, or it is not valid here.',
  },
  denied: { short: 'Blocked', long: 'The policy of the tunnel does not let this request in.' },
  rate_limited: { short: 'Rate limited', long: 'The policy of the tunnel limits how often it may be asked.' },
  policy_failed: {
    short: 'Not checked',
    long: 'The policy could not be applied, and so the request was not passed on.',
  },
  loop_detected: {
    short: 'Loop',
    long: 'The tunnel leads back to this server. Point the agent at the service itself.',
  },
  overloaded: { short: 'Too busy', long: 'Too many requests were under way on this tunnel.' },
  local_unreachable: {
    short: 'Service unreachable',
    long: 'The agent could not reach your service. Is it running, and on this port?',
  },
  local_closed: { short: 'No answer', long: 'Your service closed the connection before it sent a response.' },
  local_bad_response: { short: 'Bad answer', long: 'Your service sent an invalid HTTP response.' },
  local_timeout: { short: 'Timed out', long: 'Your service did not respond in time.' },
  agent_lost: { short: 'Agent lost', long: 'The connection to the agent broke while it worked on this request.' },
};

const OUTCOMES: Readonly<Record<Item['outcome'], Said>> = {
  forwarded: { short: 'Forwarded', long: "The visitor got the service's response." },
  refused: { short: 'Refused', long: 'The edge did not pass it on.' },
  failed: { short: 'Failed', long: 'It was passed on, and no whole answer came back.' },
};

/** For a row. */
export function decisionText({ outcome, code }: Pick<Item, 'outcome' | 'code'>): string {
  if (code === null) return OUTCOMES[outcome].short;
  return known(code)?.short ?? code;
}

/** A sentence or two. */
export function reasonText({ outcome, code }: Pick<Item, 'outcome' | 'code'>): string {
  if (code === null) return OUTCOMES[outcome].long;
  return known(code)?.long ?? `${OUTCOMES[outcome].long} Code: ${code}.`;
}

function known(code: string): Said | undefined {
  return Object.hasOwn(CODES, code) ? CODES[code] : undefined;
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
  visitor_sign_in: 'Path of the login',
  agent_wait: 'Wait for the agent',
};

/** What was asked: "Block a path, action 1 of the policy". */
export function stepText({ step, index }: Step): string {
  const name = entryOf(step)?.title ?? (Object.hasOwn(STEPS, step) ? STEPS[step] : undefined) ?? step;
  return index === null ? name : `${name}, action ${index + 1} of the policy`;
}

/** What it answered. */
export function verdictText({ step, verdict, code, rule }: Step): string {
  if (step === 'agent_wait')
    return `${verdict === 'passed' ? 'agent came back' : 'no agent came'} after ${rule ?? '?'}`;
  const why = rule ?? (code === null ? undefined : decisionText({ outcome: 'refused', code }));
  const because = why === undefined ? '' : `: ${why}`;
  switch (verdict) {
    case 'passed':
      return 'let it pass';
    case 'refused':
      return `refused it${because}`;
    case 'would_refuse':
      return `is only tried, and would have refused it${because}`;
    case 'beside':
      return 'is only tried, and found out beside the request';
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
  if (detail.code === 'maintenance') return { tab: 'maintenance', words: "To the tunnel's maintenance" };
  if (step === undefined || step.step === 'agent_wait') return undefined;
  return step.index === null
    ? { tab: 'access-control', words: "To the tunnel's access control" }
    : { tab: 'policy', words: "To the tunnel's policy" };
}

export interface Part {
  readonly key: 'edge' | 'service' | 'answer';
  readonly title: string;
  readonly ms: number;
}

/** Where the time went, in the order in which it did; parts that did not happen are left out. */
export function timingOf({ latency_ms: all, trace }: Detail): Part[] {
  const decided = Math.min(trace.policy_ms, all);
  const edge: Part = { key: 'edge', title: 'Edge decides', ms: decided };
  if (trace.first_byte_ms === null) {
    const rest = all - decided;
    return rest > 0.05
      ? [
          edge,
          {
            key: 'service',
            title: trace.agent_id === null ? 'Edge answers' : 'Agent and service, no answer',
            ms: rest,
          },
        ]
      : [edge];
  }
  const first = Math.min(Math.max(trace.first_byte_ms, decided), all);
  return [
    edge,
    { key: 'service', title: 'Agent and service, until the first byte', ms: first - decided },
    { key: 'answer', title: 'Answer', ms: all - first },
  ];
}
