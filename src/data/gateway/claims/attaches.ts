/**
 * Answers agents that want to carry a private network: asks the control plane, waits until the table shows what it answered, and has the
 * network's public port opened. Called by agent-relays.ts; attaches nothing itself. As claims.ts does for tunnels, and in line with it.
 */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { AttachAnswer, Link, Refusal } from '../../../plane/link.ts';
import type { AttachQuestion, RelayRoute } from '../../../plane/relays.ts';
import type { RelayRegistry } from '../../relay/relay-registry.ts';
import type { RouteTable } from '../../routing/table.ts';
import { inTime, refusal, TABLE_MS, type TokenQueues } from './token-queues.ts';

export type AttachOutcome = { readonly ok: true; readonly route: RelayRoute } | Refusal;

export interface Attacher {
  /** The session has ended: nothing waits for the answer. */
  gone(): boolean;
  /** It carries the network already: it is answered, and the control plane is not asked. */
  isAnswered(): boolean;
  /** Called at most once, and never after `gone` says true. */
  settle(outcome: AttachOutcome): void;
  /** What the token's sessions serve and carry without this network, at the moment of asking. */
  serving(): number;
}

interface AttachDeps {
  readonly link: Link;
  readonly table: RouteTable;
  readonly relays: RelayRegistry;
  readonly queues: TokenQueues;
  readonly log: Logger;
}

export class AttachDesk {
  readonly #deps: AttachDeps;

  constructor(deps: AttachDeps) {
    this.#deps = deps;
  }

  /** Puts the question in line. Resolves when it is settled or its session is gone; never rejects. */
  attach(question: Omit<AttachQuestion, 'serving'>, attacher: Attacher): Promise<void> {
    let outcome: AttachOutcome | undefined;
    return this.#deps.queues.run(question.tokenId, {
      sessionId: question.agentId,
      tunnelId: undefined,
      ask: async () => {
        if (!attacher.gone() && !attacher.isAnswered()) outcome = await this.#ask(question, attacher.serving());
      },
      settle: () => {
        if (outcome !== undefined && !attacher.gone()) attacher.settle(outcome);
        return 'done';
      },
    });
  }

  async #ask(question: Omit<AttachQuestion, 'serving'>, serving: number): Promise<AttachOutcome> {
    try {
      const answer: AttachAnswer = await inTime(
        this.#deps.link.attach({ ...question, serving }),
        refusal('overloaded', 'The server is too busy to attach this network.'),
      );
      return answer.ok ? await this.#open(answer.networkId, answer.version) : answer;
    } catch (error) {
      this.#deps.log.error({ agentId: question.agentId, error: messageOf(error) }, 'could not attach a relay');
      return refusal('internal', 'The server could not check this network. The agent will retry.');
    }
  }

  /** The table decides, not the answer: a delete that overtook it has won. */
  async #open(networkId: string, version: number): Promise<AttachOutcome> {
    const { table, relays } = this.#deps;
    if (!(await table.reached(version, TABLE_MS)))
      return refusal('overloaded', 'The server is still applying recent changes. The agent will retry.');
    return relays.open(networkId);
  }
}
