/**
 * Answers to the authority's questions that the edge gives: put there when an order is about to be looked at, and taken back behind it. One
 * list for all orders, which the edge gets whole.
 */
import type { EdgeCertificate, EdgeChallenge } from '../../plane/certificates.ts';
import type { ChallengeAnswer, ChallengeSolver } from '../providers/acme/contract.ts';

export interface EdgeAnswersDeps {
  /** Makes the certificate that RFC 8737 asks for. */
  readonly alpnCertificate: (answer: ChallengeAnswer) => Promise<EdgeCertificate>;
  /** Resolves once the edge answers with them. */
  readonly setChallenges: (list: readonly EdgeChallenge[]) => Promise<void>;
}

export class EdgeAnswers implements ChallengeSolver {
  readonly #deps: EdgeAnswersDeps;
  readonly #challenges = new Map<ChallengeAnswer, EdgeChallenge>();

  constructor(deps: EdgeAnswersDeps) {
    this.#deps = deps;
  }

  async publish(answer: ChallengeAnswer): Promise<void> {
    this.#challenges.set(answer, await this.#challengeOf(answer));
    await this.#deps.setChallenges([...this.#challenges.values()]);
  }

  async withdraw(answer: ChallengeAnswer): Promise<void> {
    if (this.#challenges.delete(answer)) await this.#deps.setChallenges([...this.#challenges.values()]);
  }

  async #challengeOf(answer: ChallengeAnswer): Promise<EdgeChallenge> {
    const { type, token, keyAuthorization } = answer;
    const name = answer.name.toLowerCase();
    if (type === 'http-01') return { type, name, token, keyAuthorization };
    if (type === 'tls-alpn-01') return { type, name, certificate: await this.#deps.alpnCertificate(answer) };
    throw new Error(`the edge can't answer ${type}`);
  }
}
