/**
 * The steps that a request passes before it is forwarded, in order; the first refusal counts. Made by compile.ts when a route changes, run by
 * edge/dispatch.ts per request. A step that fails refuses: a gate that can't decide stays closed.
 */
import type { Logger } from '../../base/log.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';

const FAILED: EdgeRefusal = { code: 'policy_failed' };

/** A step with what its action says beside its kind. */
export interface ChainedStep {
  readonly step: Step;
  /** Place of its action in the policy, for the counters; -1 for a gate, which is none. */
  readonly action: number;
  /** False: what it would refuse is counted and let through. */
  readonly enforce: boolean;
}

/** What a chain did since it was made, per action of the policy: read and zeroed by whoever reports. */
export interface ActionCounts {
  readonly matched: number[];
}

/** The answer of a step that decides later, and the place in the chain from where it goes on. */
export interface Pending {
  readonly verdict: Promise<Verdict>;
  readonly next: number;
}

export class PolicyChain {
  readonly counts: ActionCounts;
  readonly #steps: readonly ChainedStep[];
  readonly #log: Logger;

  constructor(steps: readonly ChainedStep[], of: { readonly actions: number; readonly log: Logger }) {
    this.#steps = steps;
    this.#log = of.log;
    this.counts = { matched: Array.from({ length: of.actions }, () => 0) };
  }

  /** Asks the steps from `from` on: a refusal, null when all let it pass, or what to wait for. */
  decide(request: PolicyRequest, from: number): Verdict | Pending {
    for (let at = from; at < this.#steps.length; at++) {
      const chained = this.#steps[at] as ChainedStep;
      const verdict = this.#ask(chained, request);
      if (verdict === null) continue;
      if (verdict instanceof Promise) return { verdict: this.#later(chained, verdict), next: at + 1 };
      const refused = this.#judge(chained, verdict);
      if (refused !== null) return refused;
    }
    return null;
  }

  #ask({ step }: ChainedStep, request: PolicyRequest): Verdict | Promise<Verdict> {
    try {
      return step.decide(request);
    } catch (error) {
      this.#log.error({ err: error }, 'a policy step failed: the request was refused');
      return FAILED;
    }
  }

  async #later(chained: ChainedStep, verdict: Promise<Verdict>): Promise<Verdict> {
    try {
      const decided = await verdict;
      return decided === null ? null : this.#judge(chained, decided);
    } catch (error) {
      this.#log.error({ err: error }, 'a policy step failed: the request was refused');
      return this.#judge(chained, FAILED);
    }
  }

  #judge({ action, enforce }: ChainedStep, refusal: EdgeRefusal): Verdict {
    if (action >= 0) this.counts.matched[action] = (this.counts.matched[action] ?? 0) + 1;
    return enforce ? refusal : null;
  }
}

/** Whether a chain's answer is yet to come. */
export function isPending(answer: Verdict | Pending): answer is Pending {
  return answer !== null && 'verdict' in answer;
}
