/**
 * The steps that a request passes before it is forwarded, in order; the first refusal counts. Made by compile.ts when a route changes, run by
 * edge/dispatch.ts per request. A step that fails refuses: a gate that can't decide stays closed.
 */
import type { Logger } from '../../base/log.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import { type DryRun, type Seen, seenIn } from './dry-run.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';

const STEP_FAILED = 'a policy step failed: it refuses';
const FAILED: EdgeRefusal = { code: 'policy_failed' };

/** A step with what its action says beside its kind. */
export interface ChainedStep {
  readonly step: Step;
  /** Of an action that is only tried: what it would refuse is counted here, and let through. null: it refuses. */
  readonly dryRun: DryRun | null;
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
      const { dryRun } = chained;
      if (verdict instanceof Promise) {
        const later = dryRun === null ? this.#later(verdict) : this.#tried(dryRun, request, verdict);
        return { verdict: later, next: at + 1 };
      }
      if (dryRun === null) return verdict;
      letPass(request, verdict, dryRun, seenIn(request));
    }
    return null;
  }

  #ask({ step }: ChainedStep, request: PolicyRequest): Verdict | Promise<Verdict> {
    try {
      return step.decide(request);
    } catch (error) {
      this.#log.error({ err: error }, STEP_FAILED);
      return FAILED;
    }
  }

  async #later(verdict: Promise<Verdict>): Promise<Verdict> {
    try {
      return await verdict;
    } catch (error) {
      this.#log.error({ err: error }, STEP_FAILED);
      return FAILED;
    }
  }

  async #tried(dryRun: DryRun, request: PolicyRequest, verdict: Promise<Verdict>): Promise<null> {
    // By the time of the verdict its bytes are others'.
    const seen = seenIn(request);
    const decided = await this.#later(verdict);
    if (decided !== null) letPass(request, decided, dryRun, seen);
    return null;
  }
}

function letPass(request: PolicyRequest, { code }: EdgeRefusal, dryRun: DryRun, seen: Seen): void {
  request.wouldRefuse ??= code;
  dryRun.count(code, seen);
}

/** Whether a chain's answer is yet to come. */
export function isPending(answer: Verdict | Pending): answer is Pending {
  return answer !== null && 'verdict' in answer;
}
