/**
 * `jwt_validation` for requests of the past (policy-tester.ts): the real step is asked before the chain, which then finds its answer at once. So an action
 * that is only tried is answered for too, and not beside the request.
 */
import type { Logger } from '../../../base/log.ts';
import type { JwtAction } from '../../../plane/policy.ts';
import type { JwtSteps } from './step.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';

const UNDECIDED: Verdict = { code: 'policy_failed' };

export class JwtAhead {
  readonly #steps: JwtSteps;
  readonly #log: Logger;
  /** A policy has one at most. */
  #step: Step | null = null;
  #verdict: Verdict = UNDECIDED;

  constructor(steps: JwtSteps, log: Logger) {
    this.#steps = steps;
    this.#log = log;
  }

  /** As that of JwtSteps, for compile.ts. */
  step(action: JwtAction, orgId: string): Step {
    this.#step = this.#steps.step(action, orgId);
    return { decide: () => this.#verdict };
  }

  isOwn(request: PolicyRequest): boolean {
    return this.#steps.isOwn(request);
  }

  /** To be called for each request before its chain. */
  async ask(request: PolicyRequest): Promise<void> {
    try {
      this.#verdict = this.#step === null ? null : await this.#step.decide(request);
    } catch (error) {
      this.#log.error({ err: error }, 'policy test: could not check the token of a recorded request');
      this.#verdict = UNDECIDED;
    }
  }

  /** The request's token was not recorded. */
  passOver(): void {
    this.#verdict = UNDECIDED;
  }
}
