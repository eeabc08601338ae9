/**
 * After changes of the routing table were missed: what the tokens of live sessions are good for now, compared with what the sessions hold. Sessions go
 * on meanwhile. Owned by registry.ts.
 */
import type { Logger } from '../../base/log.ts';
import { messageOf } from '../../base/errors.ts';
import { type AdmitAnswer, type Link, RECHECKED_AT_ONCE } from '../../plane/link.ts';

const RETRY_MS = 1_000;

export interface RecheckDeps {
  readonly link: Pick<Link, 'recheck'>;
  /** Tokens of the sessions that there are now. */
  readonly tokens: () => readonly string[];
  /** Brings the sessions of a token in step. */
  readonly apply: (tokenId: string, answer: AdmitAnswer) => void;
  readonly log: Logger;
}

export class Recheck {
  readonly #deps: RecheckDeps;
  /** Of the newest round: an older one stops. */
  #round = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(deps: RecheckDeps) {
    this.#deps = deps;
  }

  /** Begins a round; one that is under way is given up. Asks again until all was answered. */
  begin(): void {
    clearTimeout(this.#retry);
    void this.#run(++this.#round);
  }

  close(): void {
    this.#round++;
    clearTimeout(this.#retry);
  }

  async #run(round: number): Promise<void> {
    const { link, apply, log } = this.#deps;
    // Sessions that come from now on were asked about when they came.
    const tokens = this.#deps.tokens();
    try {
      for (let at = 0; at < tokens.length; at += RECHECKED_AT_ONCE) {
        const some = tokens.slice(at, at + RECHECKED_AT_ONCE);
        const answers = await link.recheck(some);
        if (round !== this.#round) return;
        for (const [i, tokenId] of some.entries()) {
          const answer = answers[i];
          if (answer === undefined) throw new Error('the response does not cover every access key');
          apply(tokenId, answer);
        }
      }
    } catch (error) {
      if (round !== this.#round) return;
      log.warn({ error: messageOf(error) }, 'could not check the access keys of live sessions: retrying');
      this.#retry = setTimeout(() => this.begin(), RETRY_MS);
      this.#retry.unref();
    }
  }
}
