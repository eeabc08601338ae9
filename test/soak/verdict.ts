/** Judges one request of a soak by its plan, what the visitor saw and what the service saw. */
import type { Seen } from './origin.ts';
import { type Bodies, hashOf, type Plan } from './plan.ts';
import type { Outcome } from './visitor.ts';

/** How a request ended, for the table at the end; or what is wrong with it. */
export type Verdict =
  | { readonly good: 'whole' | 'seen as broken off' | 'left by the visitor' | 'refused by the edge' }
  | { readonly bad: string };

/** `seen` is what the service had seen when everything was over. */
export function judge(plan: Plan, outcome: Outcome, at: { seen: Seen | undefined; bodies: Bodies }): Verdict {
  const { seen, bodies } = at;
  if (outcome.kind === 'fault') return { bad: outcome.why };
  if (seen?.upload === 'wrong') return { bad: 'the service took an upload for whole that was not' };
  if (seen !== undefined && seen.times > 1) return { bad: `a POST came ${seen.times} times` };
  if (seen?.upload === 'coming') return { bad: 'the service still waits for the upload' };
  if (outcome.kind === 'left') return left(plan, seen);
  if (outcome.kind === 'broken') {
    return mayBreak(plan)
      ? { good: 'seen as broken off' }
      : { bad: `broken off after ${outcome.heard} bytes: ${outcome.why}` };
  }
  const { status, headers } = outcome.response;
  const code = headers.get('culvert-error');
  if (code !== undefined) {
    // A reset overtakes what was sent before it: the agent may see nothing but that. A close with bytes of the upload unread is one, too.
    const may = plan.shaky || plan.abort.startsWith('origin-');
    return may && status >= 502 ? { good: 'refused by the edge' } : { bad: `answered ${status} ${code} by the edge` };
  }
  if (status !== 200) return { bad: `answered ${status}` };
  if (plan.abort !== 'none') return { bad: `a response that was broken off (${plan.abort}) came as a whole one` };
  if (outcome.size !== plan.down) return { bad: `${outcome.size} bytes came instead of ${plan.down}` };
  if (outcome.hash !== hashOf(bodies.down(plan))) return { bad: 'the response was changed on its way' };
  if (seen?.upload !== 'good') return { bad: `answered 200, but the upload was ${seen?.upload ?? 'never seen'}` };
  return { good: 'whole' };
}

function mayBreak(plan: Plan): boolean {
  return plan.shaky || plan.abort === 'origin-end' || plan.abort === 'origin-reset';
}

function left(plan: Plan, seen: Seen | undefined): Verdict {
  // A visitor that leaves while it sends has sent no whole body, whatever the service got.
  if (plan.abort === 'visitor-up' && seen?.upload === 'good')
    return { bad: 'an upload that was broken off came as a whole one' };
  return { good: 'left by the visitor' };
}
