/**
 * Answers claims: asks the control plane, waits until the routing table shows what it answered, and checks that the tunnel may be
 * served at this moment. Called by agent.ts; binds nothing itself.
 */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { ClaimAnswer, ClaimQuestion, Link, Refusal } from '../../../plane/link.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import type { RouteEntry } from '../../routing/entry.ts';
import type { RouteTable } from '../../routing/table.ts';
import { inTime, refusal, TABLE_MS, type TokenQueues } from './token-queues.ts';

export type ClaimOutcome =
  | { readonly ok: true; readonly entry: RouteEntry; readonly narrowing: Narrowing | null }
  | Refusal;

/** The public TCP ports, as far as a claim needs them: data/edge/tcp/tcp.ts. */
export interface PublicPorts {
  /** Resolves whether this node listens on `port`, once that is decided. Tries again if it could not before. */
  ready(port: number): Promise<boolean>;
}

export interface Claimant {
  /** The session has ended: its claim is void. */
  gone(): boolean;
  /** An earlier claim has got it the same: it is answered, and the control plane is not asked. */
  isAnswered(): boolean;
  /** Called at most once, and never after `gone` says true. What it binds counts for the next claim of the token. */
  settle(outcome: ClaimOutcome): void;
  /** What the token's sessions serve and carry, at the moment of asking. */
  live(): Pick<ClaimQuestion, 'liveTunnelIds' | 'relays'>;
}

interface Granted {
  readonly ok: true;
  readonly tunnelId: string;
  readonly narrowing: Narrowing | null;
}

type Asked = Omit<ClaimQuestion, 'liveTunnelIds' | 'relays'>;

interface ClaimDeps {
  readonly link: Link;
  readonly table: RouteTable;
  readonly ports: PublicPorts;
  readonly queues: TokenQueues;
  readonly log: Logger;
  readonly now: () => number;
}

export class ClaimDesk {
  readonly #link: Link;
  readonly #table: RouteTable;
  readonly #ports: PublicPorts;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #queues: TokenQueues;

  constructor(deps: ClaimDeps) {
    this.#link = deps.link;
    this.#table = deps.table;
    this.#ports = deps.ports;
    this.#log = deps.log;
    this.#now = deps.now;
    this.#queues = deps.queues;
  }

  /** Puts a claim in line. Resolves when it is settled or its session is gone; never rejects. */
  claim(question: Asked, claimant: Claimant): Promise<void> {
    let outcome: Granted | Refusal | undefined;
    let countedAhead = false;
    return this.#queues.run(question.tokenId, {
      sessionId: question.agentId,
      tunnelId: question.subdomain === undefined ? undefined : question.tunnelId,
      ask: async (ahead) => {
        outcome = undefined;
        if (claimant.gone() || claimant.isAnswered()) return;
        countedAhead = ahead.length > 0;
        outcome = await this.#ask(question, claimant.live(), ahead);
      },
      settle: () => {
        if (outcome === undefined || claimant.gone()) return 'done';
        // A claim ahead may have been refused: there may be room after all.
        if (!outcome.ok && outcome.code === 'quota_exceeded' && countedAhead) return 'again';
        claimant.settle(outcome.ok ? this.#entryOf(outcome) : outcome);
        return 'done';
      },
    });
  }

  async #ask(
    question: Asked,
    live: ReturnType<Claimant['live']>,
    ahead: readonly string[],
  ): Promise<Granted | Refusal> {
    try {
      const answer: ClaimAnswer = await inTime(
        this.#link.claim({ ...question, ...live, liveTunnelIds: [...live.liveTunnelIds, ...ahead] }),
        refusal('overloaded', 'The server is too busy to handle this claim.'),
      );
      return answer.ok ? await this.#shown(answer) : answer;
    } catch (error) {
      this.#log.error({ agentId: question.agentId, error: messageOf(error) }, 'a claim failed');
      return refusal('internal', 'The server could not check this tunnel. The agent will retry.');
    }
  }

  async #shown({
    route: { tunnelId },
    version,
    narrowing,
  }: Extract<ClaimAnswer, { ok: true }>): Promise<Granted | Refusal> {
    if (!(await this.#table.reached(version, TABLE_MS))) {
      return refusal('overloaded', 'The server is still applying recent changes. The agent will retry.');
    }
    const port = this.#table.findById(tunnelId)?.route.tcpPort ?? null;
    if (port !== null && !(await this.#ports.ready(port))) {
      return refusal(
        'no_port_free',
        `The server cannot open its public port ${port}: another program uses it. Tell the operator.`,
      );
    }
    return { ok: true, tunnelId, narrowing };
  }

  /** The table decides, not the answer: a stop or a delete that overtook it has won. */
  #entryOf({ tunnelId, narrowing }: Granted): ClaimOutcome {
    const entry = this.#table.findById(tunnelId);
    if (entry === undefined) return refusal('tunnel_deleted', 'This tunnel was deleted.');
    return unservable(entry, this.#now()) ?? { ok: true, entry, narrowing };
  }
}

/** Why no agent may serve this entry now, or undefined when one may. */
export function unservable(entry: RouteEntry, nowMs: number): Refusal | undefined {
  const { stopped, expiresAt, subdomain } = entry.route;
  if (stopped)
    return refusal('tunnel_stopped', `${subdomain} is stopped. Start it: culvert tunnels start ${subdomain}`);
  if (expiresAt !== null && expiresAt <= nowMs)
    return refusal('tunnel_expired', `${subdomain} has expired. Start it again: culvert tunnels start ${subdomain}`);
  return undefined;
}
