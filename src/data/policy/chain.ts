/**
 * The steps that a request passes before it is forwarded, in order; the first refusal counts. Made by compile.ts when a route changes, run by
 * edge/exchange/dispatch.ts per request. A step that fails refuses: a gate that can't decide stays closed. An action that is only tried holds no request
 * up: what it does not know at once it finds out beside the request.
 */
import type { Logger } from '../../base/log.ts';
import type { EdgeRefusal } from '../faults/fault.ts';
import { type DryRun, type Seen, seenIn } from './dry-run.ts';
import type { PolicyRequest, Step, StepTrace, Verdict } from './step.ts';
import type { DryRunSlots } from './dry-run-slots.ts';

const STEP_FAILED = 'a policy step failed with an internal error (policy_failed)';
const FAILED: EdgeRefusal = { code: 'policy_failed' };

/** A step with what its action says beside its kind. */
export interface ChainedStep {
  readonly step: Step;
  /** Its name in the record of a request (plane/inspection.ts), and its place in the policy; null: it is no action. */
  readonly name: string;
  readonly index: number | null;
  /** Of an action: what it says, for people. */
  readonly rule: string | null;
  /** Of an action that is only tried: what it would refuse is counted here, and let through. null: it refuses. */
  readonly dryRun: DryRun | null;
  /** Asks visitors who they are: not asked of requests that the control plane sends. */
  readonly isGate?: true;
  /** Concerns few requests: it is recorded for those alone. */
  readonly isQuiet?: true;
}

/** The answer of a step that decides later, and the place in the chain from where it goes on. */
export interface Pending {
  readonly verdict: Promise<Verdict>;
  readonly next: number;
}

export interface ChainDeps {
  readonly log: Logger;
  readonly dryRunSlots: DryRunSlots;
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
      const of = this.#steps[at] as ChainedStep;
      const { step, dryRun, isGate } = of;
      if (isGate === true && request.passesGates) continue;
      if (dryRun !== null) {
        this.#try(of, dryRun, request);
        continue;
      }
      const verdict = this.#ask(step, request);
      if (verdict instanceof Promise) return { verdict: this.#later(verdict), next: at + 1 };
      if (request.trace !== null) noteVerdict(request.trace, of, verdict);
      if (verdict !== null) return verdict;
    }
    return null;
  }

  /** What the step before `next` was waited for has said. */
  noteLater(trace: StepTrace, next: number, verdict: Verdict): void {
    noteVerdict(trace, this.#steps[next - 1] as ChainedStep, verdict);
  }

  /** Whatever it says, the request passes. */
  #try(of: ChainedStep, dryRun: DryRun, request: PolicyRequest): void {
    const { step } = of;
    const { dryRunSlots, orgId } = this.#deps;
    const isBounded = step.decidesLater === true;
    if (isBounded && !dryRunSlots.begin(orgId)) return;
    const verdict = this.#ask(step, request);
    // By the time of the verdict the request's bytes are others'.
    if (verdict instanceof Promise) {
      request.trace?.note({ step: of.name, index: of.index, rule: of.rule, verdict: 'beside', code: null });
      return void this.#beside(dryRun, seenIn(request), verdict, isBounded);
    }
    if (isBounded) dryRunSlots.end(orgId);
    if (request.trace !== null) noteVerdict(request.trace, of, verdict);
    if (verdict === null) return;
    request.wouldRefuse ??= verdict.code;
    dryRun.count(verdict.code, seenIn(request));
  }

  async #beside(dryRun: DryRun, seen: Seen, verdict: Promise<Verdict>, isBounded: boolean): Promise<void> {
    const decided = await this.#later(verdict);
    if (isBounded) this.#deps.dryRunSlots.end(this.#deps.orgId);
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

function noteVerdict(trace: StepTrace, { name, index, rule, dryRun, isQuiet }: ChainedStep, verdict: Verdict): void {
  if (verdict === null && isQuiet === true) return;
  const refusal = dryRun === null ? 'refused' : 'would_refuse';
  if (verdict === null) trace.note({ step: name, index, rule: null, verdict: 'passed', code: null });
  else trace.note({ step: name, index, rule, verdict: refusal, code: verdict.code });
}

/** Whether a chain's answer is yet to come. */
export function isPending(answer: Verdict | Pending): answer is Pending {
  return answer !== null && 'verdict' in answer;
}
