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
  /** False: what it would refuse is let through. */
  readonly enforce: boolean;
}

/** The answer of a step that decides later, and the place in the chain from where it goes on. */
export interface Pending {
  readonly verdict: Promise<Verdict>;
  readonly next: number;
}

export class PolicyChain {
  readonly #steps: readonly ChainedStep[];
  readonly #log: Logger;

  constructor(steps: readonly ChainedStep[], log: Logger) {
    this.#steps = steps;
    this.#log = log;
  }

  /** Asks the steps from `from` on: a refusal, null when all let it pass, or what to wait for. */
  decide(request: PolicyRequest, from: number): Verdict | Pending {
    for (let at = from; at < this.#steps.length; at++) {
      const chained = this.#steps[at] as ChainedStep;
      const verdict = this.#ask(chained, request);
      if (verdict === null) continue;
      if (verdict instanceof Promise) return { verdict: this.#later(chained, verdict), next: at + 1 };
      if (chained.enforce) return verdict;
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
      return chained.enforce ? decided : null;
    } catch (error) {
      this.#log.error({ err: error }, 'a policy step failed: the request was refused');
      return chained.enforce ? FAILED : null;
    }
  }
}

/** Whether a chain's answer is yet to come. */
export function isPending(answer: Verdict | Pending): answer is Pending {
  return answer !== null && 'verdict' in answer;
}
