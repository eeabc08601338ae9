/**
 * The steps that a request passes before it is forwarded, in order; the first refusal counts. Made by compile.ts when a route changes, run by
 * edge/dispatch.ts per request. A step that fails refuses: a gate that can't decide stays closed. An action that is only tried holds no request
 * up: what it does not know at once it finds out beside the request.
 */
import type { Logger } from '../../base/log.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import { type DryRun, type Seen, seenIn } from './dry-run.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';
import type { Tries } from './tries.ts';

const STEP_FAILED = 'a policy step failed: it refuses';
const FAILED: EdgeRefusal = { code: 'policy_failed' };

/** A step with what its action says beside its kind. */
export interface ChainedStep {
  readonly step: Step;
  /** Of an action that is only tried: what it would refuse is counted here, and let through. null: it refuses. */
  readonly dryRun: DryRun | null;
  /** Asks visitors who they are: not asked of requests that the control plane sends. */
  readonly isGate?: true;
}

/** The answer of a step that decides later, and the place in the chain from where it goes on. */
export interface Pending {
  readonly verdict: Promise<Verdict>;
  readonly next: number;
}

export interface ChainDeps {
  readonly log: Logger;
  readonly tries: Tries;
  /** Whose tunnel it is. */
  readonly orgId: string;
}

export class PolicyChain {
  readonly #steps: readonly ChainedStep[];
  readonly #deps: ChainDeps;

  constructor(steps: readonly ChainedStep[], deps: ChainDeps) {
    this.#steps = steps;
    this.#deps = deps;
  }

  /** Asks the steps from `from` on: a refusal, null when all let it pass, or what to wait for. */
  decide(request: PolicyRequest, from: number): Verdict | Pending {
    for (let at = from; at < this.#steps.length; at++) {
      const { step, dryRun, isGate } = this.#steps[at] as ChainedStep;
      if (isGate === true && request.passesGates) continue;
      if (dryRun !== null) {
        this.#try(step, dryRun, request);
        continue;
      }
      const verdict = this.#ask(step, request);
      if (verdict === null) continue;
      return verdict instanceof Promise ? { verdict: this.#later(verdict), next: at + 1 } : verdict;
    }
    return null;
  }

  /** Whatever it says, the request passes. */
  #try(step: Step, dryRun: DryRun, request: PolicyRequest): void {
    const { tries, orgId } = this.#deps;
    const isBounded = step.decidesLater === true;
    if (isBounded && !tries.begin(orgId)) return;
    const verdict = this.#ask(step, request);
    // By the time of the verdict the request's bytes are others'.
    if (verdict instanceof Promise) return void this.#beside(dryRun, seenIn(request), verdict, isBounded);
    if (isBounded) tries.end(orgId);
    if (verdict === null) return;
    request.wouldRefuse ??= verdict.code;
    dryRun.count(verdict.code, seenIn(request));
  }

  async #beside(dryRun: DryRun, seen: Seen, verdict: Promise<Verdict>, isBounded: boolean): Promise<void> {
    const decided = await this.#later(verdict);
    if (isBounded) this.#deps.tries.end(this.#deps.orgId);
    if (decided !== null) dryRun.count(decided.code, seen);
  }

  #ask(step: Step, request: PolicyRequest): Verdict | Promise<Verdict> {
    try {
      return step.decide(request);
    } catch (error) {
      this.#deps.log.error({ err: error }, STEP_FAILED);
      return FAILED;
    }
  }

  async #later(verdict: Promise<Verdict>): Promise<Verdict> {
    try {
      return await verdict;
    } catch (error) {
      this.#deps.log.error({ err: error }, STEP_FAILED);
      return FAILED;
    }
  }
}

/** Whether a chain's answer is yet to come. */
export function isPending(answer: Verdict | Pending): answer is Pending {
  return answer !== null && 'verdict' in answer;
}
