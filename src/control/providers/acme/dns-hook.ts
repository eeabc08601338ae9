/**
 * Answers dns-01 by a program of the operator, which adds and removes TXT records at whatever provider the zone is. It is run as
 *
 *   program present _acme-challenge.example.com <value>
 *   program cleanup _acme-challenge.example.com <value>
 *
 * with the same in CULVERT_ACME_ACTION, CULVERT_ACME_FQDN and CULVERT_ACME_VALUE, one run at a time. After `present` the resolvers are asked
 * until they see the record.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { AcmeError, type ChallengeAnswer, type ChallengeSolver } from './contract.ts';
import type { TxtRecords } from '../dns.ts';
import { runHook } from './hook-run.ts';

export interface DnsHookOptions {
  /** Absolute path of the program. */
  readonly program: string;
  readonly records: TxtRecords;
  /** Longest wait for the record to be seen; 0: none at all. */
  readonly propagationMs: number;
  readonly log: Logger;
  /** Of one run; 2 minutes when not given. */
  readonly limitMs?: number;
}

const LIMIT_MS = 120_000;
/** A run that waits for so many others would end after its caller gave up. */
const MAX_TAKEN = 64;
/** Under the limits of public resolvers by far. */
const LOOK_EVERY_MS = 2_000;

/** Publishes dns-01 answers only; `publish` of another type throws. */
export class DnsHook implements ChallengeSolver {
  readonly #options: DnsHookOptions;
  /** Resolves when the run before has ended. */
  #last: Promise<unknown> = Promise.resolve();
  /** From the call of `publish` until they are cleaned up. */
  readonly #taken = new Set<ChallengeAnswer>();
  /** Those for which the program has been started. */
  readonly #told = new WeakSet<ChallengeAnswer>();

  constructor(options: DnsHookOptions) {
    this.#options = options;
  }

  async publish(answer: ChallengeAnswer, signal: AbortSignal): Promise<void> {
    if (answer.type !== 'dns-01')
      throw new AcmeError('challenge_failed', `acme.dns_hook does not handle ${answer.type}`);
    if (this.#taken.size >= MAX_TAKEN) {
      throw new AcmeError(
        'challenge_failed',
        `acme.dns_hook is already validating ${MAX_TAKEN} names: try again later`,
      );
    }
    this.#taken.add(answer);
    await this.#inTurn('present', answer, signal);
    await this.#untilSeen(answer, signal);
  }

  /** Nothing to do for an answer that the program was never told of. */
  async withdraw(answer: ChallengeAnswer): Promise<void> {
    if (!this.#taken.has(answer)) return;
    try {
      // Not stopped with the order: the record would stay.
      await this.#inTurn('cleanup', answer, new AbortController().signal);
    } finally {
      this.#taken.delete(answer);
    }
  }

  #inTurn(action: 'present' | 'cleanup', answer: ChallengeAnswer, signal: AbortSignal): Promise<void> {
    const run = this.#last.then(() => this.#run(action, answer, signal));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #run(action: 'present' | 'cleanup', answer: ChallengeAnswer, signal: AbortSignal): Promise<void> {
    if (action === 'cleanup' && !this.#told.has(answer)) return;
    if (signal.aborted) throw new AcmeError('aborted', 'stopped before it finished');
    this.#told.add(answer);
    const { program, limitMs = LIMIT_MS, log } = this.#options;
    const fqdn = fqdnOf(answer);
    const { PATH = '/usr/local/bin:/usr/bin:/bin', HOME = '/' } = process.env;
    const env = {
      PATH,
      HOME,
      CULVERT_ACME_ACTION: action,
      CULVERT_ACME_FQDN: fqdn,
      CULVERT_ACME_VALUE: answer.txtValue,
    };
    try {
      await runHook({ program, args: [action, fqdn, answer.txtValue], env, limitMs, signal });
    } catch (error) {
      if (signal.aborted) throw new AcmeError('aborted', 'stopped before it finished', { cause: error });
      const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : '';
      log.warn({ action, fqdn, error: messageOf(error), reason }, 'acme.dns_hook failed');
      const message = `the program in acme.dns_hook ${messageOf(error)} (${action} ${fqdn}); the server's log has what it printed`;
      throw new AcmeError('challenge_failed', message, { cause: error });
    }
  }

  /** Never throws because the record is not seen: the authority may see more than our resolvers do, and has the last word. */
  async #untilSeen(answer: ChallengeAnswer, signal: AbortSignal): Promise<void> {
    const { propagationMs, log } = this.#options;
    const began = performance.now();
    for (let left = propagationMs; left > 0; left = began + propagationMs - performance.now()) {
      if (await this.#isSeen(answer)) return;
      await sleep(Math.min(LOOK_EVERY_MS, left), undefined, { signal });
    }
    if (propagationMs > 0) {
      log.warn(
        { fqdn: fqdnOf(answer) },
        'the resolvers do not see the record that acme.dns_hook set; asking the authority to validate it anyway',
      );
    }
  }

  async #isSeen(answer: ChallengeAnswer): Promise<boolean> {
    try {
      return (await this.#options.records.lookUp(fqdnOf(answer))).includes(answer.txtValue);
    } catch {
      // The DNS did not say: that is no record yet.
      return false;
    }
  }
}

function fqdnOf({ name }: ChallengeAnswer): string {
  return `_acme-challenge.${name}`;
}
